package sim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// RunningPods are the names of the pods that run, in order.
func (w *Cluster) RunningPods() []string {
	return slices.DeleteFunc(w.podNames(), func(name string) bool { return w.Pods[name].Status.Phase != corev1.PodRunning })
}

// LoseNode takes a node away for a time in which no pod is evicted: the processes in its pods end,
// and it takes no new pods.
func (w *Cluster) LoseNode(node string) {
	if w.down == nil {
		w.down = map[string]bool{}
	}
	w.down[node] = true
	for _, name := range w.on(node) {
		w.Broken[name] = true
		w.KillServers(name)
	}
}

// ReturnNode ends what LoseNode began: the processes start again in the pods that are still there.
func (w *Cluster) ReturnNode(node string) {
	delete(w.down, node)
	for _, name := range w.on(node) {
		delete(w.Broken, name)
	}
}

// on are the names of the running pods of a node, in order.
func (w *Cluster) on(node string) []string {
	return slices.DeleteFunc(w.RunningPods(), func(name string) bool { return w.Pods[name].Spec.NodeName != node })
}

// LiveCopies is on how many processes that answer, in different zones, all data is at least; known
// is false before a database is created.
func (w *Cluster) LiveCopies() (copies int, known bool) {
	for _, db := range w.FDB.Databases() {
		if fewest, ok := db.LiveReplicas(); ok && (!known || fewest < copies) {
			copies, known = fewest, true
		}
	}
	return copies, known
}
