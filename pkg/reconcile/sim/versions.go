package sim

import (
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

// clientVersion is the version of the fdbcli that reaches the servers: every pod has
// that of the version that its servers run in, until an upgrade is over.
func (w *World) clientVersion() string {
	for _, name := range w.podNames() {
		if running := w.running[name]; running != nil && running.serving != "" && running.allRun() {
			return running.serving
		}
	}
	return w.Record.Spec.Version
}
