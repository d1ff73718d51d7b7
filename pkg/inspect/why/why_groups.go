package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// stagesFor lists the stages that clear a condition.
var stagesFor = map[v1beta2.ProcessGroupConditionType][]plan.StageName{
	v1beta2.ConditionMissingPod:                {plan.StageAddPods, plan.StageReplaceFailedPods},
	v1beta2.ConditionMissingPVC:                {plan.StageAddPVCs, plan.StageReplaceFailedPods},
	v1beta2.ConditionMissingService:            {plan.StageAddServices, plan.StageReplaceFailedPods},
	v1beta2.ConditionIncorrectPodSpec:          {plan.StageReplaceMisconfiguredPods, plan.StageUpdatePods},
	v1beta2.ConditionIncorrectPodMetadata:      {plan.StageUpdateLabels},
	v1beta2.ConditionIncorrectConfigMap:        {plan.StageUpdatePodConfig},
	v1beta2.ConditionIncorrectCommandLine:      {plan.StageBounceProcesses},
	v1beta2.ConditionIncorrectSidecarImage:     {plan.StageUpdateSidecarVersions},
	v1beta2.ConditionResourcesTerminating:      {plan.StageRemovePods},
	v1beta2.ConditionPodFailing:                {plan.StageReplaceFailedPods},
	v1beta2.ConditionPodPending:                {plan.StageReplaceFailedPods},
	v1beta2.ConditionMissingProcesses:          {plan.StageReplaceFailedPods},
	v1beta2.ConditionSidecarUnreachable:        {plan.StageUpdatePodConfig, plan.StageReplaceFailedPods},
	v1beta2.ConditionProcessIsMarkedAsExcluded: {plan.StageReplaceFailedPods},
	v1beta2.ConditionProcessHasIOError:         {plan.StageReplaceFailedPods},
	v1beta2.ConditionProcessHasHighRunLoopBusy: {plan.StageReplaceFailedPods},
	v1beta2.ConditionNodeTaintDetected:         {plan.StageReplaceFailedPods},
	v1beta2.ConditionNodeTaintReplacing:        {plan.StageReplaceFailedPods},
}

// groups returns the chains of the process groups that are being removed or not reconciled.
func (w *why) groups() []Chain {
	var chains []Chain
	for _, g := range w.Groups() {
		if len(w.Only) > 0 && !slices.Contains(w.Only, g.ProcessGroupID) {
			continue
		}
		switch {
		case g.IsMarkedForRemoval() && w.onlyTidied(g):
			if len(w.Only) > 0 {
				chains = append(chains, w.tidied(g))
			}
		case g.IsMarkedForRemoval():
			chains = append(chains, w.removing(g))
		case len(g.ProcessGroupConditions) > 0 || w.ProblemOf(g) != nil:
			chains = append(chains, w.remaining(g))
		}
	}
	return chains
}

// removing returns the chain of a group that is marked for removal: not excluded, not drained,
// or not deleted yet.
func (w *why) removing(g *v1beta2.ProcessGroupStatus) Chain {
	w.reported[plan.StageExcludeInstances], w.reported[plan.StageRemovePods] = true, true // they are only about such groups
	c := Chain{
		Subjects: []string{string(g.ProcessGroupID)}, Since: inspect.Known(g.RemovalTimestamp.Time),
		State: Waiting, rank: rankWaiting,
	}
	c.summarize("marked", func(n int) string { return phrase.Is(n) + " marked for removal" })
	drained := safety.Drained(w.Snapshot, g)
	switch e := w.Exclusion(g); {
	case w.reverts(g):
		w.reported[plan.StageCancelReplacements] = true
		w.through(&c, g, plan.StageCancelReplacements, "kept", string(v1beta2.ExtensionCancelReplacements)+" keeps it")
	case (g.IsExcluded() || g.ExclusionSkipped) && !hasObjects(w.Facts, g):
		w.through(&c, g, plan.StageRemovePods, "objects-deleted", "its pod, PVC and service are deleted; its exclusion and its entry in the status are left")
	case e == inspect.ExclusionSkipped, e == inspect.ExclusionSafe && g.IsExcluded():
		c.summarize("drained", func(n int) string {
			return phrase.Is(n) + " marked for removal, and nothing depends on " + phrase.Either(n, "it", "them") + " any more"
		})
		c.Since, c.ofAll = recordedDrained(g), true
		if e == inspect.ExclusionSkipped {
			c.Since, c.ofAll = inspect.Known(g.RemovalTimestamp.Time), false
			c.summarize("unexcluded", func(n int) string { return phrase.Is(n) + " marked for removal without being excluded" })
		}
		w.through(&c, g, plan.StageRemovePods, "objects-left", "its objects are not deleted yet")
	case w.keptHold(g) != nil:
		w.kept(&c, g)
	case e == inspect.ExclusionPending && safety.Coordinates(w.Snapshot, g):
		w.reported[plan.StageChangeCoordinators] = true
		w.through(&c, g, plan.StageChangeCoordinators, "coordinator", "it is a coordinator; coordinators move first")
	case e == inspect.ExclusionUnknown, !w.ReportsExclusions():
		w.through(&c, g, plan.StageExcludeInstances, "exclusion-unknown", "cannot determine whether it is excluded")
	case e == inspect.ExclusionPending:
		w.through(&c, g, plan.StageExcludeInstances, "not-excluded", "it is not excluded yet")
	case drained.OK:
		w.through(&c, g, plan.StageRemovePods, "drained", "it is drained, which is not recorded yet")
	default:
		c.Reasons = append(c.Reasons, Link{Stage: plan.StageRemovePods, Message: "it is excluded and not proven to be drained" + w.moving(), key: "draining"})
		c.Reasons[0].Reasons = []Link{w.refused(drained, nil).about(g)}
		c.Next = []string{w.FDB("get", "pg", w.name, "--removing", "-o", "wide")}
	}
	w.endOfObjects(&c, g)
	c.Next = append(w.inspections(c.Reasons), c.Next...)
	if len(c.Next) == 0 && c.State != Blocked {
		c.Next = []string{w.FDB("reconcile", w.name, "--wait")}
	}
	return c
}

// recordedDrained is when a pass recorded that a group is drained; nil while none has.
func recordedDrained(g *v1beta2.ProcessGroupStatus) *time.Time {
	if g.ExclusionTimestamp == nil {
		return nil
	}
	return inspect.Known(g.ExclusionTimestamp.Time)
}

// endOfObjects adds the problem of a group's pod, or of what is left of it. Where time does not end
// that, no pass does: the command that waits is no help.
func (w *why) endOfObjects(c *Chain, g *v1beta2.ProcessGroupStatus) {
	t := w.ProblemOf(g)
	if t == nil {
		return
	}
	c.Reasons = append(c.Reasons, link(*t, "", ""))
	if (g.IsExcluded() || g.ExclusionSkipped) && t.Kept != nil && t.Kept.Stuck {
		c.State, c.rank, c.RetryAfterSeconds, c.Next = Blocked, rankBlocked, nil, nil
	}
}

// hasObjects reports whether a group still has a pod, a PVC or a service.
func hasObjects(f inspect.Facts, g *v1beta2.ProcessGroupStatus) bool {
	return f.Pod(g) != nil || f.Volumes[g.PVCName(f.Cluster)] != nil || f.Services[g.ServiceName(f.Cluster)] != nil
}

// through adds why a stage has not acted on a group yet.
func (w *why) through(c *Chain, g *v1beta2.ProcessGroupStatus, stage plan.StageName, key, message string) {
	l := Link{Stage: stage, Message: message, key: key}
	if item, ok := w.itemFor(stage, g.ProcessGroupID); ok {
		l.Message += "; the next pass will " + item.Summary
		l.key, l.own = l.key+" "+item.Kind, true
		c.State, c.rank = Ready, rankReady
		c.Reasons = append(c.Reasons, l)
		return
	}
	for _, h := range w.Plan.Holds {
		if h.Stage != stage {
			continue
		}
		c.judgeHold(h)
		for _, check := range w.refusedFor(g, h.Refused) {
			l.Reasons = append(l.Reasons, w.refused(check, w.behind(check, g)).about(g))
		}
		if len(l.Reasons) == 0 {
			l.Message += ": " + inspect.OneLine(h.Reason)
			l.key += " " + h.Key()
		}
		c.Next = append(c.Next, w.nextFor(h)...)
		break
	}
	if early, is := w.unreached(stage); is {
		l.Reasons = []Link{early}
	}
	c.Reasons = append(c.Reasons, l)
}

// refusedFor returns the refusals that concern a group: the budget of its own class, and no
// other group's drain. A budget counts what exists, and not what the preview adds.
func (w *why) refusedFor(g *v1beta2.ProcessGroupStatus, checks []plan.Check) []plan.Check {
	var about []plan.Check
	budget, drained := w.budget(g.ProcessClass), safety.Drained(w.Snapshot, g)
	for _, c := range checks {
		switch {
		case c.Key() == budget.Key() && !budget.OK:
			about = append(about, budget)
		case c.Gate == plan.GateBudget && c.Key() != budget.Key():
		case c.Gate == plan.GateExcluded && c.Key() != drained.Key():
		default:
			about = append(about, c)
		}
	}
	return about
}

// budget checks how many groups of a class may start to drain in addition to those that do.
func (w *why) budget(class v1beta2.ProcessClass) plan.Check {
	ongoing := 0
	for _, g := range w.Groups() {
		if e := w.Exclusion(g); g.ProcessClass == class && g.IsMarkedForRemoval() && !g.IsExcluded() && e != inspect.ExclusionPending && e != inspect.ExclusionUnknown {
			ongoing++
		}
	}
	_, check := safety.ExclusionBudget(w.Snapshot, class, ongoing)
	return check
}

// behind returns the groups that can be the reason of a refusal: for a budget those of the
// class that should be up.
func (w *why) behind(c plan.Check, g *v1beta2.ProcessGroupStatus) func(*v1beta2.ProcessGroupStatus) bool {
	if c.Gate != plan.GateBudget {
		return nil
	}
	return func(other *v1beta2.ProcessGroupStatus) bool {
		return other != g && other.ProcessClass == g.ProcessClass && !other.IsRemovable()
	}
}

// moving returns how much data is being moved.
func (w *why) moving() string {
	d := w.DatabaseView()
	if d.MovingBytes == nil || d.QueuedBytes == nil || *d.MovingBytes+*d.QueuedBytes == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s moving, %s queued)", phrase.Bytes(*d.MovingBytes), phrase.Bytes(*d.QueuedBytes))
}

// remaining returns the chain of a group that stays and is not reconciled.
func (w *why) remaining(g *v1beta2.ProcessGroupStatus) Chain {
	conditions := w.ConditionsOf(g)
	c := Chain{Subjects: []string{string(g.ProcessGroupID)}, State: Waiting, rank: rankWaiting}
	c.summarize("with "+conditionTypes(conditions), func(n int) string { return conditionWords(conditions, n) })
	if len(conditions) > 0 {
		c.Since = conditions[0].Since
	}
	if t := w.ProblemOf(g); t != nil {
		c.Reasons = append(c.Reasons, link(*t, "", ""))
		if !t.Passes {
			c.State, c.rank = Blocked, rankBlocked
		}
	}
	if g.HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded) {
		c.Reasons = append(c.Reasons, Link{Message: "it was excluded manually, and is not marked for removal", key: "excluded-manually"})
		c.Next = append(c.Next, w.FDB("include", w.name, string(g.ProcessGroupID)))
	}
	acts := false
	for _, stage := range stagesOf(conditions) {
		acts = w.stage(&c, g, stage) || acts
	}
	broken := c.rank == rankBlocked
	c.Next = append(w.inspections(c.Reasons), c.Next...)
	if acts && len(w.Plan.Refused()) == 0 {
		c.State, c.rank = Ready, rankReady
		if broken {
			c.rank = rankBroken
		}
		c.Next = append([]string{w.FDB("reconcile", w.name)}, c.Next...)
	}
	if len(c.Next) == 0 {
		c.Next = []string{w.FDB("reconcile", w.name, "--wait")}
	}
	return c
}

// stage adds what a stage decided on a group; acts is true when the next pass acts on it.
func (w *why) stage(c *Chain, g *v1beta2.ProcessGroupStatus, stage plan.StageName) (acts bool) {
	if item, ok := w.itemFor(stage, g.ProcessGroupID); ok {
		c.Reasons = append(c.Reasons, Link{Stage: stage, Message: "the next pass will " + item.Summary, key: item.Kind, own: true})
		return !w.wasRefused(c, item)
	}
	if early, is := w.unreached(stage); is && stage != plan.StageReplaceFailedPods {
		c.Reasons = append(c.Reasons, early)
		if w.Pod(g) == nil {
			c.State, c.rank = Waiting, rankWaiting
		}
		return false
	}
	if stage == plan.StageReplaceFailedPods {
		c.Reasons = append(c.Reasons, w.replacement(g)...)
	}
	for _, h := range w.Plan.Holds {
		if h.Stage != stage || (stage == plan.StageReplaceFailedPods && !w.dueNow(g)) {
			continue
		}
		w.reported[stage] = true
		c.Reasons = append(c.Reasons, w.held(h))
		if h.ManualIntervention {
			c.State, c.rank = Blocked, rankBlocked
		}
		c.RetryAfterSeconds = h.RetryAfterSeconds
		c.Next = append(c.Next, w.nextFor(h)...)
	}
	return false
}

func stagesOf(conditions []inspect.ConditionView) []plan.StageName {
	var stages []plan.StageName
	for _, c := range conditions {
		for _, stage := range stagesFor[v1beta2.ProcessGroupConditionType(c.Type)] {
			if !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
		}
	}
	return stages
}

func conditionTypes(conditions []inspect.ConditionView) string {
	types := make([]string, len(conditions))
	for i, c := range conditions {
		types[i] = c.Type
	}
	return strings.Join(types, ", ")
}

func conditionWords(conditions []inspect.ConditionView, groups int) string {
	if len(conditions) == 0 {
		return phrase.Is(groups) + " not reconciled"
	}
	return phrase.Has(groups) + " " + conditionTypes(conditions)
}

// replacement returns when a group will be replaced if its condition persists.
func (w *why) replacement(g *v1beta2.ProcessGroupStatus) []Link {
	t, counts := w.replacedAt(g)
	left := t.due.Sub(w.Now)
	when := "in " + phrase.Until(t.due, w.Now) + " if that persists"
	if !t.runs {
		when = phrase.Duration(left.Round(time.Second)) + " after a pass has recorded that, if it persists"
	}
	switch {
	case !counts:
		return nil
	case w.Cluster.KeepsFromReplacement(g.ProcessGroupID):
		return []Link{{Stage: plan.StageReplaceFailedPods, Message: string(v1beta2.ExtensionCancelReplacements) + " keeps it from being replaced", key: "kept"}}
	case !w.Cluster.ReplacementsEnabled():
		return []Link{{Stage: plan.StageReplaceFailedPods, Message: "automatic replacements are off (automationOptions.replacements.enabled)", key: "replacements-off"}}
	case t.never:
		return []Link{{Stage: plan.StageReplaceFailedPods, Message: fmt.Sprintf("it is never replaced automatically (%s)", t.field), key: "never " + t.field}}
	case w.Now.Before(t.due):
		return []Link{{Stage: plan.StageReplaceFailedPods, Message: fmt.Sprintf("it is replaced %s (%s)", when, t.field), key: "due " + t.field, own: true}}
	default:
		return nil // the stage's own hold or action has more
	}
}

func (w *why) dueNow(g *v1beta2.ProcessGroupStatus) bool {
	t, counts := w.replacedAt(g)
	return counts && !w.Now.Before(t.due)
}

// replacementTimer replaces a group when it ends. It runs once a pass has recorded its
// condition; until then it is due as if one did so now. The field of the spec has its length.
type replacementTimer struct {
	due   time.Time
	field string
	runs  bool
	never bool // the spec has a longer time than any duration
}

// replacedAt returns the first of the timers to end that replace a group. Taints have two: this
// is the second, and the first for a taint that was only detected yet.
func (w *why) replacedAt(g *v1beta2.ProcessGroupStatus) (first replacementTimer, counts bool) {
	earliest := func(t v1beta2.ProcessGroupConditionType, takes time.Duration, field string) {
		since, _ := g.Condition(t)
		noted, _ := w.Since(g, t)
		if due := since.Add(takes); !counts || due.Before(first.due) {
			first, counts = replacementTimer{due, field, !noted.IsZero(), takes >= v1beta2.Never}, true
		}
	}
	for _, t := range v1beta2.ReplacementConditions() {
		switch {
		case !g.HasCondition(t):
		case t == v1beta2.ConditionNodeTaintReplacing:
			earliest(t, w.Cluster.TaintReplacementTime(), "automationOptions.replacements.taintReplacementTimeSeconds")
		default:
			earliest(t, w.Cluster.FailureDetectionTime(), "automationOptions.replacements.failureDetectionTimeSeconds")
		}
	}
	if g.HasCondition(v1beta2.ConditionNodeTaintDetected) && !g.HasCondition(v1beta2.ConditionNodeTaintReplacing) {
		if at := w.taintReplacedAt(g); at != nil && (!counts || at.Before(first.due)) {
			noted, _ := w.Since(g, v1beta2.ConditionNodeTaintDetected)
			first, counts = replacementTimer{due: *at, field: "taintReplacementOptions and taintReplacementTimeSeconds", runs: !noted.IsZero()}, true
		}
	}
	return first, counts
}

// taintReplacedAt returns when both timers of a taint that was only detected yet end; nil where
// they never do, or the node could not be read.
func (w *why) taintReplacedAt(g *v1beta2.ProcessGroupStatus) *time.Time {
	pod := w.Pod(g)
	if pod == nil || w.Nodes[pod.Spec.NodeName] == nil {
		return nil
	}
	detected, _ := g.Condition(v1beta2.ConditionNodeTaintDetected)
	clocks := safety.TaintClocks(w.Cluster, w.Nodes[pod.Spec.NodeName], pod, detected)
	for i := range clocks {
		if clocks[i].Since.IsZero() {
			clocks[i].Since = w.Now // the next pass is the first one to record it
		}
	}
	at, ever := safety.TaintsDue(clocks)
	if !ever {
		return nil
	}
	return inspect.AfterTaint(at, w.Cluster.TaintReplacementTime())
}

// itemFor returns the first action of a stage that is about a process group.
func (w *why) itemFor(stage plan.StageName, id v1beta2.ProcessGroupID) (planned.PlanItem, bool) {
	for _, item := range w.Plan.Items {
		if item.Stage == stage && slices.Contains(item.Groups, string(id)) {
			return item, true
		}
	}
	return planned.PlanItem{}, false
}
