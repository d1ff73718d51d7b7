package trial

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// truth is what is so, whatever status and record say.
type truth struct {
	// pods are the nodes of the pods that are there, by the pod's name.
	pods map[string]string
	// claims are the names of the pods whose PVCs are there.
	claims map[string]bool
	// going are the names of the pods whose PVCs are being deleted: they end with the pods.
	going map[string]bool
	// needed are the names of the pods on whose volumes is something that the database
	// cannot do without.
	needed map[string]bool
	// coordinators are the names of the pods of coordinators.
	coordinators map[string]bool
	// replicas are the copies of each shard that are not lost.
	replicas []int
	// desiredReplicas is how many replicas the configuration asks for; 0 without a database.
	desiredReplicas int
	// complete is true when every replica, log and coordinator is up.
	complete bool
	// zones are where the data of the pods was last, which is not where a pod is that was made
	// again on another node and has not joined; a pod without any counts where it is.
	zones map[string]string
	// completeBut reports of all zones but one that they are complete, by that one.
	completeBut map[string]bool
	// up are the names of the pods with a server that is a live member.
	up map[string]bool
	// shutOut are the names of the pods whose processes speak another protocol than the database: they
	// answer again only once they are recreated.
	shutOut map[string]bool
	// buckets are the distribution keys of the pods, by the pod's name.
	buckets map[string]string
	// excluded are the exclusions in force.
	excluded []string
	// young are the zones of processes that may hold data and started within the last 90 s,
	// by the process.
	young map[string]string
}

func (h *History) truth() truth {
	db := h.database()
	t := truth{
		pods: map[string]string{}, zones: map[string]string{}, claims: map[string]bool{}, going: map[string]bool{}, needed: map[string]bool{}, coordinators: map[string]bool{},
		replicas: db.Replicas(), desiredReplicas: db.DesiredReplicas(), complete: db.Complete("", h.ofOthers), completeBut: map[string]bool{},
		up: map[string]bool{}, shutOut: map[string]bool{}, buckets: h.bucketsOf(), excluded: db.Excluded(), young: db.JustStarted(fdb.DeathNoticedAfter),
	}
	coordinators, shutOut, up := db.ConnectionString().Coordinators, db.IncompatibleProcesses(), db.Processes()
	for name, pod := range h.w.Pods {
		t.shutOut[name] = slices.Contains(shutOut, idOf(h.w, pod))
		t.pods[name] = pod.Spec.NodeName
		zone, _ := db.ZoneOf(h.home(name).DataKey(name, 1))
		t.zones[name] = cmp.Or(zone, pod.Spec.NodeName)
		if _, known := t.completeBut[t.zones[name]]; !known {
			t.completeBut[t.zones[name]] = db.Complete(t.zones[name], h.ofOthers)
		}
		t.coordinators[name] = h.isOneOf(coordinators, name)
		t.needed[name], t.up[name] = h.needs(name), h.isOf(name, up)
	}
	t.complete = t.complete && h.answering(coordinators, up) == len(coordinators) // a pod that was recreated can have another address
	for name, claim := range h.w.Volumes {
		pod := name[:len(name)-len(claimSuffix)]
		t.claims[pod], t.going[pod] = true, claim.DeletionTimestamp != nil
		t.needed[pod] = h.needs(pod)
	}
	return t
}

// answering is how many of the addresses are pods' that are live members, which are up.
func (h *History) answering(coordinators []fdb.Address, up []string) int {
	n := 0
	for _, w := range h.clusters {
		for name, pod := range w.Pods {
			if h.isOneOf(coordinators, name) && slices.Contains(up, idOf(w, pod)) {
				n++
			}
		}
	}
	return n
}

const claimSuffix = "-data"

// needs reports whether the database needs something that is on the volume of a pod.
func (h *History) needs(pod string) bool { return h.database().NeedsData(h.home(pod).DataKey(pod, 1)) }

// coordinates reports whether a pod runs a coordinator.
func (h *History) coordinates(pod string) bool {
	return h.isOneOf(h.database().ConnectionString().Coordinators, pod)
}

// isOneOf reports whether one of the addresses is a pod's, by IP or by name.
func (h *History) isOneOf(addresses []fdb.Address, pod string) bool {
	w := h.home(pod)
	there, g := w.Pods[pod], h.groupOf(pod)
	return slices.ContainsFunc(addresses, func(a fdb.Address) bool {
		return (there != nil && there.Status.PodIP == a.Host) || (g != nil && !a.IsIP() && g.DNSName(w.Resource) == a.Host)
	})
}

// answers reports whether a server of a pod is a live member of the database.
func (h *History) answers(pod string) bool {
	return h.exists() && h.isOf(pod, h.database().Processes())
}

// isOf reports whether a pod is there, and its process is one of these.
func (h *History) isOf(pod string, processes []string) bool {
	w := h.home(pod)
	there := w.Pods[pod]
	return there != nil && slices.Contains(processes, idOf(w, there))
}

// idOf is the process group's ID that a pod carries.
func idOf(w *sim.Cluster, pod *corev1.Pod) string {
	return pod.Labels[w.Resource.ProcessGroupIDLabels()[0]]
}

// ofOthers reports whether a process is another control-plane instance's. Of its own each knows by the
// record that they do not report; of others nothing does before the database counts them out.
func (h *History) ofOthers(process string) bool {
	return !slices.ContainsFunc(h.w.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool { return string(g.ProcessGroupID) == process })
}

// groupOf is the process group in the resource that has a pod of this name, or nil.
func (h *History) groupOf(pod string) *v1beta2.ProcessGroupStatus {
	cluster := h.home(pod).Resource
	for _, g := range cluster.Status.ProcessGroups {
		if g.PodName(cluster) == pod {
			return g
		}
	}
	return nil
}

// removedPods are the names of the pods that an action took away.
func (d *deed) removedPods() []string {
	var gone []string
	for name := range d.before.pods {
		if _, there := d.after.pods[name]; !there {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

// removedClaims are the names of the pods whose claims an action took away.
func (d *deed) removedClaims() []string {
	var gone []string
	for name := range d.before.claims {
		if !d.after.claims[name] {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

// ended are the names of the pods with servers that an action ended and whose data the
// database needs: those that went, and those of a wave of restarts.
func (d *deed) ended() []string {
	ended := d.removedPods()
	if a, ok := d.action.(plan.RestartProcesses); ok && a.Wave {
		for _, id := range a.Groups {
			ended = append(ended, d.k.h.w.Resource.ProcessGroup(id).PodName(d.k.h.w.Resource))
		}
	}
	return slices.DeleteFunc(ended, func(pod string) bool { return !d.before.needed[pod] || !d.before.up[pod] })
}
