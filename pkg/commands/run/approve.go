package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
