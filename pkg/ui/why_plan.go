package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// failures are the steps that could not decide.
func (w *why) failures() []WhyChain {
	var chains []WhyChain
	texts := slices.Clone(w.Plan.Pass.Failures)
	if stopped := w.Plan.Pass.Stopped; stopped != "" && !slices.Contains(texts, stopped) {
		texts = append(texts, stopped)
	}
	for _, text := range texts {
		if slices.ContainsFunc(w.Plan.Refused(), func(c plan.Check) bool { return checkWords(c) == text }) {
			continue // told of by the actions that it keeps back
		}
		chains = append(chains, WhyChain{
			Subjects: []string{w.subject}, State: WhyBlocked, rank: rankFailure, Summary: "cannot be looked at in full",
			Reasons: []WhyLink{{Message: text}}, Next: []string{w.FDB("plan", w.name)},
		})
	}
	return chains
}

// holds are the steps that wait for something that no process group's chain tells of.
func (w *why) holds() []WhyChain {
	var chains []WhyChain
	for _, h := range w.Plan.Holds {
		if w.told[h.Stage] || h.Stage == plan.StageUpdateStatus || w.comesTrue(h) {
			continue
		}
		w.told[h.Stage] = true
		c := WhyChain{Subjects: []string{w.subject}, Summary: "is not yet as its spec asks", Reasons: []WhyLink{w.held(h)}}
		c.judgeHold(h)
		c.Next = append(w.looks(c.Reasons), w.nextFor(h)...)
		chains = append(chains, c)
	}
	return chains
}

// unreached is for a step that a pass would not come to: an earlier one ends the pass, and
// what that does is looked at by the next.
func (w *why) unreached(step plan.StageName) (WhyLink, bool) {
	if w.Plan.decided == nil || slices.Contains(w.Plan.decided, step) {
		return WhyLink{}, false
	}
	last := w.Plan.decided[len(w.Plan.decided)-1]
	for _, h := range w.Plan.Holds {
		if h.Stage == last {
			return WhyLink{Stage: step, Message: fmt.Sprintf("the next pass ends before this step, at %s: %s", last, oneLine(h.Reason)), key: "unreached " + string(last)}, true
		}
	}
	return WhyLink{Stage: step, Message: fmt.Sprintf("the next pass ends before this step, after %s", last), key: "unreached " + string(last)}, true
}

// comesTrue reports whether a hold is only a guess: earlier steps have something to do,
// and what they do decides on it again.
func (w *why) comesTrue(h PlanHold) bool {
	return len(h.Provisional) > 0 && len(w.Plan.Items) > 0 && len(w.Plan.Refused()) == 0 && !h.ManualIntervention
}

func (c *WhyChain) judgeHold(h PlanHold) {
	c.State, c.rank, c.RetryAfterSeconds = WhyWaiting, rankWaiting, h.RetryAfterSeconds
	switch {
	case h.ManualIntervention:
		c.State, c.rank = WhyBlocked, rankBlocked
	case h.Follows:
		c.rank = rankDegraded // the cause comes first
	}
}

// nextFor waits where time helps, and shows the whole plan where a person has to.
func (w *why) nextFor(h PlanHold) []string {
	if h.ManualIntervention {
		return []string{w.FDB("plan", w.name, "-o", "wide")}
	}
	return []string{w.FDB("reconcile", w.name, "--wait")}
}

// held is a hold with the questions that were answered with no, and who is behind them.
func (w *why) held(h PlanHold) WhyLink {
	l := WhyLink{Stage: h.Stage, Message: oneLine(h.Reason), key: h.key()}
	for _, c := range h.Refused { // the link shows the checks, so the reason does not repeat them
		l.Message = oneLine(phrase.Or(h.Brief, h.Reason))
		l.Reasons = append(l.Reasons, w.refused(c, nil))
	}
	return l
}

// refused is a question that was answered with no. Counts says which process groups can
// be behind it; nil is all.
func (w *why) refused(c plan.Check, counts func(*v1beta2.ProcessGroupStatus) bool) WhyLink {
	l := WhyLink{Gate: c.Gate, Have: phrase.Or(c.Have, c.Evidence), Need: phrase.Or(c.Need, c.Question), Message: c.Words(), key: c.Key() + " " + c.Have, check: c}
	if w.Cluster == nil || w.Database.Status != nil && !w.Database.Available() {
		return l // the database's own chain tells what is behind it
	}
	if slices.Contains([]plan.Gate{plan.GateAvailable, plan.GateBudget, plan.GateReplicas, plan.GateConfig, plan.GateCoord, plan.GateDD}, c.Gate) {
		l.Reasons = w.troubles(counts)
	}
	return l
}

// key identifies a hold: its code, and what it is about.
func (h HoldRecord) key() string { return string(h.Code) + " " + strings.Join(h.Subjects, ",") }

// about marks a refusal that is about one process group, so that it joins those about others.
func (l WhyLink) about(g *v1beta2.ProcessGroupStatus) WhyLink {
	if id := string(g.ProcessGroupID); l.check.Subject == id {
		l.key, l.own = string(l.check.ID)+" "+l.check.Have, true
	}
	return l
}

// actions is the chain of what a pass would do now, if it were run: held up by a gate, by
// whoever holds the Lease or the lock, or by nothing at all.
//
// That something has to be recorded is worth a word only when there are no others.
func (w *why) actions(others bool) []WhyChain {
	items := w.items()
	if len(items) == 0 || (others && onlyRecords(items)) {
		return nil
	}
	c := WhyChain{
		Subjects: []string{w.subject}, State: WhyReady, rank: rankReady,
		Summary: fmt.Sprintf("has %s to be done (%s)", phrase.Count(len(items), "action"), phrase.Some(kindsOf(items), mostNamed)),
		Next:    []string{w.FDB("reconcile", w.name)},
	}
	for _, keep := range []func([]PlanItem, *WhyChain) bool{w.byGates, w.byLease, w.byLock} {
		if keep(items, &c) {
			return []WhyChain{c}
		}
	}
	c.Reasons = []WhyLink{{Message: "nothing keeps a pass from doing that; nobody has run one"}}
	if w.Cluster != nil && w.Cluster.Spec.Skip {
		c.Reasons = []WhyLink{{Message: "spec.skip is true, so an operator leaves the cluster alone; nothing keeps a pass from doing that"}}
	}
	return []WhyChain{c}
}

func onlyRecords(items []PlanItem) bool {
	records := []plan.StageName{plan.StageUpdateStatus, plan.StageUpdateBackupStatus, plan.StageUpdateRestoreStatus}
	return !slices.ContainsFunc(items, func(i PlanItem) bool { return !slices.Contains(records, i.Stage) })
}

// items are the actions that are asked about.
func (w *why) items() []PlanItem {
	if len(w.Only) == 0 {
		return w.Plan.Items
	}
	var about []PlanItem
	for _, item := range w.Plan.Items {
		if slices.ContainsFunc(w.Only, func(id v1beta2.ProcessGroupID) bool { return slices.Contains(item.Groups, string(id)) }) {
			about = append(about, item)
		}
	}
	return about
}

func kindsOf(items []PlanItem) []string {
	var kinds []string
	for _, item := range items {
		if !slices.Contains(kinds, item.Kind) {
			kinds = append(kinds, item.Kind)
		}
	}
	return kinds
}

func (w *why) byGates(_ []PlanItem, c *WhyChain) bool {
	for _, check := range w.Plan.Refused() {
		c.State, c.rank = WhyBlocked, rankBlocked
		c.Reasons = append(c.Reasons, w.refused(check, nil))
		c.Next = []string{w.FDB("plan", w.name, "--coexist", "-o", "wide")}
	}
	return len(c.Reasons) > 0
}

func (w *why) byLease(_ []PlanItem, c *WhyChain) bool {
	holder := w.Lease.heldAt(w.Now)
	if holder == "" {
		return false
	}
	c.State, c.rank, c.RetryAfterSeconds = WhyWaiting, rankWaiting, inSeconds(w.Lease.Until.Sub(w.Now))
	c.Reasons = []WhyLink{w.refused(w.LeaseFree(), nil)}
	c.Next = []string{w.FDB("reconcile", w.name, "--wait")}
	return true
}

// byLock is about the database's lock, which a pass takes right before it needs it.
func (w *why) byLock(items []PlanItem, c *WhyChain) bool {
	if !slices.ContainsFunc(items, func(i PlanItem) bool { return i.Preconditions.Lock }) {
		return false
	}
	check, missing := safety.LockFree(w.Snapshot)
	if check.OK {
		return false
	}
	c.State, c.rank, c.Next = WhyBlocked, rankBlocked, []string{w.Kubectl("get", "fdb", w.name, "-o", "jsonpath={.spec.lockOptions}")}
	if missing > 0 {
		c.State, c.rank, c.Next = WhyWaiting, rankWaiting, []string{w.FDB("reconcile", w.name, "--wait")}
		c.RetryAfterSeconds = inSeconds(missing)
	}
	c.Reasons = []WhyLink{w.refused(check, nil)}
	return true
}
