package reconcile_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
)

// withFileGroup is a cluster whose storage pods should own their files otherwise.
func withFileGroup(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{FSGroup: new(int64(4059))}}}},
	}
	g.Cluster.Resource.Generation++
	return g
}

func TestASecurityContextChangeReplacesGroupsOnlyWithTheFlag(t *testing.T) {
	const flag = "--replace-on-security-context-change"
	for _, command := range []string{"plan", "reconcile"} {
		g := withFileGroup(t)
		args := []string{command, "sample", "--only", "UpdateStatus,ReplaceMisconfiguredProcessGroups"}
		if command == "reconcile" {
			args = append(args, "--dry-run")
		}
		g.Run(args...)
		if out := g.Out.String(); strings.Contains(out, "- process groups") {
			t.Errorf("%s without the flag:\n%s", command, out)
		}
		g.Run(append(args, flag)...)
		if out := g.Out.String(); !strings.Contains(out, "- process groups") || !strings.Contains(out, "the security context differs") {
			t.Errorf("%s with the flag:\n%s%s", command, out, &g.Err)
		}
	}
}
