// Package node stands for the kubelets of a sandbox. It registers nodes, runs
// the containers of the pods bound to them, reports their status, and serves
// exec, logs and port-forward. It acts for no one but the API server: its ports
// are on the loopback interface and ask for the API server's own certificate.
package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/images"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/volumes"
)

// KubernetesVersion is what the nodes say they run: that of the libraries in go.mod.
const KubernetesVersion = "v1.36.3"

// requestLimit bounds one request to the API server.
const requestLimit = 20 * time.Second

// Clock is the clock.
type Clock = clock.PassiveClock

// Container is one running container, as the programs in it see it.
type Container struct {
	Namespace, Pod string
	UID            types.UID
	Name           string
	Image          images.Image
	Mounts         []box.Mount
}

// Tools serves the FoundationDB programs of one container on listener until ctx ends.
type Tools interface {
	Serve(ctx context.Context, listener net.Listener, c Container)
}

// Options are what an agent works with.
type Options struct {
	Client         kubernetes.Interface
	Informers      informers.SharedInformerFactory
	Dir            string // pods' files; survives a restart
	RunDir         string // running containers' sockets and roots; emptied at the start
	ShortRunDir    string // another name of RunDir, short enough for a socket
	Network        netip.Prefix
	Launcher       *box.Launcher
	Images         *images.Store
	Tools          Tools
	TLS            *tls.Config                 // of the nodes' ports
	Caller         string                      // common name of the certificate that may call
	CutStreams     func(namespace, pod string) // breaks the connections of those who run commands in a pod
	ConfigMapDelay time.Duration
	NodeGrace      time.Duration // time without a report after which a node is NotReady
	Events         record.EventRecorder
	Clock          Clock
	Log            *slog.Logger
}

// Agent runs the pods of all nodes of a sandbox.
type Agent struct {
	Options
	Hosts Hosts

	addresses  *addresses
	projector  *volumes.Projector
	pods       corelisters.PodLister
	services   corelisters.ServiceLister
	nodeLister corelisters.NodeLister
	server     *http.Server
	synced     []cache.InformerSynced
	hostsWake  chan struct{}
	boxes      atomic.Int64 // number of boxes made, which names their directories

	mu      sync.Mutex
	nodes   map[string]*node
	runners map[types.UID]*runner
	work    sync.WaitGroup

	placesMu sync.Mutex
	runDirs  map[string]struct{} // of running containers
}

// NewAgent returns an agent; Start starts it.
func NewAgent(o Options) (*Agent, error) {
	core := o.Informers.Core().V1()
	a := &Agent{
		Options: o, addresses: newAddresses(o.Network), hostsWake: make(chan struct{}, 1),
		pods: core.Pods().Lister(), services: core.Services().Lister(), nodeLister: core.Nodes().Lister(),
		nodes: map[string]*node{}, runners: map[types.UID]*runner{}, runDirs: map[string]struct{}{},
		projector: &volumes.Projector{
			Client: o.Client, ConfigMaps: core.ConfigMaps().Lister(),
			Claims: core.PersistentVolumeClaims().Lister(), Volumes: core.PersistentVolumes().Lister(),
		},
	}
	if err := os.RemoveAll(o.RunDir); err != nil {
		return nil, fmt.Errorf("clear the containers' directory: %w", err)
	}
	for _, dir := range []string{o.Dir, o.RunDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("create the pods' directory: %w", err)
		}
	}
	return a, nil
}

// Start registers the nodes and runs pods until ctx ends. It calls
// startInformers after it has registered its handlers.
func (a *Agent) Start(ctx context.Context, nodes []Spec, startInformers func()) error {
	a.server = &http.Server{Handler: a.handler(), ReadHeaderTimeout: requestLimit}
	for _, spec := range nodes {
		if err := a.startNode(ctx, spec); err != nil {
			return err
		}
	}
	if err := a.watch(ctx); err != nil {
		return err
	}
	startInformers()
	if !cache.WaitForCacheSync(ctx.Done(), a.synced...) {
		return errors.New("the API server's objects did not arrive")
	}
	go a.keepHosts(ctx)
	return nil
}

func (a *Agent) startNode(ctx context.Context, spec Spec) error {
	n := &node{spec: spec, client: a.Client, clock: a.Clock, back: make(chan struct{}, 1)}
	if err := n.listen(ctx, a.TLS, a.server); err != nil {
		return err
	}
	if err := n.register(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	a.nodes[spec.Name] = n
	a.mu.Unlock()
	go n.heartbeat(ctx, heartbeatOf(a.NodeGrace), func(err error) { a.Log.Error("node heartbeat", "error", err) })
	return nil
}

// Stop waits until every container has ended; the context given to Start must have ended.
func (a *Agent) Stop() {
	a.server.Close() // the process ends anyway
	a.work.Wait()
}

func (a *Agent) watch(ctx context.Context) error {
	core := a.Informers.Core().V1()
	handlers := []struct {
		informer cache.SharedIndexInformer
		changed  func(any)
		deleted  func(any)
	}{
		{core.Pods().Informer(), func(o any) { a.podChanged(ctx, o) }, a.podDeleted},
		{core.Services().Informer(), func(any) { a.wakeHosts() }, func(any) { a.wakeHosts() }},
		{core.ConfigMaps().Informer(), a.configMapChanged, func(any) {}},
		{core.PersistentVolumeClaims().Informer(), func(any) {}, func(any) {}},
		{core.Nodes().Informer(), func(any) {}, func(any) {}},
		{core.PersistentVolumes().Informer(), func(any) {}, func(any) {}},
	}
	for _, h := range handlers {
		handle, err := h.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: h.changed, UpdateFunc: func(_, o any) { h.changed(o) }, DeleteFunc: h.deleted,
		})
		if err != nil {
			return fmt.Errorf("watch the API server: %w", err)
		}
		a.synced = append(a.synced, handle.HasSynced)
	}
	return nil
}

func (a *Agent) podChanged(ctx context.Context, o any) {
	pod := o.(*corev1.Pod)
	a.wakeHosts()
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.nodes[pod.Spec.NodeName]
	if n == nil {
		return // not bound, or not to us
	}
	a.addresses.keep(pod.UID, pod.Status.PodIP)
	r := a.runners[pod.UID]
	if r == nil {
		r = a.newRunner(pod, n)
		a.runners[pod.UID] = r
		a.work.Go(func() { r.run(ctx) })
	}
	r.observe(pod)
}

func (a *Agent) podDeleted(o any) {
	if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = unknown.Obj
	}
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	a.wakeHosts()
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runners[pod.UID]; r != nil {
		r.observe(nil)
	}
}

// configMapChanged has the pods that use the map look at it after the delay.
func (a *Agent) configMapChanged(o any) {
	m := o.(*corev1.ConfigMap)
	time.AfterFunc(a.ConfigMapDelay, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, r := range a.runners {
			if r.namespace == m.Namespace {
				r.refreshVolumes()
			}
		}
	})
}

// forget is called by a runner whose pod is deleted.
func (a *Agent) forget(uid types.UID) {
	a.addresses.free(uid)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runners, uid)
}

func (a *Agent) runner(namespace, name string) (*runner, error) {
	pod, err := a.pods.Pods(namespace).Get(name)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.runners[pod.UID]
	if r == nil {
		return nil, fmt.Errorf("pod %s/%s does not run here", namespace, name)
	}
	return r, nil
}

// SetHealth changes how a node does.
func (a *Agent) SetHealth(ctx context.Context, name string, h Health) error {
	a.mu.Lock()
	n := a.nodes[name]
	a.mu.Unlock()
	if n == nil {
		return fmt.Errorf("there is no node %q", name)
	}
	if n.is() == h {
		return nil
	}
	if err := a.setPort(ctx, n, h); err != nil {
		return err
	}
	n.mu.Lock()
	n.health = h
	n.mu.Unlock()
	if h == Working {
		select {
		case n.back <- struct{}{}:
		default: // it will report already
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.runners {
		r.trigger()
	}
	return nil
}

// setPort opens or closes the node's port.
func (a *Agent) setPort(ctx context.Context, n *node, h Health) error {
	if h == Working {
		return n.listen(ctx, a.TLS, a.server)
	}
	if n.is() != Working {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.listener.Close()
}

// Healths is how every node does, by name.
func (a *Agent) Healths() map[string]Health {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]Health{}
	for name, n := range a.nodes {
		all[name] = n.is()
	}
	return all
}

// PodFacts are what the programs of a pod may know of it; ok is false when it
// is deleted, and while its node is cut off.
func (a *Agent) PodFacts(namespace, name string) (annotations, nodeLabels map[string]string, ok bool) {
	pod, err := a.pods.Pods(namespace).Get(name)
	if err != nil {
		return nil, nil, false
	}
	n, err := a.nodeLister.Get(pod.Spec.NodeName)
	if err != nil || a.Healths()[n.Name] != Working {
		return nil, nil, false
	}
	return pod.Annotations, n.Labels, true
}

// Settled reports whether every pod of a namespace has ended or is ready, none is about to end, and all nodes work.
func (a *Agent) Settled(namespace string) bool {
	for _, health := range a.Healths() {
		if health != Working {
			return false
		}
	}
	pods, err := a.pods.Pods(namespace).List(labels.Everything())
	return err == nil && !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !settled(pod) })
}

func settled(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return ended || slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
