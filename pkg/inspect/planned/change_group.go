package planned

import (
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ChangeGroup is a row of a list of changes: actions of a stage that differ in their objects alone, or those that only
// record what passes observe.
type ChangeGroup struct {
	plan.Change
	Stage  plan.StageName
	Kind   string
	Impact plan.Impact
	// Items are the actions, at least one.
	Items []PlanItem
}

// ChangeGroups returns the actions of a plan in the order of the first ones.
func (v PlanView) ChangeGroups() []ChangeGroup {
	var all []ChangeGroup
	for _, item := range v.Items {
		if at := slices.IndexFunc(all, func(g ChangeGroup) bool { return g.takes(item) }); at >= 0 {
			all[at].Items = append(all[at].Items, item)
			continue
		}
		all = append(all, ChangeGroup{
			Change: plan.ChangeOf(item.Kind, item.Details), Stage: item.Stage, Kind: item.Kind, Impact: item.Impact, Items: []PlanItem{item},
		})
	}
	return all
}

// takes reports whether an action is the same as those of the group, on another object.
func (g ChangeGroup) takes(item PlanItem) bool {
	if g.Kind != item.Kind || g.Impact != item.Impact || g.Stage != item.Stage && !plan.RecordsKind(item.Kind) {
		return false
	}
	one, isOne := g.Items[0].Details.(plan.Repeated)
	other, isOther := item.Details.(plan.Repeated)
	return !isOne || !isOther || one.What() == other.What()
}

// Reason is the reason of the actions; empty for none.
func (g ChangeGroup) Reason() string { return g.Items[0].Why }

// IsDescribed reports whether Objects describes an action, instead of naming its objects.
func (g ChangeGroup) IsDescribed() bool { return !g.Named && len(g.Items) == 1 }

// IsProvisional reports whether any of the actions is decided again once earlier stages have acted.
func (g ChangeGroup) IsProvisional() bool {
	return slices.ContainsFunc(g.Items, func(item PlanItem) bool { return len(item.Provisional) > 0 })
}

// Objects describes what the actions are about: their objects, at most so many by name, or what is done to them.
func (g ChangeGroup) Objects(most int) string {
	first := g.Items[0]
	same, repeated := first.Details.(plan.Repeated)
	switch {
	case g.IsDescribed():
		return first.Summary
	case !g.Named && repeated:
		return same.Together(len(g.Items))
	default:
		return NumberedNames(g.subjects(), most)
	}
}

// subjects are the objects of the actions: their process groups, else what they name.
func (g ChangeGroup) subjects() []string {
	var names []string
	for _, item := range g.Items {
		if c, is := item.Details.(plan.ChangeCoordinators); is {
			names = append(names, c.Hosts()...)
		} else if len(item.Groups) > 0 {
			names = append(names, item.Groups...)
		} else if !slices.Contains(names, item.Subject) {
			names = append(names, item.Subject)
		}
	}
	return names
}

// NumberedNames returns names, each once and at most so many: more than that have their number before them.
func NumberedNames(names []string, most int) string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	switch {
	case len(names) <= most:
		return phrase.List(once)
	case len(once) <= most:
		return strconv.Itoa(len(names)) + ": " + phrase.List(once)
	default:
		return strconv.Itoa(len(names)) + ": " + phrase.List(once[:most]) + " .."
	}
}
