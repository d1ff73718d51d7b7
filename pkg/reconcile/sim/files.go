package sim

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
)

// DataDirectory is the data directory of the n-th process of a pod.
func DataDirectory(n int) string { return fmt.Sprintf("/var/fdb/data/%d", n) }

// coordinationName is the name of the file in a data directory that has the coordination state.
const coordinationName = "coordination-0.fdq"

// filesOf returns the files with which a pod starts: those of its volume where World.Files keeps them.
func (w *Cluster) filesOf(pod string) map[string][]byte {
	if !w.keepsFiles(pod) {
		return map[string][]byte{}
	}
	if w.Files[pod] == nil {
		w.Files[pod] = map[string][]byte{}
	}
	delete(w.Files[pod], seedClusterFile) // it is mounted, and no file of the volume
	return w.Files[pod]
}

// keepsFiles reports whether the files of a pod survive it. Coordination state is one of them then, and else
// kept with the data alone.
func (w *Cluster) keepsFiles(pod string) bool {
	return w.Files != nil && w.Volumes[pod+claimSuffix] != nil
}

// volumeFile is a file on the volume of a pod.
type volumeFile struct {
	w         *Cluster
	pod, name string
}

func (f volumeFile) Read() ([]byte, error) {
	content, ok := f.w.Files[f.pod][f.name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return content, nil
}

func (f volumeFile) Write(content []byte) error {
	if f.w.Files[f.pod] == nil {
		return fs.ErrNotExist // the volume was lost
	}
	f.w.Files[f.pod][f.name] = content
	return nil
}

// PodFiles returns the files of a running pod by path, which may be changed; nil for one that does not run.
func (w *Cluster) PodFiles(pod string) map[string][]byte {
	if running := w.running[pod]; running != nil {
		return running.files
	}
	return nil
}

// Process is a process of a running pod.
type Process struct {
	// Arguments are those of its command line, without the program.
	Arguments []string
	Handle    *locked.ServerHandle
}

// Processes returns the processes of a pod that have not ended, in order.
func (w *Cluster) Processes(pod string) (all []Process) {
	running := w.running[pod]
	if running == nil {
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(running.servers)) {
		handle := running.servers[n]
		args, _, ok := running.command(w.Pods[pod], n)
		if ok && len(args) > 0 && !ended(handle) {
			all = append(all, Process{Arguments: args[1:], Handle: handle})
		}
	}
	return all
}
