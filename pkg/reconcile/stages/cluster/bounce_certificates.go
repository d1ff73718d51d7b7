package cluster

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// certificatesConfigured checks, before processes get their first TLS listener, whether the
// paths of their certificate and key are configured. A process with a TLS listener and
// without these exits at once. All would exit together, and a correction of the spec is not
// applied until the database is available again.
//
// A file at FoundationDB's default path does not count: it cannot be observed from outside.
// The operator does not check this.
func certificatesConfigured(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.Check {
	c := plan.Check{ID: plan.CheckCertificatesSet, Question: "do all processes with a TLS listener have a certificate and key configured?", Gate: plan.GateConfig}
	var lacking []string
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !hasCertificate(s, g) {
			lacking = append(lacking, string(id))
		}
	}
	c.OK, c.Evidence = len(lacking) == 0, phrase.CountOf(len(groups), len(groups), "process group")+" "+phrase.Has(len(groups))
	if !c.OK {
		c.Evidence = fmt.Sprintf("neither variables of container %s (%s, %s) nor custom parameters configure them for %s",
			v1beta2.ContainerMain, v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile, readings.SomeOf(lacking))
	}
	return c
}

// firstTLS reports whether a TLS listener is added to processes that have none.
func firstTLS(c *v1beta2.FoundationDBCluster) bool {
	return readings.TLSConversion(c) && c.Spec.MainContainer.EnableTLS
}

func hasCertificate(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	return objects.SetsTLSFile(s.Cluster, g.ProcessClass, pod, v1beta2.EnvTLSCertificateFile) && objects.SetsTLSFile(s.Cluster, g.ProcessClass, pod, v1beta2.EnvTLSKeyFile)
}
