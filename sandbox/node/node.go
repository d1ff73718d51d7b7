package node

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// Spec is a node as it registers.
type Spec struct {
	Name     string
	Labels   map[string]string
	Taints   []corev1.Taint
	Capacity corev1.ResourceList
}

// Health is how a node does.
type Health int

// The healths of a node.
const (
	Working Health = iota
	Cut            // its pods live on, it does not report to the API server
	Stopped        // its pods have died with it
)

func (h Health) String() string {
	return [...]string{"working", "cut", "stopped"}[h]
}

// node is one registered node with a port of its own for the API server.
type node struct {
	spec   Spec
	client kubernetes.Interface
	clock  Clock
	back   chan struct{} // receives when it works again

	mu       sync.Mutex
	health   Health
	port     int
	listener net.Listener
}

// longestHeartbeat is the interval at which a kubelet renews its Lease.
const longestHeartbeat = 10 * time.Second

// heartbeatOf is the interval at which a node renews its Lease: several times within the time after which it is
// NotReady.
func heartbeatOf(grace time.Duration) time.Duration {
	const shortest = 200 * time.Millisecond
	return max(shortest, min(grace/5, longestHeartbeat))
}

// leaseSeconds is how long a lease counts, by its own statement.
const leaseSeconds = 40

func (n *node) is() Health {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.health
}

// listen opens the node's port; a node that was cut off opens the same again.
func (n *node) listen(ctx context.Context, config *tls.Config, server *http.Server) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	plain, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port)))
	if err != nil {
		return fmt.Errorf("listen for node %s: %w", n.spec.Name, err)
	}
	n.port = plain.Addr().(*net.TCPAddr).Port
	n.listener = tls.NewListener(plain, config)
	go server.Serve(n.listener) // it ends when the listener closes
	return nil
}

// register creates the node with its capacity.
func (n *node) register(ctx context.Context) error {
	_, err := n.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.spec.Name, Labels: n.labels()}, Spec: corev1.NodeSpec{Taints: n.spec.Taints}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register node %s: %w", n.spec.Name, err)
	}
	if err := n.renew(ctx); err != nil {
		return err
	}
	return n.report(ctx)
}

func (n *node) labels() map[string]string {
	all := map[string]string{
		corev1.LabelHostname: n.spec.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
	}
	maps.Copy(all, n.spec.Labels)
	return all
}

// report writes the node's status.
func (n *node) report(ctx context.Context) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current, err := n.client.CoreV1().Nodes().Get(ctx, n.spec.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		n.describe(&current.Status)
		_, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, current, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("report node %s: %w", n.spec.Name, err)
	}
	return nil
}

func (n *node) describe(s *corev1.NodeStatus) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Capacity, s.Allocatable = n.spec.Capacity, n.spec.Capacity
	s.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}, {Type: corev1.NodeHostName, Address: n.spec.Name}}
	s.DaemonEndpoints.KubeletEndpoint.Port = int32(n.port) //nolint:gosec // a port
	s.NodeInfo = corev1.NodeSystemInfo{
		KubeletVersion: KubernetesVersion, OperatingSystem: "linux", Architecture: "amd64", ContainerRuntimeVersion: "sandbox://1", OSImage: "fdb-sandbox",
	}
	now := metav1.NewTime(n.clock.Now())
	for _, c := range []struct {
		kind   corev1.NodeConditionType
		status corev1.ConditionStatus
		reason string
	}{
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID"},
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"},
	} {
		setNodeCondition(s, corev1.NodeCondition{Type: c.kind, Status: c.status, Reason: c.reason, LastHeartbeatTime: now, LastTransitionTime: now})
	}
}

func setNodeCondition(s *corev1.NodeStatus, c corev1.NodeCondition) {
	for i, old := range s.Conditions {
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		s.Conditions[i] = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

// heartbeat renews the node's lease until ctx ends.
func (n *node) heartbeat(ctx context.Context, every time.Duration, complain func(error)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	beats := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-n.back:
			beats = 0
		}
		if n.is() != Working {
			continue
		}
		if err := n.beat(ctx, beats); err != nil && ctx.Err() == nil {
			complain(err)
		}
		beats++
	}
}

// statusEvery is after how many leases the status is written as well, which
// repairs what the node controller wrote while the node did not report.
const statusEvery = 2

func (n *node) beat(ctx context.Context, beats int) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if err := n.renew(ctx); err != nil {
		return err
	}
	if beats%statusEvery != 0 {
		return nil
	}
	return n.report(ctx)
}

func (n *node) renew(ctx context.Context) error {
	leases := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NewMicroTime(n.clock.Now())
	lease, err := leases.Get(ctx, n.spec.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: n.spec.Name, Namespace: corev1.NamespaceNodeLease},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &n.spec.Name, LeaseDurationSeconds: new(int32(leaseSeconds)), RenewTime: &now},
		}, metav1.CreateOptions{})
	} else if err == nil {
		lease.Spec.RenewTime = &now
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("renew the lease of node %s: %w", n.spec.Name, err)
	}
	return nil
}
