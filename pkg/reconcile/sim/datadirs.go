package sim

import (
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// dirsMost bounds the wait for processes that register, as that of package live.
const dirsMost = 5 * time.Second

// awaitDataDirs reads the data directories until they prove that there is no database and as many processes have
// registered as the spec has them, or no further one does.
func (w *Cluster) awaitDataDirs() *plan.DataDirs {
	want, ends := plan.DesiredServers(w.Resource), w.Now().Add(dirsMost)
	for before := 0; ; {
		dirs := w.dataDirs()
		n := len(dirs.Registered)
		if dirs.MayExist(w.Resource) || !w.Now().Before(ends) || dirs.AreBlank(w.Resource) && (n >= want || n > 0 && n == before) {
			return dirs
		}
		before = n
		w.Tick(time.Second)
	}
}

// dataDirs are what a script reads in the running pods. One whose container does not run cannot be read.
func (w *Cluster) dataDirs() *plan.DataDirs {
	dirs := &plan.DataDirs{Pods: map[string]*datadir.Files{}, Unread: map[string]string{}}
	for _, name := range w.podNames() {
		pod := w.Pods[name]
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		running := w.running[name]
		if running == nil || !containerRuns(pod) {
			dirs.Unread[name] = "container foundationdb does not run"
			continue
		}
		dirs.Pods[name] = w.dataDir(name, running)
	}
	if connection, err := fdb.ParseConnectionString(w.Resource.Status.ConnectionString); err == nil {
		dirs.Registered = w.FDB.Registered(connection)
	}
	return dirs
}

// containerRuns reports whether commands can be executed in a pod.
func containerRuns(pod *corev1.Pod) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running == nil && c.State.Waiting != nil {
			return false
		}
	}
	return true
}

func (w *Cluster) dataDir(pod string, running *runningPod) *datadir.Files {
	files := &datadir.Files{}
	if connection, err := fdb.ParseConnectionString(string(running.files[liveClusterFile])); err == nil {
		files.ClusterFile, files.Generation = liveClusterFile, connection.Description+":"+connection.ID
	}
	for i, p := range w.Processes(pod) {
		server, found := datadir.ServerOf(i+1, p.Arguments), p.Handle.Files()
		files.Servers = append(files.Servers, server)
		if found.Coordination {
			files.Coordination = append(files.Coordination, datadir.File{Path: path.Join(server.Directory, coordinationName), Blank: !found.State, Current: found.State})
		}
		for _, name := range found.Data {
			files.Data = append(files.Data, path.Join(server.Directory, name))
		}
	}
	return files
}
