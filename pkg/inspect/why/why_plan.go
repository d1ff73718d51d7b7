package why

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// failures returns the chains of stages that could not decide.
func (w *why) failures() []Chain {
	var chains []Chain
	texts := w.Plan.Pass.FailuresBeside(w.Plan.Refused()) // the actions that a gate blocks report it
	if stopped := w.Plan.Pass.StoppedBeside(); stopped != "" {
		texts = append(texts, stopped)
	}
	for _, text := range texts {
		chains = append(chains, Chain{
			Subjects: []string{w.subject}, State: Blocked, rank: rankFailure, Summary: "could not be read completely",
			Reasons: []Link{{Message: text}}, Next: []string{w.FDB("plan", w.name)},
		})
	}
	return chains
}

// holds returns the chains of stages that wait for something that no process group's chain has.
func (w *why) holds() []Chain {
	var chains []Chain
	for _, h := range w.Plan.Holds {
		if w.reported[h.Stage] || h.Stage == plan.StageUpdateStatus || w.comesTrue(h) {
			continue
		}
		w.reported[h.Stage] = true
		c := Chain{Subjects: []string{w.subject}, Summary: "is not reconciled", Reasons: []Link{w.held(h)}}
		c.judgeHold(h)
		c.Next = append(w.inspections(c.Reasons), w.nextFor(h)...)
		chains = append(chains, c)
	}
	return chains
}

// unreached returns a link for a stage that a pass would not reach: an earlier one ends the
// pass, and the next pass observes its changes.
func (w *why) unreached(stage plan.StageName) (Link, bool) {
	if w.Plan.Decided == nil || slices.Contains(w.Plan.Decided, stage) {
		return Link{}, false
	}
	last := w.Plan.Decided[len(w.Plan.Decided)-1]
	for _, h := range w.Plan.Holds {
		if h.Stage == last {
			return Link{Stage: stage, Message: fmt.Sprintf("the next pass ends before this stage, at %s: %s", last, inspect.OneLine(h.Reason)), key: "unreached " + string(last)}, true
		}
	}
	return Link{Stage: stage, Message: fmt.Sprintf("the next pass ends before this stage, after %s", last), key: "unreached " + string(last)}, true
}

// comesTrue reports whether a hold is provisional: earlier stages have actions, after which it
// is decided again.
func (w *why) comesTrue(h planned.PlanHold) bool {
	return len(h.Provisional) > 0 && len(w.Plan.Items) > 0 && len(w.Plan.Refused()) == 0 && !h.ManualIntervention
}

func (c *Chain) judgeHold(h planned.PlanHold) {
	c.State, c.rank, c.RetryAfterSeconds = Waiting, rankWaiting, h.RetryAfterSeconds
	switch {
	case h.ManualIntervention:
		c.State, c.rank = Blocked, rankBlocked
	case h.Follows:
		c.rank = rankDegraded // the cause comes first
	}
}

// nextFor returns a command that waits, or shows the plan where manual intervention is required.
func (w *why) nextFor(h planned.PlanHold) []string {
	if h.ManualIntervention {
		return append(w.patchesFor(h), w.FDB("plan", w.name, "-o", "wide"))
	}
	return []string{w.FDB("reconcile", w.name, "--wait")}
}

// held returns the link of a hold, with the checks that refused and the reasons behind them.
func (w *why) held(h planned.PlanHold) Link {
	l := Link{Stage: h.Stage, Message: inspect.OneLine(h.Reason), key: h.Key()}
	for _, c := range h.Refused { // the link shows the checks, so the reason does not repeat them
		l.Message = inspect.OneLine(phrase.Or(h.Brief, h.Reason))
		l.Reasons = append(l.Reasons, w.refused(c, nil))
	}
	return l
}

// refused returns the link of a check that refused. Counts selects the process groups that can
// be the reason; nil selects all.
func (w *why) refused(c plan.Check, counts func(*v1beta2.ProcessGroupStatus) bool) Link {
	l := Link{Gate: c.Gate, Have: phrase.Or(c.Have, c.Evidence), Need: phrase.Or(c.Need, c.Question), Message: c.Text(), key: c.Key() + " " + c.Have, check: c}
	if w.Cluster == nil || w.Database.Status != nil && !w.Database.Available() {
		return l // the database's own chain has the reason
	}
	if slices.Contains([]plan.Gate{plan.GateAvailable, plan.GateBudget, plan.GateReplicas, plan.GateConfig, plan.GateCoord, plan.GateDD}, c.Gate) {
		l.Reasons = w.problems(counts)
	}
	return l
}

// about marks a refusal that is about one process group, so that it joins those about others.
func (l Link) about(g *v1beta2.ProcessGroupStatus) Link {
	if id := string(g.ProcessGroupID); l.check.Subject == id {
		l.key, l.own = string(l.check.ID)+" "+l.check.Have, true
	}
	return l
}

// actionsBeside returns the chain of what a pass would do now: blocked by a gate, by an
// operation, by the holder of the Lease or the lock, or by nothing.
//
// Actions that only record observations are reported only without other chains, and bookkeeping never.
// In an outage only those are that create what may be missing.
func (w *why) actionsBeside(others []Chain) []Chain {
	items := w.items()
	if planned.WorkOf(items) == 0 || (len(others) > 0 && onlyResources(items)) || (w.outage != nil && bringsNothingBack(items)) {
		return nil
	}
	c := Chain{
		Subjects: []string{w.subject}, State: Ready, rank: rankReady,
		Summary: fmt.Sprintf("has %s pending (%s)", phrase.Count(len(items), "action"), phrase.Some(kindsOf(items), inspect.MostNamed)),
		Next:    []string{w.FDB("reconcile", w.name)},
	}
	for _, keep := range []func([]planned.PlanItem, *Chain) bool{w.byGates, w.byOperation, w.byLease, w.byLock, w.byRefusals} {
		if keep(items, &c) {
			return []Chain{c}
		}
	}
	c.Reasons = []Link{{Message: w.unblocked(items)}}
	return []Chain{c}
}

// unblocked returns what a pass that nothing blocks will do. Whether one has run since the actions became
// pending is recorded nowhere.
func (w *why) unblocked(items []planned.PlanItem) string {
	switch {
	case w.Cluster != nil && w.Cluster.Spec.Skip:
		return "spec.skip is true, so operators skip the cluster; nothing blocks a pass"
	case onlyResources(items):
		return "nothing blocks the next pass, which will only " + items[0].Summary
	default:
		return "nothing blocks the next pass"
	}
}

func onlyResources(items []planned.PlanItem) bool {
	records := []plan.StageName{plan.StageUpdateStatus, plan.StageUpdateBackupStatus, plan.StageUpdateRestoreStatus}
	return !slices.ContainsFunc(items, func(i planned.PlanItem) bool { return !slices.Contains(records, i.Stage) })
}

// items returns the actions that the report is about.
func (w *why) items() []planned.PlanItem {
	if len(w.Only) == 0 {
		return w.Plan.Items
	}
	var about []planned.PlanItem
	for _, item := range w.Plan.Items {
		if slices.ContainsFunc(w.Only, func(id v1beta2.ProcessGroupID) bool { return slices.Contains(item.Groups, string(id)) }) {
			about = append(about, item)
		}
	}
	return about
}

func kindsOf(items []planned.PlanItem) []string {
	var kinds []string
	for _, item := range items {
		if !slices.Contains(kinds, item.Kind) {
			kinds = append(kinds, item.Kind)
		}
	}
	return kinds
}

func (w *why) byGates(_ []planned.PlanItem, c *Chain) bool {
	for _, check := range w.Plan.Refused() {
		c.State, c.rank = Blocked, rankBlocked
		c.Reasons = append(c.Reasons, w.refused(check, nil))
		c.Next = []string{w.FDB("plan", w.name, "--coexist", "-o", "wide")}
	}
	return len(c.Reasons) > 0
}

// byOperation leaves what is pending to the operation of another run, or of this user elsewhere.
func (w *why) byOperation(_ []planned.PlanItem, c *Chain) bool {
	o := w.operation()
	if o == nil {
		return false
	}
	c.State, c.rank = Waiting, rankWaiting
	c.Reasons = []Link{{Message: "an operation is active: " + o.Text()}}
	c.Next = []string{w.FDB("operations", "follow", w.name)}
	return true
}

// operation returns the active operation on the cluster; nil for none, and for other resources.
func (w *why) operation() *inspect.OperationView {
	if o := w.Lease.View(); o != nil && o.Active && w.subject == subjectCluster {
		return o
	}
	return nil
}

func (w *why) byLease(_ []planned.PlanItem, c *Chain) bool {
	holder := w.Lease.HeldAt(w.Now)
	if holder == "" {
		return false
	}
	c.State, c.rank, c.RetryAfterSeconds = Waiting, rankWaiting, inspect.InSeconds(w.Lease.Until.Sub(w.Now))
	c.Reasons = []Link{w.refused(w.LeaseFree(), nil)}
	c.Next = []string{w.FDB("reconcile", w.name, "--wait")}
	return true
}

// byLock checks the database's lock, which a pass takes right before it needs it.
func (w *why) byLock(items []planned.PlanItem, c *Chain) bool {
	if !slices.ContainsFunc(items, func(i planned.PlanItem) bool { return i.Preconditions.Lock }) {
		return false
	}
	check, missing := safety.LockFree(w.Snapshot)
	if check.OK {
		return false
	}
	c.State, c.rank, c.Next = Blocked, rankBlocked, []string{w.Kubectl("get", "fdb", w.name, "-o", "jsonpath={.spec.lockOptions}")}
	if missing > 0 {
		c.State, c.rank, c.Next = Waiting, rankWaiting, []string{w.FDB("reconcile", w.name, "--wait")}
		c.RetryAfterSeconds = inspect.InSeconds(missing)
	}
	c.Reasons = []Link{w.refused(check, nil)}
	return true
}

// wasRefused adds that the API server did not accept the object of an action when a pass wrote it last: the next
// pass only tries again.
func (w *why) wasRefused(c *Chain, item planned.PlanItem) bool {
	r, refused := plan.RefusalOf(item.Details, w.Refusals())
	if !refused {
		return false
	}
	c.judgeRefusal(r)
	c.Reasons = append([]Link{w.refusedObject(r)}, c.Reasons...) // before the symptom that the pod does not exist
	c.Next = append(c.Next, w.nextAfter(r)...)
	return true
}

// byRefusals leaves what is pending to the rules that did not accept it.
func (w *why) byRefusals(items []planned.PlanItem, c *Chain) bool {
	var all []plan.Refusal
	for _, item := range items {
		if r, refused := plan.RefusalOf(item.Details, w.Refusals()); refused {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return false
	}
	c.Next = nil
	for _, r := range plan.ByRule(all) {
		c.judgeRefusal(r)
		c.Reasons = append(c.Reasons, w.refusedObject(r))
		c.Next = append(c.Next, w.nextAfter(r)...)
	}
	return true
}

func (c *Chain) judgeRefusal(r plan.Refusal) {
	if c.State != Blocked {
		c.State, c.rank = Waiting, rankBlocked
	}
	if !r.Waits() {
		c.State, c.rank = Blocked, rankBlocked
	}
}

// refusedObject returns the link of a refusal, which is the same for all objects that one rule refused.
func (w *why) refusedObject(r plan.Refusal) Link {
	return Link{
		Message: r.Rule() + " has refused it for " + phrase.Duration(w.Now.Sub(r.Since)) + ": " + inspect.OneLine(r.Message) + "; " + r.Remedy(),
		key:     "refused " + string(r.Kind) + " " + r.By,
	}
}

// nextAfter returns the commands that show the rule, and whether it still refuses.
func (w *why) nextAfter(r plan.Refusal) []string {
	again := w.FDB("reconcile", w.name, "--dry-run=server")
	switch r.Kind {
	case plan.RefusedByQuota, plan.RefusedByQuotaValues:
		return []string{w.Kubectl("describe", "resourcequotas"), again}
	case plan.RefusedByLimitRange:
		return []string{w.Kubectl("describe", "limitranges"), again}
	case plan.RefusedByPodSecurity, plan.RefusedByPolicy, plan.RefusedAsInvalid, plan.RefusedByNamespace:
	}
	return []string{again}
}
