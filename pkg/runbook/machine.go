package runbook

import (
	"time"
)

// Move is what comes next in a run.
type Move struct {
	// Result is the step or compensation to run; nil if the run has ended.
	Result *Result
	// Step is the step of the result.
	Step *Step
	// Compensates is true if the step's compensation is to run.
	Compensates bool
	// After is the time to wait before.
	After time.Duration
}

// Next returns what comes next.
func (r *Runbook) Next(p *Progress) Move {
	if p.Outcome != Running {
		return Move{}
	}
	if len(p.Compensations) > 0 {
		for i := range p.Compensations {
			c := &p.Compensations[i]
			if c.Status != Done && c.Status != Failed {
				return Move{Result: c, Step: &r.Steps[r.step(c.Name)], Compensates: true}
			}
		}
		return Move{}
	}
	for i := range p.Steps {
		one := &p.Steps[i]
		if one.Status == Done || one.Status == Skipped {
			continue
		}
		move := Move{Result: one, Step: &r.Steps[i]}
		if one.Attempts > 0 && one.Status == Failed {
			move.After = time.Duration(move.Step.Retry.Every)
		}
		return move
	}
	return Move{}
}

// Start notes that a step begins.
func (m Move) Start(arguments []string, now time.Time) {
	at := now.UTC()
	r := m.Result
	*r = Result{Name: r.Name, Kind: r.Kind, Arguments: arguments, Status: Started, Attempts: r.Attempts + 1, StartedAt: &at}
}

// Interrupt notes that a step was ended by a signal or the time limit of the run. The next
// invocation repeats it.
func (m Move) Interrupt(code int, message string, now time.Time) {
	at := now.UTC()
	m.Result.Status, m.Result.ExitCode, m.Result.Message, m.Result.EndedAt = Interrupted, &code, message, &at
	m.Result.Attempts = 0
}

// End notes the end of a step, and what follows.
func (r *Runbook) End(p *Progress, m Move, code int, message string, now time.Time) Action {
	at := now.UTC()
	m.Result.ExitCode, m.Result.Message, m.Result.EndedAt = &code, message, &at
	if m.Compensates {
		m.Result.Status = Done
		if code != 0 {
			m.Result.Status = Failed
		}
		r.endCompensations(p)
		return Continue
	}
	action := m.Step.ActionAfter(code)
	if action == Again && m.Result.Attempts > m.Step.Retry.Limit {
		action = m.Step.Retry.Then
	}
	switch action {
	case Continue, End:
		m.Result.Status = Done
	default:
		m.Result.Status = Failed
	}
	switch action {
	case End:
		p.skipPending()
	case Stop:
		p.Outcome = Stopped
	case Compensate:
		r.compensate(p)
	case Continue, Again: // the next move is another one
	}
	if r.Next(p).Result == nil && p.Outcome == Running {
		p.Outcome = Succeeded
	}
	return action
}

func (p *Progress) skipPending() {
	for i := range p.Steps {
		if p.Steps[i].Status == Pending {
			p.Steps[i].Status = Skipped
		}
	}
}

// compensate plans to revert the steps that ran, last one first. The step that failed is among them:
// it may have done a part.
func (r *Runbook) compensate(p *Progress) {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		s, ran := &r.Steps[i], p.Steps[i].Status == Done || p.Steps[i].Status == Failed
		if ran && len(s.Compensate) > 0 {
			p.Compensations = append(p.Compensations, Result{Name: s.Name, Kind: KindRun, Status: Pending})
		}
	}
	p.skipPending()
	r.endCompensations(p)
}

// endCompensations ends the run once nothing is left to revert.
func (r *Runbook) endCompensations(p *Progress) {
	if len(p.Compensations) > 0 && r.Next(p).Result != nil {
		return
	}
	p.Outcome = Compensated
	for i := range p.Compensations {
		if p.Compensations[i].Status == Failed {
			p.Outcome = Stopped
		}
	}
}

// Resume makes a stopped run continue at the step that stopped it.
func (p *Progress) Resume() {
	p.Outcome, p.EndedAt, p.ExitCode = Running, nil, nil
	list := p.Steps
	if len(p.Compensations) > 0 {
		list = p.Compensations
	}
	for i := range list {
		if list[i].Status == Failed || list[i].Status == Interrupted {
			list[i].Status, list[i].Attempts = Pending, 0
		}
	}
}

// Failure returns the result that ended the run; nil if none did.
func (p *Progress) Failure() *Result {
	for _, list := range [][]Result{p.Compensations, p.Steps} {
		for i := range list {
			if list[i].Status == Failed || list[i].Status == Interrupted {
				return &list[i]
			}
		}
	}
	return nil
}

// FailedStep returns the step that failed; nil if none did.
func (p *Progress) FailedStep() *Result {
	for i := range p.Steps {
		if p.Steps[i].Status == Failed {
			return &p.Steps[i]
		}
	}
	return nil
}
