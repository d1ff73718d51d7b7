package sim

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// program is an fdbserver that a pod has.
type program struct{ dir, version string }

// programFor is the fdbserver that a pod's monitor starts for a configuration: its own,
// or the copy that the sidecar made of a version of another protocol. Without either ok
// is false, and the monitor keeps the configuration that it has.
func programFor(pod *corev1.Pod, configuration fdb.MonitorConfiguration) (p program, ok bool) {
	own, wanted := imageVersion(pod, v1beta2.ContainerMain), versionOrZero(configuration.Version)
	if own.IsZero() {
		own = wanted
	}
	dir := objects.BinaryDir(v1beta2.ImageTypeUnified, own, wanted)
	if own == wanted || own.ProtocolCompatible(wanted) {
		return program{dir, own.String()}, true
	}
	return program{dir, wanted.String()}, imageVersion(pod, v1beta2.ContainerSidecar) == wanted
}

// imageVersion is the version of a container's image; zero when its tag has none.
func imageVersion(pod *corev1.Pod, container string) fdb.Version {
	for _, c := range pod.Spec.Containers {
		if c.Name == container {
			return versionOrZero(c.Image[strings.LastIndex(c.Image, ":")+1:])
		}
	}
	return fdb.Version{}
}

func versionOrZero(text string) fdb.Version {
	v, err := fdb.ParseVersion(text)
	if err != nil {
		return fdb.Version{}
	}
	return v
}

// clientVersion is the version of the fdbcli that reaches the servers. A pod has those of
// all versions that its servers may run in, and the real observer tries them in turn;
// here it is the one that most servers run in. Pods that were made while an upgrade is
// prepared already start in the next one, and reach nobody.
func (w *World) clientVersion() string {
	serving := map[string]int{}
	for _, running := range w.running {
		if running.serving != "" && running.allRun() {
			serving[running.serving]++
		}
	}
	best := w.Record.Spec.Version
	for _, version := range slices.Sorted(maps.Keys(serving)) {
		if serving[version] > serving[best] {
			best = version
		}
	}
	return best
}
