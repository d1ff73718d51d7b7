package objects

import "github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"

// listener is one way to connect to processes.
type listener struct {
	// port is that of a pod's first process; each further one has the port two above.
	port int
	// suffix follows the port in an address.
	suffix string
	// name is what a service calls the port.
	name string
}

var (
	tlsListener   = listener{port: 4500, suffix: ":tls", name: "tls"}
	plainListener = listener{port: 4501, name: "non-tls"}
)

// portStep is how far the ports of two processes of one pod are apart: one for
// each listener.
const portStep = 2

// portOf is the port of process n, from 1.
func (l listener) portOf(n int) int { return l.offset() + portStep*n }

// ServerAt is the number, from 1, of the process of a pod that has a port.
func ServerAt(port int) int { return (port-tlsListener.port)/portStep + 1 }

// offset is what has to be added to portStep times the process's number.
func (l listener) offset() int { return l.port - portStep }

// listeners are the ways in which the processes must be reachable now: both during a
// conversion to or from TLS, TLS first. A status without any, which was never computed, means
// those of the spec.
func listeners(c *v1beta2.FoundationDBCluster) []listener {
	required := c.Status.RequiredAddresses
	switch {
	case required.TLS && required.NonTLS:
		return []listener{tlsListener, plainListener}
	case required.TLS:
		return []listener{tlsListener}
	case required.NonTLS:
		return []listener{plainListener}
	case c.Spec.MainContainer.EnableTLS:
		return []listener{tlsListener}
	default:
		return []listener{plainListener}
	}
}
