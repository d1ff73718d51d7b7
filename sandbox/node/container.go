package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/images"
)

// container is one container of a pod, with its box while it runs. Its
// runner's lock guards it.
type container struct {
	runner  *runner
	spec    corev1.Container
	status  corev1.ContainerStatus
	backOff time.Duration // before the next start; zero for the first restart
	retryAt time.Time

	box     *box.Box // nil while it does not run
	process *box.Process
	env     environment
	places  places
	cancel  context.CancelFunc // ends what serves the container
	probes  *probes
}

const (
	// firstBackOff is the wait before the second restart in a row; the first
	// restart does not wait. A kubelet begins with 10 s; a sandbox is quicker.
	firstBackOff = 2 * time.Second
	// longestBackOff bounds the doubling. A kubelet's is 5 min.
	longestBackOff = 60 * time.Second
	// stableAfter is how long a container must run for its back-off to be forgotten.
	stableAfter = 2 * longestBackOff
)

func newContainer(r *runner, spec corev1.Container, known []corev1.ContainerStatus) *container {
	c := &container{runner: r, spec: spec}
	for _, s := range known {
		if s.Name == spec.Name {
			c.status = *s.DeepCopy()
		}
	}
	c.status.Name, c.status.Image, c.status.ImageID = spec.Name, spec.Image, "sandbox://"+spec.Image
	if running := c.status.State.Running; running != nil { // it died with the sandbox's last run
		c.over(box.Exit{Code: 137, Signal: syscall.SIGKILL}, running.StartedAt)
	}
	if c.status.State == (corev1.ContainerState{}) {
		c.await(waitingToStart(r), "")
	}
	return c
}

func waitingToStart(r *runner) string {
	if r.volumes != nil {
		return "PodInitializing"
	}
	return "ContainerCreating"
}

// isInit reports whether the container must end before the next one starts.
func (c *container) isInit() bool {
	for _, i := range c.runner.pod.Spec.InitContainers {
		if i.Name == c.spec.Name {
			return !restartable(c.spec)
		}
	}
	return false
}

// done reports whether an init container lets the next one start.
func (c *container) done() bool {
	if !c.isInit() {
		return c.process != nil
	}
	return c.status.State.Terminated != nil && c.status.State.Terminated.ExitCode == 0
}

// follow restarts the container when its image was replaced, which is all that
// can change in a pod's containers.
func (c *container) follow(spec corev1.Container) {
	replaced := spec.Image != c.spec.Image
	c.spec = spec
	if !replaced {
		return
	}
	c.status.Image, c.status.ImageID = spec.Image, "sandbox://"+spec.Image
	c.kill()
	c.retryAt, c.backOff = time.Time{}, 0
}

// keep starts the container if it should run and does not, and returns when to check again.
func (c *container) keep(ctx context.Context) time.Duration {
	c.notice()
	if c.process != nil {
		return idleInterval
	}
	if !c.shouldStart() {
		return idleInterval
	}
	now := c.runner.agent.Clock.Now()
	if now.Before(c.retryAt) {
		return c.retryAt.Sub(now)
	}
	if err := c.start(ctx); err != nil {
		c.couldNotStart(err)
		return min(idleInterval, max(retryInterval, c.retryAt.Sub(now)))
	}
	return idleInterval
}

// shouldStart applies the restart policy to a container that is not running.
func (c *container) shouldStart() bool {
	t := c.status.State.Terminated
	if t == nil {
		return true
	}
	policy := c.runner.pod.Spec.RestartPolicy
	if c.isInit() {
		return t.ExitCode != 0 && policy != corev1.RestartPolicyNever
	}
	return policy == corev1.RestartPolicyAlways || restartable(c.spec) || policy == corev1.RestartPolicyOnFailure && t.ExitCode != 0
}

// configError is a container that names something that does not exist.
type configError struct{ error }

func (c *container) couldNotStart(err error) {
	if _, ok := errors.AsType[configError](err); ok {
		c.await("CreateContainerConfigError", err.Error())
		c.runner.complain("Failed", "Error: "+err.Error())
		return
	}
	now := metav1.NewTime(c.runner.agent.Clock.Now())
	c.over(box.Exit{Code: 128}, now)
	c.lastOver().Reason, c.lastOver().Message = "StartError", "failed to create containerd task: "+err.Error()
	c.runner.complain("Failed", "Error: "+err.Error())
}

// lastOver is the record of the container's last end.
func (c *container) lastOver() *corev1.ContainerStateTerminated {
	if t := c.status.State.Terminated; t != nil {
		return t
	}
	return c.status.LastTerminationState.Terminated
}

func (c *container) start(ctx context.Context) error {
	r := c.runner
	address, err := r.agent.addresses.of(r.uid)
	if err != nil {
		return err
	}
	c.env, err = r.agent.environment(ctx, r.pod, c.spec, hostnameOf(r.pod), address.String())
	if err != nil {
		return configError{err}
	}
	mounts, err := c.mounts()
	if err != nil {
		return configError{err}
	}
	if err := c.open(ctx, mounts, address.String()); err != nil {
		return err
	}
	if err := c.exec(); err != nil {
		c.close()
		return err
	}
	c.begun(ctx)
	return nil
}

// open makes the container's box and serves its tools.
func (c *container) open(ctx context.Context, mounts []box.Mount, address string) error {
	r := c.runner
	image := images.Parse(c.spec.Image)
	programs, realPrograms, err := r.agent.Images.Programs(image)
	if err != nil {
		return err
	}
	if c.places, err = r.agent.newPlaces(address); err != nil {
		return fmt.Errorf("create a container's directories: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", c.places.socket)
	if err != nil {
		r.agent.dropPlaces(c.places)
		return fmt.Errorf("listen for a container's tools: %w", err)
	}
	c.box, err = r.agent.Launcher.Start(box.Spec{
		Root: c.places.root, RunDir: c.places.run, Hostname: hostnameOf(r.pod), ProgramsDir: programs,
		Mounts: append(realPrograms, mounts...), Files: image.Files(), Directories: image.Directories(), ReadOnlyRoot: c.readOnlyRoot(),
	})
	if err != nil {
		listener.Close()
		r.agent.dropPlaces(c.places)
		return err
	}
	served, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until the box has ended
	c.cancel = func() { cancel(); listener.Close() }
	go r.agent.Tools.Serve(served, listener, Container{
		Namespace: r.namespace, Pod: r.name, UID: r.uid, Name: c.spec.Name, Image: image, Mounts: mounts,
	})
	return nil
}

func (c *container) readOnlyRoot() bool {
	s := c.spec.SecurityContext
	return s != nil && ptr.Deref(s.ReadOnlyRootFilesystem, false)
}

// mounts are the container's volume mounts as mounts of directories.
func (c *container) mounts() ([]box.Mount, error) {
	var all []box.Mount
	for _, m := range c.spec.VolumeMounts {
		source, ok := c.runner.volumes[m.Name]
		if !ok {
			return nil, fmt.Errorf("volume %q is not mounted", m.Name)
		}
		if m.SubPath != "" {
			source = filepath.Join(source, path.Clean("/"+m.SubPath))
			if _, err := os.Stat(source); err != nil {
				if err := os.MkdirAll(source, 0o755); err != nil {
					return nil, fmt.Errorf("create subPath %q: %w", m.SubPath, err)
				}
			}
		}
		all = append(all, box.Mount{Source: source, Target: m.MountPath, ReadOnly: m.ReadOnly || c.runner.projected(m.Name)})
	}
	return all, nil
}

// projected reports whether a volume is written by the agent alone.
func (r *runner) projected(name string) bool {
	for _, v := range r.pod.Spec.Volumes {
		if v.Name == name {
			return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
		}
	}
	return false
}

// exec starts the container's command and notices its end.
func (c *container) exec() error {
	r := c.runner
	argv := images.Parse(c.spec.Image).Command(c.env.expand(c.spec.Command), c.env.expand(c.spec.Args))
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer stdin.Close()
	log, err := openLog(r.logFile(c.spec.Name, c.status.RestartCount), r.agent.Clock)
	if err != nil {
		return err
	}
	defer log.closeWriters()
	c.process, err = c.box.Run(box.Command{
		Argv: argv, Env: c.env.list(), Dir: c.workingDir(), Stdin: stdin, Stdout: log.stdout, Stderr: log.stderr,
	})
	if err != nil {
		return err
	}
	go func(ended <-chan struct{}) { <-ended; r.trigger() }(c.process.Ended())
	return nil
}

func (c *container) workingDir() string {
	if c.spec.WorkingDir != "" {
		return c.spec.WorkingDir
	}
	return "/"
}

func (r *runner) logFile(container string, restarts int32) string {
	return filepath.Join(r.dir, "logs", container+"-"+strconv.Itoa(int(restarts))+".log")
}

func (c *container) begun(ctx context.Context) {
	now := metav1.NewTime(c.runner.agent.Clock.Now())
	c.status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	c.status.ContainerID = c.id()
	c.probes = startProbes(ctx, c)
}

func (c *container) id() string {
	return fmt.Sprintf("sandbox://%s/%s/%d", c.runner.uid, c.spec.Name, c.status.RestartCount)
}
