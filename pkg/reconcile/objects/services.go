package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// HeadlessService is the service for the DNS names of the pods; nil when the
// cluster needs none.
func HeadlessService(c *v1beta2.FoundationDBCluster) *corev1.Service {
	if !c.NeedsHeadlessService() {
		return nil
	}
	return &corev1.Service{
		ObjectMeta: metadata(c, nil, c.HeadlessServiceName(), nil),
		Spec: corev1.ServiceSpec{
			ClusterIP:  corev1.ClusterIPNone,
			Selector:   c.MatchLabels(),
			IPFamilies: serviceFamilies(c),
		},
	}
}

// GroupService is the service whose IP is the public address of one group's pod;
// nil when pods have their own public IPs.
func GroupService(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) *corev1.Service {
	if !c.PublicIPFromService() {
		return nil
	}
	return &corev1.Service{
		ObjectMeta: metadata(c, nil, g.ServiceName(c), groupLabels(c, g)),
		Spec: corev1.ServiceSpec{
			Type:                     corev1.ServiceTypeClusterIP,
			Ports:                    servicePorts(c, g.ProcessClass),
			PublishNotReadyAddresses: true,
			Selector:                 groupSelector(c, g),
			IPFamilies:               serviceFamilies(c),
		},
	}
}

// servicePorts are both ports of every process, whether it listens there or not.
// As in the operator, the further processes of log pods have none.
func servicePorts(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []corev1.ServicePort {
	servers := 1
	if class == v1beta2.ProcessClassStorage {
		servers = c.ServersPerPod(class)
	}
	var ports []corev1.ServicePort
	for n := 1; n <= servers; n++ {
		for _, l := range []listener{tlsListener, plainListener} {
			ports = append(ports, l.servicePort(n))
		}
	}
	return ports
}

func (l listener) servicePort(n int) corev1.ServicePort {
	name := l.name
	if n > 1 {
		name = fmt.Sprintf("%s-%d", l.name, n)
	}
	return corev1.ServicePort{Name: name, Port: int32(l.portOf(n))} //nolint:gosec // a port of the few servers in a pod
}

func serviceFamilies(c *v1beta2.FoundationDBCluster) []corev1.IPFamily {
	if c.PodIPFamily() == 6 {
		return []corev1.IPFamily{corev1.IPv6Protocol}
	}
	return nil
}
