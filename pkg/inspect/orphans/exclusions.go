package orphans

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// exclusions are those of no process group and no process.
func (f Facts) exclusions() []Item {
	status := f.Seen.Database.Status
	if f.Stored == nil || status == nil {
		return nil
	}
	var all []Item
	for _, target := range status.ExcludedTargets() {
		if !f.covers(target) {
			all = append(all, f.judgeExclusion(target))
		}
	}
	return all
}

// covers reports whether an exclusion covers a process group, also one that the next pass adopts, or a
// process that the database lists, dead ones included.
func (f Facts) covers(target string) bool {
	facts := inspect.Facts{Snapshot: f.Seen}
	if len(facts.GroupsOf(target)) > 0 || slices.ContainsFunc(f.Stored.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		return target == g.ExclusionString() || slices.ContainsFunc(g.Addresses, func(a string) bool { return sameHost(target, a) })
	}) {
		return true
	}
	return slices.ContainsFunc(f.Seen.Database.Status.ProcessList(), func(p fdb.Process) bool {
		return inspect.CoversProcess(target, p) || sameHost(target, p.Address.Host)
	})
}

func sameHost(target, host string) bool {
	a, err := fdb.ParseAddress(target)
	return fdb.SameHost(target, host) || err == nil && fdb.SameHost(a.Host, host)
}

func (f Facts) judgeExclusion(target string) Item {
	item := Item{Kind: Exclusion, Name: target, Verdict: Remove, Proof: []string{fmt.Sprintf(
		"it covers none of %s in the status, and none of %s that the database lists",
		phrase.Count(len(f.Stored.Status.ProcessGroups), "process group"), phrase.Count(len(f.Seen.Database.Status.ProcessList()), "process"))}}
	own := safety.OwnDatabase(f.Seen)
	switch {
	case !f.Seen.Database.Status.ListsProcesses() || !f.Seen.Database.Available():
		return item.unknown(CodeNotRead, "which processes the database has is unknown: "+phrase.Or(f.Seen.Database.Why(), "it is unavailable, or the status document is incomplete"))
	case !own.OK:
		return item.unknown(CodeNotRead, "whether this is the database of the cluster is unknown: "+own.Evidence)
	}
	if id, byID := strings.CutPrefix(target, v1beta2.ExclusionLocalityPrefix+":"); byID {
		return f.judgeID(v1beta2.ProcessGroupID(id), item)
	}
	if f.isShared() {
		return item.unknown(CodeOtherOwner, "the database is shared with other control-plane instances, one of which may have it for a process that does not report")
	}
	return item
}

// judgeID decides on the exclusion of an ID, which has an owner if its prefix is that of another control-plane instance.
func (f Facts) judgeID(id v1beta2.ProcessGroupID, item Item) Item {
	own := f.Stored.Spec.ProcessGroupIDPrefix
	prefix, _, _, err := id.Split()
	switch {
	case err != nil:
		return item.unknown(CodeOtherOwner, "which control-plane instance it belongs to is unknown: "+err.Error())
	case prefix != own:
		return item.kept(CodeOtherOwner, fmt.Sprintf("its ID has the prefix %q, and those of the cluster %q: it belongs to another control-plane instance", prefix, own))
	case own == "" && f.isShared():
		return item.unknown(CodeOtherOwner, "the database may be shared with other control-plane instances whose IDs have no prefix either")
	}
	return item
}

// isShared reports whether other control-plane instances may have processes in the database.
func (f Facts) isShared() bool {
	d := f.Stored.Spec.DatabaseConfiguration
	return f.Stored.Spec.ProcessGroupIDPrefix != "" || d.UsableRegions > 1 || len(d.Regions) > 1 || d.RedundancyMode == v1beta2.RedundancyModeThreeDataHall
}
