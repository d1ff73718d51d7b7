package sim

import (
	"context"
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
// or the copy that the sidecar made of a version with another protocol. Without either ok
// is false.
func programFor(pod *corev1.Pod, configuration fdb.MonitorConfiguration) (p program, ok bool) {
	own, desired := imageVersion(pod, v1beta2.ContainerMain), versionOrZero(configuration.Version)
	if own.IsZero() {
		own = desired
	}
	dir := objects.BinaryDir(v1beta2.ImageTypeUnified, own, desired)
	if own == desired || own.ProtocolCompatible(desired) {
		return program{dir, own.String()}, true
	}
	return program{dir, desired.String()}, imageVersion(pod, v1beta2.ContainerSidecar) == desired
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

// clientVersion is the version of the fdbcli that reached the database last. A pod has
// those of all versions that its processes may run in.
func (w *Cluster) clientVersion() string {
	if w.reached != "" {
		return w.reached
	}
	return w.Resource.RunningVersion()
}

// findVersion finds that version as package live does: it tries one after the other, the one that
// worked last first, until a status reports that the database is available.
func (w *Cluster) findVersion(ctx context.Context) (*fdb.Status, error) {
	var first *fdb.Status
	var failed error
	for i, version := range w.clientVersions() {
		before := w.reached
		w.reached = version
		status, err := w.status(ctx)
		if err == nil && status.Available() {
			return status, nil
		}
		w.reached = before
		if i == 0 {
			first, failed = status, err
		}
	}
	return first, failed
}

func (w *Cluster) clientVersions() []string {
	versions := []string{w.clientVersion()}
	for _, version := range []string{w.Resource.RunningVersion(), w.Resource.Spec.Version} {
		if !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	return versions
}
