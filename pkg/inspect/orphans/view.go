package orphans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Verdict is what happens to something that may have no owner.
type Verdict string

// The verdicts.
const (
	// Remove is for what has no owner, which is proven.
	Remove Verdict = "remove"
	// Keep is for what something still uses, or the next pass adopts.
	Keep Verdict = "keep"
	// Unknown is for what may have an owner. It is kept.
	Unknown Verdict = "unknown"
)

// Code is why something is not removed. Once released, it keeps its meaning.
type Code string

// The codes.
const (
	CodeAdopted      Code = "adopted"
	CodeInUse        Code = "in-use"
	CodeTerminating  Code = "terminating"
	CodeHeld         Code = "held"
	CodeNotNamed     Code = "not-named"
	CodeMayHoldData  Code = "may-hold-data"
	CodeOtherOwner   Code = "other-owner"
	CodeNotRead      Code = "not-read"
	CodeUnknownOwner Code = "unknown-owner"
)

// Outcome is what came of a removal.
type Outcome string

// The outcomes.
const (
	Removed Outcome = "removed"
	Failed  Outcome = "failed"
)

// Item is an object or an exclusion that no process group has.
type Item struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// UID and ResourceVersion are preconditions of the removal; empty for an exclusion.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Since is when the object was created; null for an exclusion, which has no time.
	Since   *time.Time `json:"since"`
	Verdict Verdict    `json:"verdict"`
	// Proof is why it has no owner, as far as known.
	Proof []string `json:"proof"`
	// Code and Reason are why it is not removed; empty for one that is.
	Code   Code   `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Outcome is empty before a removal; Error is why it failed.
	Outcome Outcome `json:"outcome,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// Key identifies an item. Another object of the same name has another one.
func (i Item) Key() string { return string(i.Kind) + "/" + i.Name + "/" + i.UID }

// View is the document of `gc`.
type View struct {
	inspect.Document
	// Digest identifies the items of a dry run; Digests are those of all other fields, by name.
	Digest  string            `json:"digest,omitempty"`
	Digests map[string]string `json:"digests,omitempty"`
	// Exists is whether the FoundationDBCluster exists.
	Exists bool `json:"exists"`
	// UID is the UID of the FoundationDBCluster; empty if it does not exist.
	UID   string `json:"uid,omitempty"`
	Items []Item `json:"items"`
}

// NewView decides on everything that no process group has.
func NewView(m inspect.Metadata, f Facts) View {
	v := View{Document: inspect.NewDocument("OrphanList", m, f.Now, inspect.SourceLive), Exists: f.Stored != nil, Items: []Item{}}
	if v.Exists {
		v.UID = string(f.Stored.UID)
	}
	for _, o := range f.Objects {
		if item, is := f.judge(o); is {
			v.Items = append(v.Items, item)
		}
	}
	v.Items = append(v.Items, f.exclusions()...)
	stable.Sort(v.Items, func(a, b Item) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.Name, b.Name)) })
	for subject, why := range f.Unread {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s could not be read: %s", subject, why))
	}
	slices.Sort(v.Warnings)
	return v
}

// Sealed returns the document with the digests of its fields, for a file.
func (v View) Sealed() (View, error) {
	v.Digest, v.Digests = "", nil
	fields, err := inspect.Seal(v)
	if err != nil {
		return v, err
	}
	v.Digest = fields["items"]
	v.Digests, err = inspect.Seal(v)
	return v, err
}

// Differences returns how a removal of what is found now differs from the approved one: the items that only one of
// them removes.
func (v View) Differences(now View) []planned.PlanDifference {
	var all []planned.PlanDifference
	if v.UID != now.UID {
		all = append(all, planned.PlanDifference{Code: planned.DiffersResource, Message: "the FoundationDBCluster is another one"})
	}
	for _, i := range only(v, now) {
		all = append(all, planned.PlanDifference{Code: planned.DiffersDone, Message: "approved, and not to be removed any more: " + string(i.Kind) + "/" + i.Name})
	}
	for _, i := range only(now, v) {
		all = append(all, planned.PlanDifference{Code: planned.DiffersNew, Message: "to be removed now, and not approved: " + string(i.Kind) + "/" + i.Name})
	}
	return all
}

// only returns the items that a removal covers and another one does not.
func only(of, other View) []Item {
	others := other.Removable()
	return slices.DeleteFunc(of.Removable(), func(i Item) bool {
		return slices.ContainsFunc(others, func(o Item) bool { return o.Key() == i.Key() })
	})
}

// order is the order of removal: what uses others first.
func order(i Item) int {
	return slices.Index([]Kind{Pod, Service, ConfigMap, PVC, Lease, Exclusion}, i.Kind)
}

// Removable are the items that a removal covers.
func (v View) Removable() []Item {
	return slices.DeleteFunc(slices.Clone(v.Items), func(i Item) bool { return i.Verdict != Remove })
}

// Unnamed are the PVCs that were named and are none of the items.
func (v View) Unnamed(chosen []string) []string {
	return slices.DeleteFunc(slices.Clone(chosen), func(name string) bool {
		return slices.ContainsFunc(v.Items, func(i Item) bool { return i.Kind == PVC && i.Name == name })
	})
}

// Summary is one sentence about the items.
func (v View) Summary() string {
	n := len(v.Removable())
	if len(v.Items) == 0 {
		return "nothing found without an owner"
	}
	return fmt.Sprintf("%s without an owner, %d to remove, %d kept", phrase.Count(len(v.Items), "item"), n, len(v.Items)-n)
}

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
