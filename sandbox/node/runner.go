package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
)

// runner makes one pod so. One goroutine runs it; it checks everything again
// whenever it is notified, and at least every idleInterval.
type runner struct {
	agent           *Agent
	node            *node
	uid             types.UID
	namespace, name string
	dir             string // the pod's files
	wake            chan struct{}

	news inbox

	mu         sync.Mutex  // guards what follows; held while the pod is made so
	pod        *corev1.Pod // as the API server has it; nil when it is deleted
	stale      bool        // a projected volume may have changed
	volumes    map[string]string
	containers map[string]*container
	started    metav1.Time
	killAt     time.Time // when a deleted pod's grace ends; zero until it was deleted
	complaint  string    // the last problem reported as an event
}

// idleInterval is when a runner checks without a notification.
const idleInterval = 5 * time.Second

// retryInterval is when a runner looks again at what could not be done.
const retryInterval = 500 * time.Millisecond

func (a *Agent) newRunner(pod *corev1.Pod, n *node) *runner {
	r := &runner{
		agent: a, node: n, uid: pod.UID, namespace: pod.Namespace, name: pod.Name,
		dir: filepath.Join(a.Dir, string(pod.UID)), wake: make(chan struct{}, 1),
		containers: map[string]*container{}, started: metav1.NewTime(a.Clock.Now()), pod: pod, news: inbox{pod: pod},
	}
	if pod.Status.StartTime != nil {
		r.started = *pod.Status.StartTime
	}
	for _, c := range pod.Spec.InitContainers {
		r.containers[c.Name] = newContainer(r, c, pod.Status.InitContainerStatuses)
	}
	for _, c := range pod.Spec.Containers {
		r.containers[c.Name] = newContainer(r, c, pod.Status.ContainerStatuses)
	}
	return r
}

// trigger makes the runner compare its pod with its containers again.
func (r *runner) trigger() {
	select {
	case r.wake <- struct{}{}:
	default: // it is triggered already
	}
}

// inbox is what a runner receives while it is busy. Its lock is never held for
// long.
type inbox struct {
	mu    sync.Mutex
	pod   *corev1.Pod
	stale bool
}

// observe takes the pod as the API server has it; nil when it is deleted.
func (r *runner) observe(pod *corev1.Pod) {
	r.news.mu.Lock()
	r.news.pod = pod
	r.news.mu.Unlock()
	r.trigger()
}

func (r *runner) refreshVolumes() {
	r.news.mu.Lock()
	r.news.stale = true
	r.news.mu.Unlock()
	r.trigger()
}

// read takes over what the runner received.
func (r *runner) read() {
	r.news.mu.Lock()
	defer r.news.mu.Unlock()
	r.pod = r.news.pod
	r.stale = r.stale || r.news.stale
	r.news.stale = false
}

// run keeps the pod so until it is deleted or ctx ends, and leaves no process
// behind.
func (r *runner) run(ctx context.Context) {
	defer r.end()
	timer := time.NewTimer(idleInterval)
	defer timer.Stop()
	for {
		next, gone := r.step(ctx)
		if gone {
			return
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
	}
}

// end stops everything; the files are removed only when the pod is deleted.
func (r *runner) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killAll()
	if r.pod != nil {
		return
	}
	r.agent.forget(r.uid)
	if err := os.RemoveAll(r.dir); err != nil {
		r.agent.Log.Error("removing a pod's files", "pod", r.name, "error", err)
	}
}

// step does what can be done now and returns when to check again.
func (r *runner) step(ctx context.Context) (next time.Duration, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	health := r.node.is()
	if r.pod == nil {
		return idleInterval, health != Cut // a node that is cut off does not know
	}
	if health == Stopped {
		r.killAll()
		return idleInterval, false
	}
	fault, err := faults.ParsePod(r.pod.Annotations[faults.PodAnnotation])
	if err != nil {
		r.complain("UnknownFault", err.Error())
	}
	if health == Cut {
		return r.goOn(ctx, fault), false
	}
	if r.pod.DeletionTimestamp != nil {
		next = r.terminate(ctx, fault)
	} else {
		next = r.converge(ctx, fault)
	}
	if err := r.report(ctx, fault); err != nil && ctx.Err() == nil {
		r.agent.Log.Error("reporting a pod", "pod", r.name, "error", err)
		next = retryInterval
	}
	return next, false
}

// goOn runs the pod of a node that is cut off as it was.
func (r *runner) goOn(ctx context.Context, fault faults.Pod) time.Duration {
	if r.pod.DeletionTimestamp != nil {
		return idleInterval
	}
	return r.converge(ctx, fault)
}

// converge starts what should run and is not running.
func (r *runner) converge(ctx context.Context, fault faults.Pod) time.Duration {
	switch {
	case fault.Pending:
		r.hold("ContainerCreating", "")
		return idleInterval
	case fault.ImagePullBackOff:
		r.hold("ImagePullBackOff", "Back-off pulling image")
		return idleInterval
	}
	r.followImages()
	if err := r.mount(ctx); err != nil {
		r.complain("FailedMount", "MountVolume.SetUp failed: "+err.Error())
		if len(r.volumes) < len(r.pod.Spec.Volumes) { // one that was mounted stays as it was
			return retryInterval
		}
	}
	for _, c := range r.pod.Spec.InitContainers {
		init := r.containers[c.Name]
		if next := init.keep(ctx); !init.done() {
			return next
		}
	}
	if fault.CrashLoop {
		r.crash()
		return idleInterval
	}
	next := idleInterval
	for _, c := range r.pod.Spec.Containers {
		next = min(next, r.containers[c.Name].keep(ctx))
	}
	return next
}

// followImages restarts containers whose image was replaced.
func (r *runner) followImages() {
	for _, spec := range append(slices.Clone(r.pod.Spec.InitContainers), r.pod.Spec.Containers...) {
		r.containers[spec.Name].follow(spec)
	}
}

// mount makes the volumes' directories when they may have changed.
func (r *runner) mount(ctx context.Context) error {
	if r.volumes != nil && !r.stale {
		return nil
	}
	paths, err := r.agent.projector.Prepare(ctx, r.pod, filepath.Join(r.dir, "volumes"))
	if r.volumes == nil && err != nil {
		return err
	}
	if err == nil {
		r.stale = false
	}
	if r.volumes == nil {
		r.volumes = paths
	}
	return err
}

// hold keeps the containers from running and returns why.
func (r *runner) hold(reason, message string) {
	r.killAll()
	for _, c := range r.containers {
		c.await(reason, message)
		c.retryAt, c.backOff = time.Time{}, 0 // once it is let go it starts at once
	}
}

// crash ends the main containers and keeps them from starting.
func (r *runner) crash() {
	for _, spec := range r.pod.Spec.Containers {
		r.containers[spec.Name].crash()
	}
}

func (r *runner) killAll() {
	for _, c := range r.containers {
		c.kill()
	}
}

// terminate ends a deleted pod: it asks the containers to end, kills them when
// their grace is over, and then confirms the deletion.
func (r *runner) terminate(ctx context.Context, fault faults.Pod) time.Duration {
	now := r.agent.Clock.Now()
	if r.killAt.IsZero() {
		r.killAt = now.Add(grace(r.pod))
		for _, c := range r.containers {
			c.askToEnd()
		}
	}
	running := r.collect()
	if running && now.Before(r.killAt) {
		return r.killAt.Sub(now)
	}
	r.killAll()
	confirmed := r.pod.DeletionGracePeriodSeconds != nil && *r.pod.DeletionGracePeriodSeconds == 0
	if fault.StuckTerminating || confirmed {
		return idleInterval // when confirmed, only finalizers are left
	}
	if err := r.confirm(ctx); err != nil && ctx.Err() == nil {
		r.agent.Log.Error("confirming a deletion", "pod", r.name, "error", err)
	}
	return retryInterval
}

// collect notices containers that have ended and reports whether any still runs.
func (r *runner) collect() bool {
	running := false
	for _, c := range r.containers {
		c.notice()
		running = running || c.process != nil
	}
	return running
}

func grace(pod *corev1.Pod) time.Duration {
	if pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
}

func (r *runner) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if err := r.report(ctx, faults.Pod{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	zero := int64(0)
	err := r.agent.Client.CoreV1().Pods(r.namespace).Delete(ctx, r.name, metav1.DeleteOptions{
		GracePeriodSeconds: &zero, Preconditions: metav1.NewUIDPreconditions(string(r.uid)),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// report writes the pod's status when it differs from what the API server has.
func (r *runner) report(ctx context.Context, fault faults.Pod) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	f := facts{started: r.started, notReady: fault.NotReady, unstarted: fault.Pending || fault.ImagePullBackOff, now: metav1.NewTime(r.agent.Clock.Now())}
	if r.volumes != nil || r.pod.Status.PodIP != "" {
		address, err := r.agent.addresses.of(r.uid)
		if err != nil {
			return err
		}
		f.address = address
	}
	for _, c := range r.pod.Spec.InitContainers {
		f.inits = append(f.inits, r.containers[c.Name].report())
	}
	for _, c := range r.pod.Spec.Containers {
		s := r.containers[c.Name].report()
		s.Ready = s.Ready && !fault.NotReady
		f.containers = append(f.containers, s)
	}
	return r.patch(ctx, status(r.pod, f))
}

func (r *runner) patch(ctx context.Context, next corev1.PodStatus) error {
	change, err := statusPatch(r.pod, next)
	if err != nil || change == nil {
		return err
	}
	_, err = r.agent.Client.CoreV1().Pods(r.namespace).Patch(ctx, r.name, types.StrategicMergePatchType, change, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil // it is deleted, or another pod has the name
	}
	return err
}

// complain makes an event of a problem, once until another one comes.
func (r *runner) complain(reason, message string) {
	if r.complaint == reason+message {
		return
	}
	r.complaint = reason + message
	r.agent.Events.Event(r.pod, corev1.EventTypeWarning, reason, message)
}

// key is the pod's name for caches.
func (r *runner) key() string { return cache.NewObjectName(r.namespace, r.name).String() }
