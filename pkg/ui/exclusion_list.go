package ui

import (
	"io"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ExclusionListView is the document of `exclusion list`: the exclusions in the database,
// and what they cover.
type ExclusionListView struct {
	Document
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
	State Exclusion `json:"state"`
}

// NewExclusionListView makes the document.
func NewExclusionListView(m Metadata, f Facts) ExclusionListView {
	v := ExclusionListView{Document: NewDocument("ExclusionList", m, f.Now, SourceLive), Items: []ExclusionView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	for _, target := range f.Coordination.Exclusions {
		v.Items = append(v.Items, f.exclusionAt(target))
	}
	return v
}

func (f Facts) exclusionAt(target string) ExclusionView {
	v := ExclusionView{
		Target: target, Failed: slices.Contains(f.Coordination.FailedExclusions, target),
		Groups: []string{}, Processes: []string{}, State: ExclusionUnverified,
	}
	for _, p := range f.processesAt(target) {
		v.Processes = append(v.Processes, p.Address.HostPort())
	}
	groups := f.groupsOf(target)
	proven := len(groups) > 0 && f.allBelongHere(target, len(v.Processes))
	for _, g := range groups {
		v.Groups = append(v.Groups, string(g.ProcessGroupID))
		proven = proven && safety.Drained(f.Snapshot, g).OK
	}
	switch {
	case proven:
		v.State = ExclusionSafe
	case !f.rolesCanBeTrusted():
		v.State = ExclusionRequested
	case slices.ContainsFunc(f.processesAt(target), f.stillHolds):
		v.State = ExclusionMoving
	}
	return v
}

// allBelongHere reports whether all n processes of an exclusion belong to this resource:
// nothing is proven about others.
func (f Facts) allBelongHere(target string, n int) bool {
	own := 0
	for _, g := range f.Groups() {
		own += len(slices.DeleteFunc(f.processesOf(g), func(p fdb.Process) bool { return !coversProcess(target, p) }))
	}
	return own == n
}

// WriteExclusions prints a row per exclusion.
func WriteExclusions(w io.Writer, v ExclusionListView, o ListOptions) error {
	t := Table{Header: o.header([]string{"TARGET", "STATE", "FAILED", "GROUPS", "PROCESSES"})}
	for _, e := range v.Items {
		t.Rows = append(t.Rows, []string{
			e.Target, string(e.State), phrase.YesNo(&e.Failed, phrase.UnknownCell), phrase.Or(strings.Join(e.Groups, ","), phrase.Nothing), phrase.Or(strings.Join(e.Processes, ","), phrase.Nothing),
		})
	}
	return t.Write(w)
}
