package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
