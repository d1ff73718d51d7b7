package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
)

// run runs the steps that are left, and reports how the run ended.
func (r *runner) run(ctx context.Context) error {
	if err := r.mayStart(ctx); err != nil {
		return err
	}
	r.progress.Approved = r.progress.Approved || r.unapproved() > 0
	if err := r.store.write(ctx, r.progress); err != nil {
		return unwritable(err)
	}
	r.Logf("%s: %s, state %s", r.book.Metadata.Name, phrase.Count(len(r.book.Steps), "step"), r.store.name())
	stop := r.store.hold(ctx, r.Clock)
	ended := r.steps(ctx)
	stop()
	return r.finish(ctx, ended)
}

// unwritable returns the error of a state that cannot be written before the first step.
func unwritable(err error) error {
	if exit.Code(err) != exit.ExitInternal {
		return err // it has a code of its own
	}
	return exit.Usage(err)
}

// steps runs steps until none is left, or the invocation has to end.
func (r *runner) steps(ctx context.Context) error {
	ctx, cancel := session.WithTimeout(ctx, r.Clock, time.Duration(r.book.Timeout))
	defer cancel()
	for {
		move := r.book.Next(r.progress)
		if move.Result == nil {
			return nil
		}
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, ctx.Err())
		}
		if move.After > 0 {
			if err := r.Env.Waiting().Pause(ctx, move.After, "the next attempt of step "+move.Step.Name); err != nil {
				return err
			}
		}
		if err := r.runStep(ctx, move); err != nil {
			return err
		}
	}
}

// number returns the position of a step: "2/6".
func (r *runner) number(m runbook.Move) string {
	if m.Compensates {
		return "revert"
	}
	for i := range r.book.Steps {
		if &r.book.Steps[i] == m.Step {
			return fmt.Sprintf("%d/%d", i+1, len(r.book.Steps))
		}
	}
	return phrase.UnknownCell
}

// announce prints that a step begins.
func (r *runner) announce(m runbook.Move) {
	r.Logf("[%s] %s: %s", r.number(m), m.Step.Name, runbooks.What(*m.Result, m.Step))
}

// conclude prints how a step ended, and what follows.
func (r *runner) conclude(m runbook.Move, e end, action runbook.Action) {
	line := fmt.Sprintf("[%s] %s: %s", r.number(m), m.Step.Name, runbooks.Ended(*m.Result))
	if e.outside {
		line += ": " + e.message
	}
	if action != runbook.Continue {
		line += "; " + string(action)
	}
	r.Logf("%s", line)
}

// finish notes the end of the invocation, writes reports, and returns the error that determines the exit
// code.
func (r *runner) finish(ctx context.Context, cause error) error {
	err := r.verdict(cause)
	code, at := exit.Code(err), r.Clock.Now().UTC()
	r.progress.ExitCode, r.progress.EndedAt = &code, &at
	written := errors.Join(r.store.write(ctx, r.progress), r.writeReports())
	report := runbooks.NewReport(r.Metadata(r.Run.About), r.Clock.Now(), *r.progress, r.store.name())
	printed := r.Print(r.Out, format.Printable{
		Document: report, Names: []string{"runbook/" + r.progress.Runbook},
		Table: func(w io.Writer) error { return runbooks.WriteReport(w, report, ui.Table{NoHeaders: r.NoHeaders}) },
	})
	if err == nil {
		return errors.Join(written, printed)
	}
	if problem := errors.Join(written, printed); problem != nil {
		r.Logf("error: %v", problem)
	}
	return err
}

// verdict returns the error of the run: the cause that ended the invocation, or the step that failed.
func (r *runner) verdict(cause error) error {
	resume := []string{r.Command("run", r.source.Name, "--state", r.store.name())}
	if cause != nil {
		return &exit.Error{Code: exit.Code(cause), Err: fmt.Errorf("the run of %s has not ended: %w", r.progress.Runbook, cause), Hints: resume}
	}
	if r.progress.Outcome == runbook.Succeeded {
		return nil
	}
	if r.progress.Outcome == runbook.Compensated {
		failure := r.progress.FailedStep()
		return &exit.Error{Code: *failure.ExitCode, Err: fmt.Errorf("step %s ended with exit code %d; %s reverted", failure.Name, *failure.ExitCode, phrase.Count(len(r.progress.Compensations), "step")+" "+phrase.Either(len(r.progress.Compensations), "was", "were"))}
	}
	failure := r.progress.Failure()
	if len(r.progress.Compensations) > 0 {
		return &exit.Error{Code: exit.ExitPartly, Err: fmt.Errorf("revert step %s: exit code %d", failure.Name, *failure.ExitCode), Hints: resume}
	}
	if failure.Kind == runbook.KindApprove && *failure.ExitCode == exit.ExitUnconfirmed {
		if digest, err := r.toApprove(&r.book.Steps[r.indexOf(failure.Name)]); err == nil {
			resume = []string{r.Command("run", r.source.Name, "--state", r.store.name(), "--approve", failure.Name+"="+digest)}
		}
		return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("step %s is not approved", failure.Name), Hints: resume}
	}
	return &exit.Error{Code: *failure.ExitCode, Err: fmt.Errorf("step %s ended with exit code %d", failure.Name, *failure.ExitCode), Hints: resume}
}

func (r *runner) indexOf(name string) int {
	for i := range r.book.Steps {
		if r.book.Steps[i].Name == name {
			return i
		}
	}
	return -1
}

// The ways in which an approval is given.
const (
	byPrompt = "prompt"
	byDigest = "digest"
)

// mayStart asks for approval of the steps that change something before any approval of the runbook.
func (r *runner) mayStart(ctx context.Context) error {
	n := r.unapproved()
	if n == 0 || r.progress.Approved || r.yes {
		return nil
	}
	if !r.Prompt().Interactive() {
		return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("stdin is not a terminal, and %s without an approval of the runbook: use --yes to confirm (nothing was changed)",
			phrase.Count(n, "step")+" "+phrase.Either(n, "makes changes", "make changes"))}
	}
	return r.Prompt().Confirm(ctx, fmt.Sprintf("Run %s that %s changes?", phrase.Count(n, "step"), phrase.Either(n, "makes", "make")))
}

// unapproved counts the steps before the first approval that make changes, or whose compensation does.
func (r *runner) unapproved() int {
	n := 0
	for i := range r.book.Steps {
		s := &r.book.Steps[i]
		if s.Approve != nil {
			break
		}
		if r.book.Traits[s.Name].Changes || r.book.Compensations[s.Name].Changes {
			n++
		}
	}
	return n
}

// approve requires the approval of a step: by the digest of --approve, or by the user.
func (r *runner) approve(ctx context.Context, m runbook.Move) end {
	digest, err := r.toApprove(m.Step)
	if err != nil {
		return failed(err)
	}
	m.Result.Digest = digest
	who, _ := runbook.Arguments{m.Step.Approve.Who}.Expand(r.progress.Values)
	approval := &runbook.Approved{Who: m.Step.Approve.Who, By: r.Holder, Digest: digest, How: byDigest}
	if len(who) == 1 {
		approval.Who = who[0]
	}
	given, signed := r.approved[m.Step.Name]
	switch {
	case signed && given != digest:
		return failed(&exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("the approved digest is %s, and the digest of step %s is %s", given, m.Step.Name, digest)})
	case signed:
	case !r.Prompt().Interactive():
		return failed(&exit.Error{Code: exit.ExitUnconfirmed, Err: errors.New("stdin is not a terminal: approve with --approve " + m.Step.Name + "=" + digest)})
	default:
		approval.How = byPrompt
		if err := r.Prompt().Confirm(ctx, fmt.Sprintf("Approval of %s is required (digest %s). Approve?", approval.Who, digest)); err != nil {
			return failed(err)
		}
	}
	m.Result.Approval = approval
	r.progress.Approved = true
	return end{}
}

// toApprove returns the digest of what a step approves.
func (r *runner) toApprove(s *runbook.Step) (string, error) {
	if s.Approve.Plan == "" {
		return runbook.ApprovalDigest(r.digest, r.variables), nil
	}
	for i := range r.book.Steps {
		if r.book.Steps[i].Save != s.Approve.Plan {
			continue
		}
		saved := r.progress.Steps[i].Saved
		if saved == nil {
			break
		}
		text, err := r.savedText(saved)
		if err != nil {
			return "", err
		}
		return planDigest(text)
	}
	return "", exit.Usagef("the plan %q of step %s was not saved", s.Approve.Plan, s.Name)
}

// planDigest returns the digest of a plan: that of its forecast, which covers all passes, if it has one.
func planDigest(text []byte) (string, error) {
	var plan struct {
		Digest   string `json:"digest"`
		Forecast *struct {
			Digest string            `json:"digest"`
			Phases []json.RawMessage `json:"phases"`
		} `json:"forecast"`
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		return "", exit.Usage(fmt.Errorf("read plan: %w", err))
	}
	digest := plan.Digest // a forecast without phases covers no item
	if plan.Forecast != nil && len(plan.Forecast.Phases) > 0 && plan.Forecast.Digest != "" {
		digest = plan.Forecast.Digest
	}
	if digest == "" {
		return "", exit.Usagef("the plan has no digest: save the output of a command with --dry-run -o json")
	}
	return digest, nil
}

// sameClusters refuses to continue a run if a cluster of its steps was recreated since: what is done was done to another one.
func (r *runner) sameClusters(ctx context.Context) error {
	switch p := r.progress; {
	case !p.Ran():
		return nil
	case p.Clusters == nil && r.unknown == "":
		return &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("the state %s is of an older release and has no UIDs: whether the clusters are those with which the run began is unknown", r.store.name()), Hints: []string{
			"check that, then repeat steps whose outcome is unknown: " + r.decided(unknownRepeat), "or continue after them: " + r.decided(unknownDone),
		}}
	case p.Clusters == nil:
		p.Clusters = map[string]string{}
	}
	if len(r.progress.Clusters) == 0 {
		return nil
	}
	c, err := r.Client()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.progress.Clusters)) {
		cluster, err := r.Read(ctx, c, keyOf(name))
		if err != nil {
			return err
		}
		if err := r.sameAs(cluster); err != nil {
			return err
		}
	}
	return nil
}

// sameAs fails for another cluster than the one of this name with which the run began.
func (r *runner) sameAs(cluster *session.Cluster) error {
	before, known := r.progress.Clusters[nameOf(cluster)]
	if !known || types.UID(before) == cluster.UID {
		return nil
	}
	return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("FoundationDBCluster %s in namespace %s was deleted and recreated since the run began: its state %s is about another one",
		cluster.Name, cluster.Namespace, r.store.name()), Hints: []string{"begin again without --state"}}
}

// found keeps the UID of a cluster before a step does anything with it, and refuses another one of the same name.
func (r *runner) found(ctx context.Context, cluster *session.Cluster) error {
	if err := r.sameAs(cluster); err != nil {
		r.another = err
		return err
	}
	if _, known := r.progress.Clusters[nameOf(cluster)]; known {
		return nil
	}
	r.progress.Clusters[nameOf(cluster)] = string(cluster.UID)
	return r.store.write(ctx, r.progress)
}

func nameOf(cluster *session.Cluster) string { return cluster.Namespace + "/" + cluster.Name }

func keyOf(name string) types.NamespacedName {
	namespace, cluster, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: cluster}
}
