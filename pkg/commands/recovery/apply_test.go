package recovery

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// cluster is an open cluster whose facts cannot be read again.
type cluster struct {
	session.Session
	// gates are answered one after the other, the last one for good.
	gates []plan.Check
	other *reconcile.Operation
	begun bool
}

func (c *cluster) Gates(context.Context, live.GateOptions) ([]plan.Check, error) {
	check := c.gates[0]
	if len(c.gates) > 1 {
		c.gates = c.gates[1:]
	}
	return []plan.Check{check}, nil
}

func (c *cluster) Begin(context.Context) error { c.begun = true; return nil }

func (*cluster) End(context.Context) error { return nil }

func (c *cluster) Operations() reconcile.OperationKeeper { return operations{other: c.other} }

// operations are those of other runs.
type operations struct {
	reconcile.OperationKeeper
	other *reconcile.Operation
}

func (o operations) OtherOperation(context.Context) (*reconcile.Operation, error) {
	return o.other, nil
}
func (operations) RefuseBesideOthers()                                               {}
func (operations) SetOperation(reconcile.Operation)                                  {}
func (operations) RenewOperation(context.Context, reconcile.OperationProgress) error { return nil }
func (operations) EndOperation(context.Context) error                                { return nil }

// environment is that of a user who types an answer; empty without a terminal.
func environment(t *testing.T, state, typed string, out io.Writer) *session.Env {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := authorizationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			if rules, is := o.(*authorizationv1.SelfSubjectRulesReview); is {
				rules.Status.ResourceRules = []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
			}
			return nil
		},
	}).Build()
	return &session.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(typed), Out: out, ErrOut: out}, Kube: genericclioptions.NewConfigFlags(false),
		Clock: clock.RealClock{}, Holder: "ann@laptop process 1", RunID: "run1", Getenv: func(string) string { return state }, Random: func() uint64 { return 1 },
		IsTerminal: func(any) bool { return typed != "" }, Client: func() (client.Client, error) { return api, nil },
		Connect: func(context.Context, types.NamespacedName) (session.Session, error) {
			return nil, errors.New("no answer")
		},
	}
}

// What is refused is refused before the Lease, and so before the first step.
func TestARecoveryBeginsOnlyWhileItMay(t *testing.T) {
	passes := plan.Check{ID: plan.CheckNoOperator, Gate: plan.GateOperator, OK: true}
	refuses := plan.Check{ID: plan.CheckNoOperator, Gate: plan.GateOperator}
	tests := map[string]struct {
		given cluster
		typed string
		want  int
		begun bool
	}{
		"nothing is in the way":                        {given: cluster{gates: []plan.Check{passes}}, typed: "y\n", want: exit.ExitInternal, begun: true},
		"an operator runs":                             {given: cluster{gates: []plan.Check{refuses}}, typed: "y\n", want: exit.ExitRefused},
		"an operator was started while a prompt waits": {given: cluster{gates: []plan.Check{passes, refuses}}, typed: "y\n", want: exit.ExitRefused},
		"another run carries out an operation":         {given: cluster{gates: []plan.Check{passes}, other: &reconcile.Operation{ID: "run0"}}, typed: "y\n", want: exit.ExitConflict},
		"the user declines":                            {given: cluster{gates: []plan.Check{passes}}, typed: "n\n", want: exit.ExitUnconfirmed},
		"without a terminal":                           {given: cluster{gates: []plan.Check{passes}}, want: exit.ExitUnconfirmed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			env := environment(t, t.TempDir(), tc.typed, &out)
			p := recovery.Plan{Cluster: "sample", Namespace: "fdb", Steps: []recovery.Step{recovery.StepStatus}}
			o := applyOptions{ChangeFlags: apply.ChangeFlags{DryRun: apply.DryRunNone, Plan: "recovery.json"}}
			err := apply.CarryOut(t.Context(), env, types.NamespacedName{Namespace: "fdb", Name: "sample"}, o.change(env, reading{session: &tc.given}, p))
			if exit.Code(err) != tc.want || tc.given.begun != tc.begun {
				t.Errorf("exit code %d, want %d, begun: %t: %v", exit.Code(err), tc.want, tc.given.begun, err)
			}
			if known, is := errors.AsType[*exit.Error](err); tc.begun && (!is || len(known.Hints) != 1 || !strings.HasPrefix(known.Hints[0], "continue with the same plan: kubectl fdb recover apply sample --plan recovery.json")) {
				t.Errorf("%+v", err)
			}
		})
	}
}

func TestARecoveryRequiresAnAuditFileThatCanBeContinued(t *testing.T) {
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "kubectl-fdb", "audit.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &cluster{gates: []plan.Check{{OK: true}}}
	env := environment(t, state, "", io.Discard)
	o := applyOptions{ChangeFlags: apply.ChangeFlags{DryRun: apply.DryRunNone, Plan: "recovery.json", Yes: true}}
	p := recovery.Plan{Cluster: "sample", Namespace: "fdb", Steps: []recovery.Step{recovery.StepStatus}}
	err := apply.CarryOut(t.Context(), env, types.NamespacedName{Namespace: "fdb", Name: "sample"}, o.change(env, reading{session: c}, p))
	if refused, is := errors.AsType[*reconcile.RefusedError](err); !is || refused.Check.Gate != plan.GateAudit || c.begun {
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
