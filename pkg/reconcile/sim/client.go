package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// commandTimeout bounds each program, as package live bounds its own.
const commandTimeout = 75 * time.Second

// Client is the program that reads and changes the database: it runs in a pod that has a cluster file, the first whose
// processes have the protocol of the client, as package live prefers pods of coordinators, or just the first.
func (w *Cluster) Client() (client.Program, error) {
	name, version := w.toolPod()
	if name == "" {
		return client.Program{}, errors.New("no pod has a cluster file")
	}
	variables := tlsEnvironment(w.Pods[name])
	return client.Program{
		Version: version, Host: w.Pods[name].Status.PodIP, Files: w.running[name], ClusterFile: liveClusterFile, Timeout: commandTimeout,
		TLS: client.TLSFiles{
			Certificate: variables[v1beta2.EnvTLSCertificateFile], Key: variables[v1beta2.EnvTLSKeyFile], Authorities: variables[v1beta2.EnvTLSCAFile],
		},
	}, nil
}

// connect runs the program.
func (w *Cluster) connect(ctx context.Context, do func(*client.Client) error) error {
	program, err := w.Client()
	if err != nil {
		return err
	}
	return w.FDB.Run(ctx, program, do)
}

// read has the program read something.
func (w *Cluster) read(ctx context.Context, do func(*client.Client) error) error {
	return w.connect(ctx, after(client.Reads, do))
}

// change has the program change something.
func (w *Cluster) change(ctx context.Context, do func(*client.Client) error) error {
	return w.connect(ctx, after(client.Changes, do))
}

// after applies the faults of commands with an effect before one.
func after(e client.Effect, do func(*client.Client) error) func(*client.Client) error {
	return func(c *client.Client) error {
		if err := c.Begin(e); err != nil {
			return err
		}
		return do(c)
	}
}

// listExclusions reads targets of exclusions.
func (w *Cluster) listExclusions(ctx context.Context, lists ...client.ExclusionList) (targets []string, err error) {
	err = w.connect(ctx, func(c *client.Client) error {
		targets, err = c.ListExclusions(lists...)
		return err
	})
	return targets, err
}

// toolPod is where the program runs, and which version of it; empty when no pod has a cluster file.
// As in package live, pods of groups that are marked for removal or do not report come last:
// they may have missed a change of coordinators.
func (w *Cluster) toolPod() (first, version string) {
	version = w.clientVersion()
	var last []string
	for _, g := range w.Resource.Status.ProcessGroups {
		unfit := g.IsMarkedForRemoval() || g.HasCondition(v1beta2.ConditionMissingProcesses)
		if name := g.PodName(w.Resource); unfit && w.Pods[name] != nil {
			last = append(last, name)
		}
	}
	others := slices.DeleteFunc(w.podNames(), func(name string) bool { return slices.Contains(last, name) })
	for _, name := range append(others, last...) {
		running := w.running[name]
		if running == nil || running.files[liveClusterFile] == nil {
			continue
		}
		if running.serving == version && running.allRun() {
			return name, version
		}
		if first == "" {
			first = name
		}
	}
	return first, version
}

// certificateVariables name the files that processes and tools need for TLS.
var certificateVariables = []string{v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile, v1beta2.EnvTLSCAFile}

// tlsEnvironment are the TLS variables of a pod's main container.
func tlsEnvironment(pod *corev1.Pod) map[string]string {
	variables := map[string]string{}
	for _, variable := range mainContainer(pod).Env {
		if slices.Contains(certificateVariables, variable.Name) {
			variables[variable.Name] = variable.Value
		}
	}
	return variables
}

// mountCertificates puts the files into a pod that its variables name, where a Secret is
// mounted for them.
func (p *runningPod) mountCertificates(pod *corev1.Pod) {
	for _, path := range tlsEnvironment(pod) {
		if fromSecret(pod, path) {
			p.files[path] = []byte("certificate")
		}
	}
}

// fromSecret reports whether a Secret is mounted where a file should be.
func fromSecret(pod *corev1.Pod, path string) bool {
	return slices.ContainsFunc(mainContainer(pod).VolumeMounts, func(m corev1.VolumeMount) bool {
		return strings.HasPrefix(path, m.MountPath+"/") && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == m.Name && v.Secret != nil
		})
	})
}

// canListen reports whether a process can start with such addresses: with TLS it needs
// its certificate, its key and its authorities.
func (p *runningPod) canListen(pod *corev1.Pod, addresses []fdb.Address) bool {
	if !slices.ContainsFunc(addresses, func(a fdb.Address) bool { return a.TLS }) {
		return true
	}
	variables := tlsEnvironment(pod)
	return !slices.ContainsFunc(certificateVariables, func(name string) bool { return p.files[variables[name]] == nil })
}

func mainContainer(pod *corev1.Pod) corev1.Container {
	for _, c := range pod.Spec.Containers {
		if c.Name == v1beta2.ContainerMain {
			return c
		}
	}
	return corev1.Container{}
}

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
