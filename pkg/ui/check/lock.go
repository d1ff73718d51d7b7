package check

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// locks are the rules about who may act on the cluster.
func locks() []Rule {
	return []Rule{
		{
			Code: "LOCK-001", Severity: Error, Title: "The lock is not held by an instance on the deny list", needs: shared,
			Why:  "Somebody shut the instance out while it held the lock; the next pass of another takes it over.",
			find: deniedHolder,
		},
		{
			Code: "LOCK-002", Severity: Warning, Title: "No lock was left behind", needs: shared,
			Why:  "The lock ran out and nobody gave it back: the instance that held it died, or lost the database. The next pass takes it over; see whether that instance is well.",
			find: lockLeftBehind,
		},
		{
			Code: "LOCK-003", Severity: Warning, Title: "The deny list is the one of the spec", needs: shared,
			Why:  "An entry that goes from the spec stays in the database until the spec allows the instance again. An instance that nobody remembers to have shut out never acts.",
			find: denyListDrift,
		},
		{
			Code: "LOCK-004", Severity: Error, Title: "This instance is not shut out", needs: shared,
			Why:  "No pass of this resource can take the lock.",
			find: shutOut,
		},
		{
			Code: "LOCK-005", Severity: Info, Title: "No run died with the cluster's Lease",
			Why:  "A run was killed before it gave its Lease back. The next one finishes what it began.",
			find: leaseLeftBehind,
		},
	}
}

const lock = "lock"

func deniedHolder(f Facts) ([]Finding, string) {
	l := f.Coordination.Lock
	if l == nil || l.Owner == "" || l.ExpiredAt(f.Now) || !slices.Contains(f.Coordination.DenyList, l.Owner) {
		return nil, ""
	}
	finding := Finding{Subjects: []string{lock}, Message: fmt.Sprintf("%q holds it and is on the deny list", l.Owner), Since: l.Start, Fix: f.fix("reconcile")}
	return finding.some(), ""
}

func lockLeftBehind(f Facts) ([]Finding, string) {
	l := f.Coordination.Lock
	if l == nil || l.Owner == "" || !l.ExpiredAt(f.Now) {
		return nil, ""
	}
	finding := Finding{Subjects: []string{lock}, Message: fmt.Sprintf("%q took it and never gave it back", l.Owner), Since: l.End, Fix: f.fix("reconcile")}
	return finding.some(), ""
}

func denyListDrift(f Facts) ([]Finding, string) {
	if !f.Coordination.Read {
		return nil, "" // nothing that the spec asks for is in the database
	}
	var found []Finding
	for _, entry := range f.Cluster.Spec.LockOptions.DenyList {
		denied := slices.Contains(f.Coordination.DenyList, entry.ID)
		switch {
		case denied && entry.Allow:
			found = append(found, one("instance/"+entry.ID, "it is shut out, and the spec allows it", f.fix("reconcile")...)...)
		case !denied && !entry.Allow:
			found = append(found, one("instance/"+entry.ID, "it is not shut out, and the spec denies it", f.fix("reconcile")...)...)
		}
	}
	for _, id := range f.Coordination.DenyList {
		if !f.specNames(id) {
			found = append(found, one("instance/"+id, "it is shut out, and the spec does not name it", f.allowing(id)...)...)
		}
	}
	return found, ""
}

func (f Facts) specNames(id string) bool {
	return slices.ContainsFunc(f.Cluster.Spec.LockOptions.DenyList, func(e v1beta2.LockDenyListEntry) bool { return e.ID == id })
}

// allowing has the spec let an instance in again; the other entries stay.
func (f Facts) allowing(id string) []string {
	entries := slices.DeleteFunc(slices.Clone(f.Cluster.Spec.LockOptions.DenyList), func(e v1beta2.LockDenyListEntry) bool { return e.ID == id })
	entries = append(entries, v1beta2.LockDenyListEntry{ID: id, Allow: true})
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"lockOptions": map[string]any{"denyList": entries}}})
	if err != nil {
		return f.fix("plan") // plain strings and booleans: this does not happen
	}
	return []string{"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", string(text)}
}

func shutOut(f Facts) ([]Finding, string) {
	owner := f.Cluster.LockOwner()
	if owner == "" || !slices.Contains(f.Coordination.DenyList, owner) {
		return nil, ""
	}
	return with(one("instance/"+owner, "it is on the deny list", f.allowing(owner)...))
}

func leaseLeftBehind(f Facts) ([]Finding, string) {
	switch {
	case !f.Lease.Read:
		return nil, "the Lease could not be read"
	case f.Lease.Holder == "" || !f.Now.After(f.Lease.Until):
		return nil, ""
	}
	finding := Finding{Subjects: []string{"lease"}, Message: f.Lease.Holder + " never gave it back", Since: f.Lease.Until, Fix: f.fix("reconcile")}
	return finding.some(), ""
}
