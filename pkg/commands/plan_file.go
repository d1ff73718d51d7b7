package commands

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
)

// readPlan reads the file of --plan.
func readPlan(path string) (*planned.ApprovedPlan, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a path given by the user
	if err != nil {
		return nil, usage(fmt.Errorf("reading the plan: %w", err))
	}
	p, err := planned.ReadPlan(text)
	if err != nil {
		return nil, usage(fmt.Errorf("%s is not a valid plan: %w", path, err), "plans are printed by --dry-run -o json of the same command")
	}
	return p, nil
}

// planDigest returns the digest of the approved plan; empty without one.
func (e *Env) planDigest() string {
	if e.planned == nil {
		return ""
	}
	return e.planned.Digest
}

// adopt makes an approved plan the approval of the passes, once it is verified to be of this
// command and resource.
func (p *passes) adopt(approved *planned.ApprovedPlan, key types.NamespacedName) error {
	of, name := approved.Metadata, p.change.record.named(key).Name
	switch {
	case of.Cluster != name || of.Namespace != key.Namespace:
		return usagef("plan %s is for %s in namespace %s, not for %s in namespace %s (nothing was changed)", p.plan, inFull(of.Cluster), of.Namespace, inFull(name), key.Namespace)
	case approved.Command[0] != p.words[0]:
		return usagef("plan %s is for the command %s, not for %s (nothing was changed)", p.plan, approved.Command[0], p.words[0])
	}
	p.seed = approved.SeedNumber()
	p.approved.addFile(approved)
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
func (p *passes) confirmPlan(ctx context.Context, approved *planned.ApprovedPlan) error {
	view, done, err := p.preview(ctx)
	if err != nil {
		return err
	}
	if failed := done.Outcome == reconcile.Failed || done.Stopped != nil; failed {
		return p.showView(view, done)
	}
	if view.Observed.UID != approved.Observed.UID {
		return usagef("plan %s is for another %s %s: one in another Kubernetes cluster, or one that was deleted since (nothing was changed)", p.plan, p.noun(), p.key.Name)
	}
	if err := p.compare(ctx, approved, view); err != nil {
		return err
	}
	switch {
	case !p.losesData(view) && p.agreed():
		return nil
	case p.losesData(view) && p.agreedByName():
		p.approved.named = &p.seen
		return nil
	case !p.env.canBeAsked():
		return p.unnamed()
	}
	if err := p.showView(view, done); err != nil || len(view.Items) == 0 {
		return err
	}
	return p.question(ctx, view)
}

// compare refuses if the plan would now be different. Differences caused by the plan itself do
// not count, if the last run that changed the cluster is known to have carried out this plan.
func (p *passes) compare(ctx context.Context, approved *planned.ApprovedPlan, now planned.PlanView) error {
	differences := approved.Differences(now)
	if len(differences) == 0 {
		return nil
	}
	if approved.OnlyDone(differences) && p.env.begunBefore(ctx, types.NamespacedName{Namespace: p.key.Namespace, Name: p.lease}, approved) {
		p.env.logf("resuming plan %s: of %s %d %s done", p.plan, phrase.Count(len(approved.Items), "action"), len(differences), phrase.Is(len(differences)))
		return nil
	}
	check := plan.Check{ID: plan.CheckPlanCurrent, Question: "is the cluster state the same as when the plan was made?", Evidence: "it has changed (nothing was changed by this run)", Gate: plan.GatePlan}
	return &failure{
		code: ExitConflict, err: &reconcile.RefusedError{Check: check}, differences: differences,
		hints: []string{p.planAgain("create a new plan")},
	}
}

// begunBefore reports whether the last run that held the Lease carried out the plan. If that is
// unknown, it did not.
func (e *Env) begunBefore(ctx context.Context, lock types.NamespacedName, approved *planned.ApprovedPlan) bool {
	c, err := e.Client()
	if err != nil {
		return false
	}
	lease := &coordinationv1.Lease{}
	err = c.Get(ctx, lock, lease)
	return err == nil && lease.Annotations[live.AnnotationPlan] == approved.Digest
}

// beyondPlan reports whether the last pass wanted more than an approved plan has.
func (p *passes) beyondPlan() bool {
	var beyond *reconcile.BeyondPlanError
	return p.env.planned != nil && errors.As(p.last.Stopped, &beyond)
}

// planAgain returns the hint to have another plan approved.
func (p *passes) planAgain(why string) string {
	return why + ": " + p.env.command(slices.Concat(p.change.command(), []string{"--dry-run", "-o", "json"})...) + " > " + quoted(p.plan)
}
