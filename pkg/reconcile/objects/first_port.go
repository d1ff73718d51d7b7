package objects

import "github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"

// FirstPort is the port of a pod's first server, of TLS if its cluster uses that.
func FirstPort(c *v1beta2.FoundationDBCluster) int {
	if c.Spec.MainContainer.EnableTLS {
		return tlsListener.portOf(1)
	}
	return plainListener.portOf(1)
}
