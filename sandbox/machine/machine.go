// Package machine is a whole sandbox: a Kubernetes control plane, nodes that
// run pods, volumes, and the simulated FoundationDB behind them, with all
// state in one directory. It binds loopback addresses only.
package machine

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/controlplane"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/images"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/volumes"
)

// Options are what a sandbox is started with.
type Options struct {
	Dir            string
	Nodes          []node.Spec
	Port           int               // of the API; 0 keeps the last one or takes a free one
	Network        string            // of the pods, a /16 of 127.0.0.0/8; empty keeps the last one or takes a free one
	Speed          float64           // of the simulated databases' time
	IdleSpeed      float64           // of a namespace in which nothing happens; 0 for Speed and one clock for all
	ConfigMapDelay time.Duration     // until a changed config map reaches its pods
	NodeGrace      time.Duration     // time without a report after which a node is NotReady
	Tool           string            // the fdb-sandbox-tool program
	Programs       map[string]string // version to directory of real FoundationDB programs
	Progress       func(format string, args ...any)
	Clock          clock.PassiveClock
}

// Machine is a running sandbox.
type Machine struct {
	Options
	Paths  Paths
	Client kubernetes.Interface
	Agent  *node.Agent
	Proxy  *faults.Proxy
	Tools  *fdbtools.Bridge

	pki     controlplane.PKI
	control *controlplane.ControlPlane
	network string
	closers []func() // run in reverse order by Stop
}

// Start brings a sandbox up and returns when its nodes are ready. It returns
// ErrRunning when one runs in the directory already.
func Start(ctx context.Context, o Options) (_ *Machine, err error) {
	m := &Machine{Options: o, Paths: Paths{Dir: o.Dir}}
	defer func() {
		if err != nil {
			m.Stop()
		}
	}()
	if err := m.claimDirectory(); err != nil {
		return nil, err
	}
	short, dir, err := shortDir(o.Dir)
	if err != nil {
		return nil, err
	}
	m.onStop(func() { dir.Close() })
	launcher, err := m.tryBox()
	if err != nil {
		return nil, err
	}
	if err := m.startControlPlane(context.WithoutCancel(ctx), short); err != nil {
		return nil, err
	}
	return m, m.startRest(ctx, short, launcher)
}

func (m *Machine) onStop(f func()) { m.closers = append(m.closers, f) }

// Stop ends everything; no process is left behind.
func (m *Machine) Stop() {
	for _, f := range slices.Backward(m.closers) {
		f()
	}
	m.closers = nil
}

// Failed receives when a part of the sandbox ended that must not.
func (m *Machine) Failed() <-chan error { return m.control.Failed() }

func (m *Machine) claimDirectory() error {
	if err := m.Paths.Prepare(); err != nil {
		return err
	}
	held, err := lock(m.Paths.Lock())
	if err != nil {
		return err
	}
	m.onStop(func() {
		held.Truncate(0) //nolint:errcheck // the lock itself goes with the descriptor
		held.Close()
	})
	return nil
}

// tryBox verifies that this machine allows the namespaces of containers.
func (m *Machine) tryBox() (*box.Launcher, error) {
	launcher := box.NewLauncher(m.Tool, os.Stderr)
	dir, err := os.MkdirTemp(m.Dir, "try")
	if err != nil {
		return nil, fmt.Errorf("run a trial container: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b, err := launcher.Start(box.Spec{Root: dir, RunDir: m.Dir, ProgramsDir: "/usr/bin", Hostname: "try"})
	if err != nil {
		return nil, fmt.Errorf("this machine does not let containers have views of their own; run as root, or allow unprivileged user namespaces "+
			"(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns): %w", err)
	}
	b.Kill()
	return launcher, nil
}

func (m *Machine) startControlPlane(ctx context.Context, short string) error {
	var err error
	if m.pki, err = controlplane.OpenPKI(m.Paths.at("pki"), m.Clock.Now()); err != nil {
		return err
	}
	log, err := os.OpenFile(m.Paths.ComponentLog(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the components' log: %w", err)
	}
	m.onStop(func() { log.Close() })
	m.control, err = controlplane.Start(ctx, controlplane.Options{
		PKI: m.pki, EtcdDir: m.Paths.at("etcd"), SocketDir: short, ConfigDir: m.Dir, NodeGrace: m.NodeGrace, Log: log, Progress: m.Progress,
	})
	if err != nil {
		return err
	}
	m.Client = m.control.Client
	m.onStop(m.control.Stop)
	return nil
}

// startRest starts what needs the API server.
func (m *Machine) startRest(ctx context.Context, short string, launcher *box.Launcher) error {
	s, err := readState(m.Paths.State())
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return m.takeNetwork(&s) }, //nolint:contextcheck // taking a free network asks the kernel only, at once
		func() error { return m.startProxy(ctx, &s) },
		func() error { return s.write(m.Paths.State()) },
		func() error { return m.startNodes(ctx, short, s, launcher) },
		func() error { return m.waitForNodes(ctx) },
		func() error { return m.startClients(ctx, short) },
		func() error { return m.startControl(ctx, short) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) takeNetwork(s *state) error {
	if m.Network != "" {
		s.Network = m.Network
	}
	if s.Network != "" {
		if _, err := node.ParseNetwork(s.Network); err != nil {
			return err
		}
	}
	network, held, err := claimNetwork(s.Network, m.Dir)
	if err != nil {
		return err
	}
	m.onStop(func() { held.Close() })
	s.Network, m.network = network, network
	return nil
}

// startProxy puts the proxy that can fail requests in front of the API server.
func (m *Machine) startProxy(ctx context.Context, s *state) error {
	port := m.Port
	if port == 0 {
		port = s.Port
	}
	listener, err := listen(ctx, port)
	if err != nil && m.Port == 0 {
		listener, err = listen(ctx, 0) // another process took the last one's port
	}
	if err != nil {
		return fmt.Errorf("listen for the API: %w", err)
	}
	m.Proxy, err = faults.NewProxy(m.control.ProxyCredentials())
	if err != nil {
		listener.Close()
		return err
	}
	s.Port = listener.Addr().(*net.TCPAddr).Port
	stop := m.Proxy.Serve(listener) //nolint:contextcheck // its end has a time limit of its own
	m.onStop(stop)
	config := m.control.AdminConfig(s.Port)
	return controlplane.WriteKubeconfig(m.Paths.Kubeconfig(), config)
}

func listen(ctx context.Context, port int) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

func (m *Machine) startNodes(ctx context.Context, short string, s state, launcher *box.Launcher) error {
	ctx, cancel := context.WithCancel(ctx)
	m.onStop(cancel)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	store, err := images.NewStore(m.Paths.at("images"), m.Tool, m.Programs)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(m.Client, 0)
	binder, err := volumes.NewBinder(m.Client, shared, m.Paths.at("volumes"), log)
	if err != nil {
		return err
	}
	if err := volumes.EnsureClasses(ctx, m.Client); err != nil {
		return err
	}
	config, err := m.pki.NodeTLS()
	if err != nil {
		return err
	}
	tools := &lateTools{}
	m.Agent, err = node.NewAgent(node.Options{
		Client: m.Client, Informers: shared, Dir: m.Paths.at("pods"), RunDir: m.Paths.at("run"), ShortRunDir: filepath.Join(short, "run"),
		Network: netip.MustParsePrefix(s.Network), Launcher: launcher, Images: store, Tools: tools,
		TLS: config, Caller: controlplane.NodeAgentCaller, ConfigMapDelay: m.ConfigMapDelay, NodeGrace: m.NodeGrace, CutStreams: m.Proxy.CutExec,
		Events: m.events(ctx), Clock: m.Clock, Log: log,
	})
	if err != nil {
		return err
	}
	m.Tools = fdbtools.New(fdbtools.Options{
		Client: m.Client, Resolve: m.Agent.Hosts.Resolve, PodFacts: m.Agent.PodFacts, Speed: m.Speed, IdleSpeed: m.IdleSpeed, Settled: m.Agent.Settled,
		Clock: m.Clock, Log: log,
	})
	tools.Tools = m.Tools
	go m.Tools.Run(ctx)
	m.onStop(func() {
		cancel() // ends the pods, which Stop waits for
		m.Agent.Stop()
	})
	if err := m.Agent.Start(ctx, m.Nodes, func() { shared.Start(ctx.Done()) }); err != nil {
		return err
	}
	go binder.Run(ctx)
	m.Progress("%d nodes are registered", len(m.Nodes))
	return nil
}

// lateTools are the tools of the agent, set after both are created: each needs
// the other.
type lateTools struct{ node.Tools }

func (m *Machine) events(ctx context.Context) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: m.Client.CoreV1().Events("")})
	m.onStop(broadcaster.Shutdown)
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet"})
}

const (
	// readyLimit bounds the wait for the nodes, which takes about a second.
	readyLimit = time.Minute
	readyPoll  = 50 * time.Millisecond
)

// waitForNodes waits until pods can be scheduled: nodes ready and untainted,
// the default namespace's service account there.
func (m *Machine) waitForNodes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for {
		missing := m.missing(ctx)
		if missing == nil {
			m.Progress("the nodes are ready")
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the nodes: %w", missing)
		case <-poll.C:
		}
	}
}

func (m *Machine) missing(ctx context.Context) error {
	if _, err := m.Client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return err
	}
	for _, spec := range m.Nodes {
		n, err := m.Client.CoreV1().Nodes().Get(ctx, spec.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, t := range n.Spec.Taints {
			if t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable {
				return fmt.Errorf("node %s has taint %s", n.Name, t.Key)
			}
		}
	}
	return nil
}
