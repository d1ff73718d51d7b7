package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ReadPlan reads the file of --plan.
func ReadPlan(path string) (*planned.ApprovedPlan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("reading the plan: %w", err))
	}
	p, err := planned.ReadPlan(text)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("%s is not a valid plan: %w", path, err), "plans are printed by --dry-run -o json of the same command")
	}
	return p, nil
}

// adopt makes an approved plan the approval of the passes, once it is verified to be of this
// command and resource.
func (p *Passes) adopt(approved *planned.ApprovedPlan, key types.NamespacedName) error {
	of, name := approved.Metadata, p.Change.Record.Named(key).Name
	switch {
	case of.Cluster != name || of.Namespace != key.Namespace:
		return exit.Usagef("plan %s is for %s in namespace %s, not for %s in namespace %s (nothing was changed)", p.Plan, inFull(of.Cluster), of.Namespace, inFull(name), key.Namespace)
	case approved.Command[0] != p.Words[0]:
		return exit.Usagef("plan %s is for the command %s, not for %s (nothing was changed)", p.Plan, approved.Command[0], p.Words[0])
	}
	p.Seed = approved.SeedNumber()
	p.Approved.addFile(approved)
	return nil
}

// inFull returns the name in a document as text: a cluster has no prefix there.
func inFull(named string) string {
	if strings.Contains(named, "/") {
		return named
	}
	return "cluster " + named
}

// confirmPlan verifies that the cluster state is unchanged since the plan was approved, and
// without --yes prompts for confirmation.
func (p *Passes) confirmPlan(ctx context.Context, approved *planned.ApprovedPlan) error {
	view, done, err := p.Preview(ctx)
	if err != nil {
		return err
	}
	if failed := done.Outcome == reconcile.Failed || done.Stopped != nil; failed {
		return p.showView(view, done)
	}
	if view.Observed.UID != approved.Observed.UID {
		return exit.Usagef("plan %s is for another %s %s: one in another Kubernetes cluster, or one that was deleted since (nothing was changed)", p.Plan, p.noun(), p.Key.Name)
	}
	if err := p.compare(ctx, approved, view); err != nil {
		return err
	}
	switch {
	case !p.LosesData(view) && p.agreed():
		return nil
	case p.LosesData(view) && p.agreedByName():
		p.Approved.Named = &p.Seen
		return nil
	case !p.Env.Prompt().CanBeAsked():
		return p.unnamed()
	}
	if err := p.showView(view, done); err != nil || len(view.Items) == 0 {
		return err
	}
	return p.question(ctx, view)
}

// compare refuses if the plan would now be different. Differences caused by the plan itself do
// not count, if the last run that changed the cluster is known to have carried out this plan.
func (p *Passes) compare(ctx context.Context, approved *planned.ApprovedPlan, now planned.PlanView) error {
	differences := approved.Differences(now)
	if len(differences) == 0 {
		return nil
	}
	if approved.OnlyDone(differences) && begunBefore(ctx, p.Env, types.NamespacedName{Namespace: p.Key.Namespace, Name: p.Lease}, approved) {
		p.Env.Logf("resuming plan %s: of %s %d %s done", p.Plan, phrase.Count(len(approved.Items), "action"), len(differences), phrase.Is(len(differences)))
		return nil
	}
	check := plan.Check{ID: plan.CheckPlanCurrent, Question: "is the cluster state the same as when the plan was made?", Evidence: "it has changed (nothing was changed by this run)", Gate: plan.GatePlan}
	return &exit.Error{
		Code: exit.ExitConflict, Err: &reconcile.RefusedError{Check: check}, Differences: differences,
		Hints: []string{p.planAgain("create a new plan")},
	}
}

// begunBefore reports whether the last run that held the Lease carried out the plan. If that is
// unknown, it did not.
func begunBefore(ctx context.Context, e *session.Env, lock types.NamespacedName, approved *planned.ApprovedPlan) bool {
	c, err := e.Client()
	if err != nil {
		return false
	}
	lease := &coordinationv1.Lease{}
	err = c.Get(ctx, lock, lease)
	return err == nil && lease.Annotations[live.AnnotationPlan] == approved.Digest
}

// beyondPlan reports whether the last pass wanted more than an approved plan has.
func (p *Passes) beyondPlan() bool {
	var beyond *reconcile.BeyondPlanError
	return p.Env.Planned != nil && errors.As(p.Last.Stopped, &beyond)
}

// planAgain returns the hint to have another plan approved.
func (p *Passes) planAgain(why string) string {
	return why + ": " + p.Env.Command(slices.Concat(p.Change.Command(), []string{"--dry-run", "-o", "json"})...) + " > " + session.Quoted(p.Plan)
}
