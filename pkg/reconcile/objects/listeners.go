package objects

import "github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"

// listener is one way in which servers can be reached.
type listener struct {
	// port is that of a pod's first server; each further one has the port two above.
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

// portStep is how far the ports of two servers of one pod are apart: one for
// each listener.
const portStep = 2

// portOf is the port of server n, from 1.
func (l listener) portOf(n int) int { return l.offset() + portStep*n }

// offset is what has to be added to portStep times the server's number.
func (l listener) offset() int { return l.port - portStep }

// listeners are the ways in which the servers must be reachable now: both while a
// cluster is taken to TLS or back, TLS first. A status that has none, which only
// one that was never computed has, means what the spec wants.
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
