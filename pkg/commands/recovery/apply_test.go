package recovery

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestARecoveryRequiresAnAuditFileThatCanBeContinued(t *testing.T) {
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "kubectl-fdb", "audit.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := &session.Env{Getenv: func(string) string { return state }}
	err := applyOptions{}.allowed(t.Context(), env, reading{}, recovery.Plan{})
	if refused, is := errors.AsType[*reconcile.RefusedError](err); !is || refused.Check.Gate != plan.GateAudit {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestARecoveryRequiresAValidSpecOnlyToCreateObjects(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	c.Spec.Version = "seven"
	env := session.NewEnv()
	for name, tc := range map[string]struct {
		p    recovery.Plan
		want int
	}{
		"pods":                        {recovery.Plan{Create: []recovery.Creation{{Pod: "sample-log-1"}}}, exit.ExitUsage},
		"PVCs":                        {recovery.Plan{Bind: []recovery.Binding{{PVC: "sample-log-1-data"}}}, exit.ExitUsage},
		"another connection string":   {recovery.Plan{From: "a:b@1.1.1.1:4501", To: "a:b@1.1.1.2:4501"}, exit.ExitDone},
		"groups of the status, alone": {recovery.Plan{Rebuild: []recovery.Rebuilt{{}}}, exit.ExitDone},
	} {
		t.Run(name, func(t *testing.T) {
			if err := specUsable(env, c, tc.p); exit.Code(err) != tc.want {
				t.Errorf("got %v, want exit code %d", err, tc.want)
			}
		})
	}
}

func TestARecoveryCreatesNoPodThatTheRestrictionsForbid(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassGeneral: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostPID: true}}},
	}
	creates := recovery.Plan{Create: []recovery.Creation{{Pod: "sample-log-1"}}}
	forbidden := objects.TemplateRestrictions{ForbidHostPID: true}
	if err := templatesAllowed(forbidden, c, creates); exit.Code(err) != exit.ExitRefused {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := templatesAllowed(objects.TemplateRestrictions{}, c, creates); err != nil {
		t.Errorf("without restrictions: %v", err)
	}
	if err := templatesAllowed(forbidden, c, recovery.Plan{}); err != nil {
		t.Errorf("without a pod to create: %v", err)
	}
}
