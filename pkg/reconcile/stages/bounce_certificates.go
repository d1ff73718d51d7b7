package stages

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// certificatesNamed asks, before servers get their first listener with TLS, whether they
// are told where their certificate and key are. A server that has to listen with TLS and
// has none ends at once. All of them would end together, and nothing of the spec is
// looked at again before a database that is gone comes back.
//
// A file at FoundationDB's default path does not count: nobody can see it from outside.
// The operator does not ask.
func certificatesNamed(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.Check {
	c := plan.Check{ID: plan.CheckCertificatesSet, Question: "are all servers that have to listen with TLS told where their certificate and key are?", Gate: plan.GateConfig}
	var untold []string
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !toldOfCertificate(s, g) {
			untold = append(untold, string(id))
		}
	}
	c.OK, c.Evidence = len(untold) == 0, phrase.CountOf(len(groups), len(groups), "process group")+" "+phrase.Is(len(groups))
	if !c.OK {
		c.Evidence = fmt.Sprintf("neither variables of the container %s (%s, %s) nor custom parameters name them in %s",
			v1beta2.ContainerMain, v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile, someOf(untold))
	}
	return c
}

// firstTLS reports whether servers that listen without TLS are to listen with it, too.
func firstTLS(c *v1beta2.FoundationDBCluster) bool {
	return tlsConversion(c) && c.Spec.MainContainer.EnableTLS
}

func toldOfCertificate(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return toldOf(s, g, v1beta2.EnvTLSCertificateFile) && toldOf(s, g, v1beta2.EnvTLSKeyFile)
}

// toldOf reports whether a variable of the pod that runs, or the parameter of the same
// name, is set. FoundationDB takes FDB_X from the environment and --x from its arguments.
func toldOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, variable string) bool {
	option := strings.ToLower(strings.TrimPrefix(variable, "FDB_"))
	for _, parameter := range s.Cluster.Settings(g.ProcessClass).CustomParameters {
		name, _, _ := strings.Cut(string(parameter), "=")
		if strings.ReplaceAll(strings.TrimSpace(name), "-", "_") == option {
			return true
		}
	}
	pod := s.Pod(g)
	return pod != nil && slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == v1beta2.ContainerMain && slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool {
			return v.Name == variable && (v.Value != "" || v.ValueFrom != nil)
		})
	})
}
