package inspect

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// LockListView is the document of `get locks`: the lock and the deny list of the database,
// and the lists that control-plane instances share.
type LockListView struct {
	Document
	Items []LockView `json:"items"`
	// Denied are all owners on the deny list of the database or of the spec.
	Denied []DeniedView `json:"denied"`
	// Lease excludes concurrent runs in this Kubernetes cluster.
	Lease LeaseView `json:"lease"`
	// Upgrades are the process groups that were announced as ready to start in a version.
	Upgrades []UpgradeView `json:"upgrades"`
	// Lists are the entries of the lists that control-plane instances share.
	Lists []ListEntryView `json:"lists"`
}

// LockView is the lock in one database.
type LockView struct {
	Cluster string `json:"cluster"`
	// Used is whether the spec uses the lock.
	Used bool `json:"used"`
	// Owner is the spec.processGroupIDPrefix of the control-plane instance that last took the
	// lock; null without one.
	Owner *string `json:"owner"`
	// ManualHolder is the user who holds the lock manually, "user@host"; null where a
	// control-plane instance holds it for its passes.
	ManualHolder *string `json:"manualHolder"`
	// Mine is null when unknown: all control-plane instances without a prefix have one name.
	Mine  *bool      `json:"mine"`
	Since *time.Time `json:"since"`
	Until *time.Time `json:"until"`
	// SecondsLeft is negative once the lock has expired.
	SecondsLeft *float64  `json:"secondsLeft"`
	State       LockState `json:"state"`
}

// LockState is whether others can take the lock.
type LockState string

// The states of a lock.
const (
	LockFree LockState = "free"
	LockHeld LockState = "held"
	// LockExpired can be taken over.
	LockExpired LockState = "expired"
	// LockOwnerDenied is held by an owner on the deny list, and can be taken over.
	LockOwnerDenied LockState = "owner-denied"
	// LockUnknown is that of a database that was not read.
	LockUnknown LockState = "unknown"
)

// DeniedView is one owner on a deny list.
type DeniedView struct {
	ID string `json:"id"`
	// InDatabase is whether it is denied in the database, and cannot take the lock now.
	InDatabase bool `json:"inDatabase"`
	// Unread is true while the deny list of the database is unknown, and with it InDatabase.
	Unread bool `json:"unread,omitempty"`
	// InSpec is its entry in the spec.
	InSpec SpecDenial `json:"inSpec"`
	// SetBy is what added it to the list in the database, "user@host" or a spec; null where
	// that was not recorded, as by an operator.
	SetBy *string `json:"setBy"`
	// When is when it was added to the list in the database; null as SetBy.
	When *time.Time `json:"when"`
	// Reason is why; null without one.
	Reason *string `json:"reason"`
	// Drift explains the difference between the two; empty without one.
	Drift string `json:"drift,omitempty"`
}

// SpecDenial is the entry of an owner in spec.lockOptions.denyList.
type SpecDenial string

// The entries of an owner.
const (
	SpecDenies SpecDenial = "deny"
	SpecAllows SpecDenial = "allow"
	SpecUnset  SpecDenial = "none"
)

// LeaseView is the Lease of runs in this Kubernetes cluster.
type LeaseView struct {
	// Read is false when the Lease could not be read.
	Read   bool       `json:"read"`
	Holder string     `json:"holder,omitempty"`
	Until  *time.Time `json:"until"`
	// Operation is the command whose passes take the Lease; absent without one.
	Operation *OperationView `json:"operation,omitempty"`
}

// UpgradeView are process groups of any control-plane instance that can start in a version.
type UpgradeView struct {
	Version string   `json:"version"`
	Groups  []string `json:"groups"`
}

// ListEntryView is one process group on a list.
type ListEntryView struct {
	List                 fdb.SharedList `json:"list"`
	ControlPlaneInstance string         `json:"controlPlaneInstance,omitempty"`
	Group                string         `json:"group"`
	Since                time.Time      `json:"since"`
}

// NewLockListView makes the document of facts that have the shared lists.
func NewLockListView(m Metadata, f Facts) LockListView {
	v := LockListView{
		Document: NewDocument("LockList", m, f.Now, SourceLive),
		Items:    []LockView{f.Lock()}, Denied: f.denials(), Upgrades: f.upgrades(), Lists: f.listEntries(),
		Lease: LeaseView{Read: f.Lease.Read, Holder: f.Lease.HeldAt(f.Now), Operation: f.Lease.View()},
	}
	if v.Lease.Holder != "" {
		v.Lease.Until = Known(f.Lease.Until)
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	return v
}

func (f Facts) Lock() LockView {
	v := LockView{Cluster: f.Cluster.Name, Used: f.Cluster.LocksUsed(), State: LockFree}
	if !f.Coordination.Read {
		v.State = LockUnknown
		return v
	}
	l := f.Coordination.Lock
	if l == nil {
		return v
	}
	left := l.End.Sub(f.Now).Seconds()
	v.Owner, v.Since, v.Until, v.SecondsLeft = &l.Owner, Known(l.Start), Known(l.End), &left
	if l.Owner != "" {
		mine := l.Owner == f.Cluster.LockOwner()
		v.Mine = &mine
	}
	if user := l.User(); user != "" {
		v.ManualHolder = &user
	}
	switch {
	case l.ExpiredAt(f.Now):
		v.State = LockExpired
	case slices.Contains(f.Coordination.DenyList, l.Owner):
		v.State = LockOwnerDenied
	default:
		v.State = LockHeld
	}
	return v
}

// denials returns the owners on either deny list, sorted.
func (f Facts) denials() []DeniedView {
	entries := map[string]SpecDenial{}
	ids := slices.Clone(f.Coordination.DenyList)
	for _, entry := range f.Cluster.Spec.LockOptions.DenyList {
		entries[entry.ID] = SpecDenies
		if entry.Allow {
			entries[entry.ID] = SpecAllows
		}
		ids = append(ids, entry.ID)
	}
	slices.Sort(ids)
	views := []DeniedView{}
	for _, id := range slices.Compact(ids) {
		v := DeniedView{ID: id, InDatabase: slices.Contains(f.Coordination.DenyList, id), Unread: !f.Coordination.Read, InSpec: SpecUnset}
		if entry, has := entries[id]; has {
			v.InSpec = entry
		}
		v.noteDenial(f.Coordination.Denials)
		v.Drift = v.drift(f)
		views = append(views, v)
	}
	return views
}

// noteDenial adds the user who denied the owner. A note about an owner that is not denied is
// left over.
func (v *DeniedView) noteDenial(notes map[string]fdb.Denial) {
	note, there := notes[v.ID]
	if !there || !v.InDatabase {
		return
	}
	v.SetBy, v.When = &note.By, &note.At
	if note.Reason != "" {
		v.Reason = &note.Reason
	}
}

// drift returns the effect of a difference. Removing an entry from the spec does not change
// the database.
func (v DeniedView) drift(f Facts) string {
	then := "the next pass changes that"
	if !f.Cluster.LocksUsed() {
		then = "no pass changes that while the spec does not use the lock"
	}
	switch {
	case v.Unread:
		return ""
	case v.InDatabase && v.InSpec == SpecUnset:
		return "denied in the database and not in this spec: it stays denied until a spec has it with allow: true"
	case v.InDatabase && v.InSpec == SpecAllows:
		return "still denied in the database; " + then
	case !v.InDatabase && v.InSpec == SpecDenies:
		return "not denied in the database yet; " + then
	default:
		return ""
	}
}

func (f Facts) upgrades() []UpgradeView {
	views := []UpgradeView{}
	for version, groups := range f.Coordination.Announced {
		v := UpgradeView{Version: version, Groups: []string{}}
		for _, g := range groups {
			v.Groups = append(v.Groups, string(g))
		}
		slices.Sort(v.Groups)
		views = append(views, v)
	}
	stable.Sort(views, func(a, b UpgradeView) int { return compareVersions(a.Version, b.Version) })
	return views
}

// compareVersions orders by number; what is no version comes first.
func compareVersions(a, b string) int {
	x, _ := fdb.ParseVersion(a)
	y, _ := fdb.ParseVersion(b)
	switch {
	case x == y:
		return 0
	case x.AtLeast(y):
		return 1
	default:
		return -1
	}
}

func (f Facts) listEntries() []ListEntryView {
	views := []ListEntryView{}
	for _, list := range fdb.SharedLists() {
		for _, m := range f.Coordination.Lists.Members(list) {
			views = append(views, ListEntryView{List: list, ControlPlaneInstance: m.Instance, Group: m.Group, Since: f.Coordination.Lists.Entries[list][m].UTC()})
		}
	}
	return views
}
