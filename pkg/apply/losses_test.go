package apply

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// The TUI requires the typed name, and without a prompt nothing is lost.
func TestTheDashboardRequiresTheTypedNameForDataLoss(t *testing.T) {
	loss := planned.PlanView{Items: []planned.PlanItem{{ActionRecord: inspect.ActionRecord{Impact: plan.DataLoss}}}}
	p := newPasses(Run{Env: &session.Env{}, Key: types.NamespacedName{Name: "nightly"}, ResourceKind: session.BackupKind}, Change{})
	typed := ""
	p.Env.Observer = &session.RunObserver{Agrees: func(_ context.Context, _ planned.PlanView, _, confirm string) error { typed = confirm; return nil }}
	if got := p.Confirms(loss); got != "nightly" {
		t.Errorf("a proposal asks for %q", got)
	}
	if err := p.question(t.Context(), loss); err != nil || typed != "nightly" || p.Approved.Named == nil {
		t.Errorf("a question asks for %q: %v", typed, err)
	}
	if got := p.Confirms(planned.PlanView{}); got != "y" {
		t.Errorf("without a loss it asks for %q", got)
	}
}
