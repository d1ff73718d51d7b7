package apply

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Approval is what the user confirmed. The zero value permits nothing.
type Approval struct {
	Everything bool
	// approved is true once the user confirmed a plan.
	approved bool
	// Exact holds the fingerprints of the actions that were shown.
	Exact map[string]bool
	// cuttable holds the shown actions that can be interrupted: their remainder is approved as
	// well.
	cuttable []plan.Action
	// Kinds holds the action kinds whose subjects were unknown when the plan was shown.
	Kinds map[string]bool
	// later is what later passes may do.
	later foreseen
	// made holds the objects that approved actions create.
	made map[objectName]bool

	// Named is the resource whose name the user typed to confirm a loss of data; nil if none.
	Named *Identity

	// of is the resource that the approval is for; nil where that makes no difference.
	of *Identity
	// spec is the spec that a pass read last, and wrote applies what a pass has written to it
	// since; nil if none.
	spec  *specs
	wrote func(*specs)
}

// objectName identifies a pod or a PVC of the cluster.
type objectName struct {
	kind plan.ObjectKind
	name string
}

// Add approves all actions of a plan.
func (a *Approval) Add(v planned.PlanView) {
	if a.Exact == nil {
		a.Exact = map[string]bool{}
	}
	a.approved, a.Kinds, a.later.forecast = true, map[string]bool{}, v.Forecast
	for _, item := range v.Items {
		if len(item.Provisional) > 0 {
			a.Kinds[item.Kind] = true
			continue
		}
		for _, part := range parts(item.Details) {
			a.Exact[plan.Fingerprint(part)] = true
		}
		if plan.EffectOf(item.Details).AtMost > 0 {
			a.cuttable = append(a.cuttable, item.Details)
		}
	}
}

// Passed ends what was approved for a single pass only: the kinds.
func (a *Approval) Passed() { a.Kinds = nil }

// Permits reports whether an action of a stage was approved.
func (a *Approval) Permits(stage plan.StageName, action plan.Action) bool {
	permitted := a.covers(stage, action)
	if permitted {
		a.creates(action)
	}
	return permitted
}

// creates remembers an object that is about to be created with approval: after a prompt it may
// have another name than the one that was shown.
func (a *Approval) creates(action plan.Action) {
	switch action := action.(type) { //nolint:gochecksumtype // only these get labels and files once they run
	case plan.CreatePod:
		a.made = with(a.made, objectName{plan.KindPod, action.Name})
	case plan.CreatePVC:
		a.made = with(a.made, objectName{plan.KindPVC, action.Name})
	}
}

// with adds a member to a set that may be nil.
func with[T comparable](set map[T]bool, member T) map[T]bool {
	if set == nil {
		set = map[T]bool{}
	}
	set[member] = true
	return set
}

func (a *Approval) covers(stage plan.StageName, action plan.Action) bool {
	kind := plan.KindOf(action)
	switch {
	case plan.LosesData(action):
		return a.Named != nil && (a.Exact[plan.Fingerprint(action)] || a.isRest(action))
	case a.Everything, a.Kinds[kind], a.equips(action), a.later.covers(stage, action):
		return true
	case plan.Records(action):
		// Status updates during the pass belong to the approved actions.
		return a.approved
	}
	each := parts(action)
	return len(each) > 0 && !slices.ContainsFunc(each, func(part plan.Action) bool { return !a.Exact[plan.Fingerprint(part)] })
}

// isRest reports whether an action is the remainder of an approved one.
func (a *Approval) isRest(action plan.Action) bool {
	return slices.ContainsFunc(a.cuttable, func(whole plan.Action) bool { return plan.IsRestOf(action, whole) })
}

// equips reports whether an action adds the labels, annotations and files that an object
// created by the approved plan needs once it runs: its name is unknown at planning time.
func (a *Approval) equips(action plan.Action) bool {
	switch action := action.(type) { //nolint:gochecksumtype // all others are approved by themselves
	case plan.SyncPodFiles:
		return a.made[objectName{plan.KindPod, action.Pod}]
	case plan.PatchMetadata:
		return a.made[objectName{action.Kind, action.Name}]
	}
	return false
}

// addFile approves the items of a plan file and nothing else: what was provisional when the
// plan was made must turn out as the plan has it.
func (a *Approval) addFile(p *planned.ApprovedPlan) {
	*a = Approval{
		approved: true, Exact: map[string]bool{},
		of: &Identity{p.Observed.UID, p.Observed.Generation},
	}
	a.later.forecast = p.Forecast
	for _, item := range p.Items {
		if kind, name, ok := item.Created(); ok {
			a.made = with(a.made, objectName{kind, name})
		}
		a.Exact[item.Fingerprint] = true
		if whole := item.Cuttable(); whole != nil {
			a.cuttable = append(a.cuttable, whole)
		}
		if deletion, ok := item.Deletion(); ok {
			for _, part := range parts(deletion) {
				a.Exact[plan.Fingerprint(part)] = true
			}
		}
	}
}

// parts returns the actions that an action can be split into: a retry deletes what the first
// attempt left.
func parts(a plan.Action) []plan.Action {
	d, ok := a.(plan.DeleteGroupObjects)
	if !ok {
		return []plan.Action{a}
	}
	var each []plan.Action
	add := func(part plan.DeleteGroupObjects, uid string) {
		part.Group, part.Undrained = d.Group, d.Undrained
		if id, known := d.UIDs[uid]; known {
			part.UIDs = map[string]types.UID{uid: id}
		}
		each = append(each, part)
	}
	if d.Pod != "" {
		add(plan.DeleteGroupObjects{Pod: d.Pod}, d.Pod)
	}
	if d.Claim != "" {
		add(plan.DeleteGroupObjects{Claim: d.Claim}, d.Claim)
	}
	if d.Service != "" {
		add(plan.DeleteGroupObjects{Service: d.Service}, "service/"+d.Service)
	}
	return each
}

// foreseen is the forecast that was approved together with a plan: what later passes may do
// without another prompt. The zero value permits nothing.
type foreseen struct {
	forecast *planned.Forecast
	// added are the process groups that approved actions have created: their IDs are drawn when
	// they are created, and may differ from those of the forecast.
	added map[v1beta2.ProcessGroupID]v1beta2.ProcessClass
}

// covers reports whether an action is one of the forecast: the same stage does the same kind of
// thing to the same process groups, or to ones that were created with approval. What no process
// group is the subject of needs the stage and the kind, and a command for the database its text.
func (f *foreseen) covers(stage plan.StageName, a plan.Action) bool {
	phase := f.forecast.Phase(stage, plan.KindOf(a))
	if phase == nil {
		return false
	}
	switch a := a.(type) { //nolint:gochecksumtype // all others are covered by their process groups
	case plan.Configure:
		return slices.Contains(phase.Commands, a.Command)
	case plan.AddGroups:
		return f.mayAdd(phase, a)
	case plan.DeleteGroupObjects:
		if a.Undrained { // what made it so was not in the forecast, or needs a prompt of its own
			return false
		}
	}
	groups := plan.GroupsOf(a)
	if len(groups) == 0 {
		return len(phase.Groups) == 0
	}
	return !slices.ContainsFunc(groups, func(id v1beta2.ProcessGroupID) bool {
		_, isNew := f.added[id]
		if isNew && len(phase.New) > 0 {
			return false
		}
		return !slices.Contains(phase.Groups, id)
	})
}

// mayAdd reports whether no class gets more process groups than the forecast has.
func (f *foreseen) mayAdd(phase *planned.ForecastPhase, a plan.AddGroups) bool {
	count := map[v1beta2.ProcessClass]int{}
	for _, class := range f.added {
		count[class]++
	}
	for _, g := range a.Groups {
		if _, counted := f.added[g.ID]; !counted {
			count[g.Class]++
		}
	}
	for class, n := range count {
		if n > phase.Classes[class] {
			return false
		}
	}
	return true
}

// carried notes the process groups that an approved action has created.
func (f *foreseen) carried(a plan.Action) {
	added, ok := a.(plan.AddGroups)
	if !ok {
		return
	}
	if f.added == nil {
		f.added = map[v1beta2.ProcessGroupID]v1beta2.ProcessClass{}
	}
	for _, g := range added.Groups {
		f.added[g.ID] = g.Class
	}
}

// overridable are the gates that a user may override, one at a time and with a reason. All
// others protect data or other runs: they open with time or repair. Of G-CONFIG only the checks
// of distributions and of specs of new clusters read overrides.
var overridable = []plan.Gate{plan.GateClock, plan.GateConfig, plan.GateDeletion, plan.GateLockOwner, plan.GateOperator}

// OverrideFlags are the gates that the user overrides.
type OverrideFlags struct{ Given []string }

// Overridable returns them.
func Overridable() []plan.Gate { return slices.Clone(overridable) }

// Gates returns the gates with their reasons.
func (o *OverrideFlags) Gates() (map[plan.Gate]string, error) {
	gates := map[plan.Gate]string{}
	for _, text := range o.Given {
		name, reason, _ := strings.Cut(text, "=")
		gate := plan.Gate(name)
		switch {
		case !slices.Contains(overridable, gate):
			return nil, exit.Usagef("--override %s: gate cannot be overridden: must be one of %s%s", name, phrase.List(overridable), session.OrMeant(name, phrase.Strings(overridable)))
		case strings.TrimSpace(reason) == "":
			return nil, exit.Usage(fmt.Errorf("--override %s requires a reason", name), fmt.Sprintf("add the reason: --override '%s=REASON'", name))
		}
		gates[gate] = reason
	}
	return gates, nil
}
