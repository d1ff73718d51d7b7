package check

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
)

// locks returns the rules about the database lock, its deny list and the Lease.
func locks() []Rule {
	return []Rule{
		{
			Code: "LOCK-001", Severity: Error, Title: "The lock holder is not on the deny list", Needs: findings.NeedsSharedLists,
			Why:  "A user denied the control-plane instance while it held the lock; the next pass of another one takes the lock over.",
			Find: deniedHolder,
		},
		{
			Code: "LOCK-002", Severity: Warning, Title: "No stale lock", Needs: findings.NeedsSharedLists,
			Why:  "The lock expired without being released: the control-plane instance that held it crashed, or lost the database. The next pass takes it over; check why it was not released.",
			Find: staleLock,
		},
		{
			Code: "LOCK-003", Severity: Warning, Title: "The deny list matches the spec", Needs: findings.NeedsSharedLists,
			Why:  "An entry that is removed from the spec stays in the database until the spec allows the control-plane instance again. A forgotten entry denies it forever.",
			Find: denyListDrift,
		},
		{
			Code: "LOCK-004", Severity: Error, Title: "The current control-plane instance is not denied", Needs: findings.NeedsSharedLists,
			Why:  "No pass for this resource can take the lock.",
			Find: ownDenial,
		},
		{
			Code: "LOCK-005", Severity: Info, Title: "No stale Lease",
			Why:  "A run was killed before it released its Lease. The next run completes its work.",
			Find: staleLease,
		},
		{
			Code: "LOCK-006", Severity: Warning, Title: "The clock of this machine agrees with the API server's",
			Why:  "Passes use the API server's time and are refused from 30 s of difference on. Programs without that, an operator or fdbcli, write locks and timestamps by this clock.",
			Find: clockOff,
		},
	}
}

const lock = "lock"

// controlPlane returns a control-plane instance as a subject.
func controlPlane(id string) string { return "instance/" + id }

func deniedHolder(f Facts) ([]Finding, string) {
	l := f.Coordination.Lock
	if l == nil || l.Owner == "" || l.ExpiredAt(f.Now) || !slices.Contains(f.Coordination.DenyList, l.Owner) {
		return nil, ""
	}
	finding := Finding{Subjects: []string{lock}, Message: fmt.Sprintf("%q holds it and is on the deny list", l.Owner), Since: l.Start, Fix: f.fix("reconcile")}
	return finding.IfAny(), ""
}

func staleLock(f Facts) ([]Finding, string) {
	l := f.Coordination.Lock
	if l == nil || l.Owner == "" || !l.ExpiredAt(f.Now) {
		return nil, ""
	}
	finding := Finding{Subjects: []string{lock}, Message: fmt.Sprintf("%q took it and never released it", l.Owner), Since: l.End, Fix: f.fix("reconcile")}
	return finding.IfAny(), ""
}

func denyListDrift(f Facts) ([]Finding, string) {
	if !f.Coordination.Read {
		return nil, "" // the spec has no deny list, and does not use locks
	}
	var found []Finding
	for _, entry := range f.Cluster.Spec.LockOptions.DenyList {
		denied := slices.Contains(f.Coordination.DenyList, entry.ID)
		switch {
		case denied && entry.Allow:
			found = append(found, one(controlPlane(entry.ID), "it is denied, and the spec allows it", f.fix("reconcile")...)...)
		case !denied && !entry.Allow:
			found = append(found, one(controlPlane(entry.ID), "it is not denied, and the spec denies it", f.fix("reconcile")...)...)
		}
	}
	for _, id := range f.Coordination.DenyList {
		if !f.specNames(id) {
			found = append(found, one(controlPlane(id), "it is denied, and the spec does not name it", f.allowing(id)...)...)
		}
	}
	return found, ""
}

func (f Facts) specNames(id string) bool {
	return slices.ContainsFunc(f.Cluster.Spec.LockOptions.DenyList, func(e v1beta2.LockDenyListEntry) bool { return e.ID == id })
}

// allowing returns a patch of the spec that allows a control-plane instance; other entries stay.
func (f Facts) allowing(id string) []string {
	entries := slices.DeleteFunc(slices.Clone(f.Cluster.Spec.LockOptions.DenyList), func(e v1beta2.LockDenyListEntry) bool { return e.ID == id })
	entries = append(entries, v1beta2.LockDenyListEntry{ID: id, Allow: true})
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"lockOptions": map[string]any{"denyList": entries}}})
	if err != nil {
		return f.fix("plan") // plain strings and booleans: this does not happen
	}
	return []string{"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", string(text)}
}

func ownDenial(f Facts) ([]Finding, string) {
	owner := f.Cluster.LockOwner()
	if owner == "" || !slices.Contains(f.Coordination.DenyList, owner) {
		return nil, ""
	}
	return with(one(controlPlane(owner), "it is on the deny list", f.allowing(owner)...))
}

func clockOff(f Facts) ([]Finding, string) {
	check := f.Clock.Check()
	switch {
	case check.OK:
		return nil, ""
	case !f.Clock.Known:
		return nil, check.Evidence
	}
	return with(one("clock", "it is "+check.Evidence, "fdb", "can", "reconcile", f.Cluster.Name))
}

func staleLease(f Facts) ([]Finding, string) {
	switch {
	case !f.Lease.Read:
		return nil, "the Lease could not be read"
	case f.Lease.Holder == "" || !f.Now.After(f.Lease.Until):
		return nil, ""
	}
	finding := Finding{Subjects: []string{"lease"}, Message: f.Lease.Holder + " never released it", Since: f.Lease.Until, Fix: f.fix("reconcile")}
	return finding.IfAny(), ""
}
