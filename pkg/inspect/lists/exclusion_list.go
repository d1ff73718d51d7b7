package lists

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

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
