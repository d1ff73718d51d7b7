package check

import (
	"maps"
	"slices"
)

// permissions returns the rules about the permissions of the current user.
func permissions() []Rule {
	return []Rule{
		{
			Code: "RBAC-001", Severity: Info, Title: "The current user may read everything that the rules need",
			Why:  "Without permission to read its facts a rule is not checked; manifests/rbac has the roles.",
			Find: unreadable,
		},
		{
			Code: "RBAC-002", Severity: Info, Title: "The current user may reconcile",
			Why:  "A pass checks all of its permissions before it changes anything, and ends if one is missing.",
			Find: missingPermissions,
		},
	}
}

func unreadable(f Facts) ([]Finding, string) {
	var found []Finding
	if f.NodesHidden != "" {
		found = append(found, one("nodes", f.NodesHidden, "auth", "can-i", "list", "nodes")...)
	}
	if !f.Lease.Read {
		found = append(found, one("lease", "it could not be read", "auth", "can-i", "get", "leases.coordination.k8s.io")...)
	}
	found = append(found, unreadOthers(f)...)
	found = append(found, unreadBackups(f)...)
	for _, name := range slices.Sorted(maps.Keys(f.Secrets)) {
		if why := f.Secrets[name].Unread; why != "" {
			found = append(found, one("secret/"+name, why, "auth", "can-i", "get", "secrets")...)
		}
	}
	return found, ""
}

// unreadOthers returns findings about objects of other controllers.
func unreadOthers(f Facts) []Finding {
	var found []Finding
	if why := f.Others.NodesUnread; why != "" && f.NodesHidden == "" {
		found = append(found, one("nodes", why, "auth", "can-i", "list", "nodes")...)
	}
	if why := f.Others.BudgetsUnread; why != "" {
		found = append(found, one("poddisruptionbudgets", why, "auth", "can-i", "list", "poddisruptionbudgets.policy")...)
	}
	if why := f.Others.ClassesUnread; why != "" {
		found = append(found, one("storageclasses", why, "auth", "can-i", "list", "storageclasses.storage.k8s.io")...)
	}
	return found
}

// unreadBackups returns findings about forbidden backups and restores. Other reasons why they
// could not be read are reported by the rules about them.
func unreadBackups(f Facts) []Finding {
	var found []Finding
	add := func(subject, why string, permission ...string) {
		found = append(found, one(subject, why, append([]string{"auth", "can-i"}, permission...)...)...)
	}
	if f.Backups.Forbidden {
		add("foundationdbbackups", f.Backups.Unread, "list", "foundationdbbackups.apps.foundationdb.org")
	}
	for _, b := range f.Backups.Backups {
		if b.Forbidden {
			add(backup(b.Resource.Name), b.Unread, "get", "deployments.apps")
		}
	}
	for _, r := range f.Backups.Restores {
		if r.Forbidden {
			add(restore(r.Resource.Name), r.Unread, "get", "foundationdbrestores.apps.foundationdb.org")
		}
	}
	return found
}

func missingPermissions(f Facts) ([]Finding, string) {
	if !f.MissingRead {
		return nil, "the permissions could not be read"
	}
	finding := Finding{Message: "not allowed", Subjects: f.Missing, Fix: []string{"auth", "can-i", "--list"}}
	return finding.IfAny(), ""
}
