package lists

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// List returns the exclusions with their columns.
func (v ExclusionListView) List() list.Table { return list.Of(ExclusionColumns, v.Items) }

// ExclusionColumns are the columns of exclusions.
var ExclusionColumns = []list.Column[ExclusionView]{
	{Title: "TARGET", Meaning: "Address or locality that is excluded", Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Text(e.Target) }},
	{Title: "STATE", Meaning: "Progress of the exclusion; safe is proven", Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Text(e.State) }},
	{Title: "FAILED", Meaning: "Whether the processes were excluded as failed, whose data is given up", Cell: func(_ list.At, e ExclusionView) list.Cell { return list.YesNo(&e.Failed) }},
	{Title: "GROUPS", Meaning: "Process groups that it covers", Drop: 1, Min: 16, Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Joined(e.Groups) }},
	{Title: "PROCESSES", Meaning: "Addresses of the processes that it covers", Drop: 2, Min: 16, Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Joined(e.Processes) }},
}

// ExclusionListView is the document of `get exclusions`: the exclusions in the database,
// and what they cover.
type ExclusionListView struct {
	inspect.Document
	Items []ExclusionView `json:"items"`
}

// ExclusionView is one exclusion.
type ExclusionView struct {
	// Target is what is excluded, as the exclude command names it: an IP, an address, or
	// a locality.
	Target string `json:"target"`
	// Failed is true for an exclusion as failed, which does not wait for data: what had no
	// other copy is lost.
	Failed bool `json:"failed"`
	// Groups are the process groups of this resource that it covers.
	Groups []string `json:"groups"`
	// Processes are the addresses of all processes that it covers.
	Processes []string `json:"processes"`
	// State is the least advanced of the groups and processes.
	State inspect.Exclusion `json:"state"`
}

// NewExclusionListView makes the document.
func NewExclusionListView(m inspect.Metadata, f inspect.Facts) ExclusionListView {
	v := ExclusionListView{Document: inspect.NewDocument("ExclusionList", m, f.Now, inspect.SourceLive), Items: []ExclusionView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	for _, target := range f.Coordination.Exclusions {
		v.Items = append(v.Items, exclusionAt(f, target))
	}
	return v
}

func exclusionAt(f inspect.Facts, target string) ExclusionView {
	v := ExclusionView{
		Target: target, Failed: slices.Contains(f.Coordination.FailedExclusions, target),
		Groups: []string{}, Processes: []string{}, State: inspect.ExclusionUnverified,
	}
	for _, p := range f.ProcessesAt(target) {
		v.Processes = append(v.Processes, p.Address.HostPort())
	}
	groups := f.GroupsOf(target)
	proven := len(groups) > 0 && allBelongHere(f, target, len(v.Processes))
	for _, g := range groups {
		v.Groups = append(v.Groups, string(g.ProcessGroupID))
		proven = proven && safety.Drained(f.Snapshot, g).OK
	}
	switch {
	case proven:
		v.State = inspect.ExclusionSafe
	case !f.RolesCanBeTrusted():
		v.State = inspect.ExclusionRequested
	case slices.ContainsFunc(f.ProcessesAt(target), f.StillHolds):
		v.State = inspect.ExclusionMoving
	}
	return v
}

// allBelongHere reports whether all n processes of an exclusion belong to this resource:
// nothing is proven about others.
func allBelongHere(f inspect.Facts, target string, n int) bool {
	own := 0
	for _, g := range f.Groups() {
		own += len(slices.DeleteFunc(f.ProcessesOf(g), func(p fdb.Process) bool { return !inspect.CoversProcess(target, p) }))
	}
	return own == n
}

// EvacuationView is what is evacuated from nodes, and when.
type EvacuationView struct{ Items []EvacuatedGroup }

// EvacuatedGroup is one process group on a node that is evacuated.
type EvacuatedGroup struct {
	Node  string
	Group inspect.GroupView
	// Rule is the key of the taint that causes the replacement; empty without one.
	Rule string
	// Detected and Replaced are the ends of the rule's two timers, if the taint is set now;
	// nil where they never end, or no taint causes a replacement.
	Detected, Replaced *time.Time
	// Elsewhere is whether a replacement fits on another node.
	Elsewhere safety.Fit
}

// NewEvacuationView makes the view of the groups whose pods are on the nodes. The taint is the
// one that is to be set; nil for none. Groups that have to share a fault domain are evaluated
// together, each other as if it were the only one.
func NewEvacuationView(f inspect.Facts, nodes []string, taint *corev1.Taint, places safety.Places) EvacuationView {
	var v EvacuationView
	var pods []*corev1.Pod
	for _, g := range f.Remaining() {
		pod := f.Pod(g)
		if pod == nil || !slices.Contains(nodes, pod.Spec.NodeName) {
			continue
		}
		item := EvacuatedGroup{Node: pod.Spec.NodeName, Group: f.Group(g)}
		pods = append(pods, pod)
		if taint != nil {
			item.leaveBy(f, taint)
		}
		v.Items = append(v.Items, item)
	}
	for i, fit := range places.ElsewhereTogether(pods) {
		v.Items[i].Elsewhere = fit
	}
	return v
}

func (g *EvacuatedGroup) leaveBy(f inspect.Facts, taint *corev1.Taint) {
	detected, ever := safety.TaintClock{Since: f.Now, Rules: f.Cluster.TaintDelays(taint.Key)}.Due()
	if !ever {
		return
	}
	g.Rule = taint.Key
	g.Detected, g.Replaced = &detected, inspect.AfterTaint(detected, f.Cluster.TaintReplacementTime())
}

// Moment formats a time in UTC; nil is shown as absent.
func Moment(t *time.Time) string {
	if t == nil {
		return phrase.Nothing
	}
	return t.UTC().Format(time.RFC3339)
}
