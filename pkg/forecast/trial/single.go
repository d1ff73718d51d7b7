package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Step is a moment at which something can go wrong: before a pass observes anything, or between the decision and the first
// action of a kind that a stage takes in it.
type Step struct {
	Pass  int
	Stage plan.StageName // empty before a pass
	Kind  string         // of the action
}

// String is how a step is named: 3/ExcludeInstances/Exclude, or 3 before a pass.
func (s Step) String() string {
	if s.Stage == "" {
		return fmt.Sprint(s.Pass)
	}
	return fmt.Sprintf("%d/%s/%s", s.Pass, s.Stage, s.Kind)
}

// Fault is one thing that goes wrong, once.
type Fault struct {
	problem problem
	group   v1beta2.ProcessGroupID // what it hits; empty for what all depend on
	late    bool                   // the second of two variants: the plugin dies later, its clock is ahead
}

// String is how a fault is named: pod-lost@storage-1, plugin-killed+.
func (f Fault) String() string {
	name := f.problem.code
	if f.group != "" {
		name += "@" + string(f.group)
	}
	if f.late {
		name += "+"
	}
	return name
}

// happen lets the fault happen.
func (f Fault) happen(h *History) {
	h.aim = f.group
	f.problem.happen(h, f.dice())
	h.aim = ""
}

// dice are those of the fault: they always show the same.
func (f Fault) dice() *rand.Rand {
	if f.late {
		return rand.New(constant(0x8badcafe12345679))
	}
	return rand.New(constant(0x0badcafe12345679))
}

// constant is a source of dice that always show the same. It must be none that a draw refuses: that would draw forever.
type constant uint64

// Uint64 implements rand.Source.
func (c constant) Uint64() uint64 { return uint64(c) }

// Single is a history with one fault.
type Single struct {
	Step  Step
	Fault Fault
}

// String is how it is named, and selected to be played alone.
func (s Single) String() string { return s.Step.String() + ":" + s.Fault.String() }

// edited are the problems of which a user is the cause who edits the spec: operations of their own.
func edited(p problem) bool { return strings.HasSuffix(p.code, "-edited") }

// singleProblems are those of which each goes wrong alone.
func singleProblems() []problem {
	return slices.Concat(podProblems, rare, databaseProblems, pluginProblems, resourceProblems,
		slices.DeleteFunc(slices.Concat(nodeProblems, imageProblems), edited))
}

// ends are problems that are the end of others.
var ends = []string{"troubles-end", "taints-removed", "image-corrected"}

// ofDatabase reports whether a problem is one of a database that exists.
func ofDatabase(p problem) bool {
	return slices.ContainsFunc(append(slices.Clone(databaseProblems), fullDisks), func(d problem) bool { return d.code == p.code })
}

// beforePasses are problems that a pass can notice only when it begins. The simulation resolves names of pods by the status of
// the resource, so that one goes between passes, too.
var beforePasses = []string{"clock-off", "operator-active", "lease-held", "resource-status-lost"}

// faults are all that can go wrong at a step. Of symmetric process groups it hits one of each class; and one that the
// action is about.
func (h *History) faults(at Step, about []v1beta2.ProcessGroupID) []Fault {
	var all []Fault
	for _, p := range singleProblems() {
		switch {
		case !h.exists() && ofDatabase(p), !p.happensAt(at):
		case slices.Contains(ends, p.code), at.Stage != "" && slices.Contains(beforePasses, p.code):
		case p.hits == aGroup:
			for _, id := range h.representatives(about) {
				all = append(all, Fault{problem: p, group: id})
			}
		default:
			all = append(all, Fault{problem: p})
			if slices.Contains(variable, p.code) {
				all = append(all, Fault{problem: p, late: true})
			}
		}
	}
	return all
}

// variable are the problems with two variants.
var variable = []string{"plugin-killed", "lock-lost", "clock-off"}

// representatives are process groups with a pod that runs: the first of each class that an action is about, and the first of each
// that it is not about.
func (h *History) representatives(about []v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	type kind struct {
		class v1beta2.ProcessClass
		about bool
	}
	seen := map[kind]bool{}
	var ids []v1beta2.ProcessGroupID
	for _, g := range h.w.Resource.Status.ProcessGroups {
		k := kind{g.ProcessClass, slices.Contains(about, g.ProcessGroupID)}
		if pod := h.w.Pods[g.PodName(h.w.Resource)]; pod == nil || pod.Spec.NodeName == "" || seen[k] || h.exists() && !h.answers(pod.Name) {
			continue
		}
		seen[k] = true
		ids = append(ids, g.ProcessGroupID)
	}
	return ids
}
