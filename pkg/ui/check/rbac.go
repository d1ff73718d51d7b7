package check

import (
	"maps"
	"slices"
	"strings"
)

// rights are the rules about what whoever checks may see and do.
func rights() []Rule {
	return []Rule{
		{
			Code: "RBAC-001", Severity: Info, Title: "Everything that the rules look at may be read",
			Why:  "What may not be read is not checked; manifests/rbac has the roles.",
			find: unreadable,
		},
		{
			Code: "RBAC-002", Severity: Info, Title: "Whoever checks may also run a pass",
			Why:  "A pass asks for all of its rights before it changes anything, and ends when one is missing.",
			find: missingPowers,
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
	found = append(found, unreadBackups(f)...)
	for _, name := range slices.Sorted(maps.Keys(f.Secrets)) {
		if why := f.Secrets[name].Unread; why != "" {
			found = append(found, one("secret/"+name, why, "auth", "can-i", "get", "secrets")...)
		}
	}
	return found, ""
}

// unreadBackups are the backups and restores that may not be looked at. What keeps them
// from being looked at otherwise is said by the rules about them.
func unreadBackups(f Facts) []Finding {
	var found []Finding
	look := func(subject, why string, powers ...string) {
		if strings.HasPrefix(why, "forbidden: ") {
			found = append(found, one(subject, why, append([]string{"auth", "can-i"}, powers...)...)...)
		}
	}
	look("foundationdbbackups", f.Backups.Unread, "list", "foundationdbbackups.apps.foundationdb.org")
	for _, b := range f.Backups.Backups {
		look(backup(b.Record.Name), b.Unread, "get", "deployments.apps")
	}
	for _, r := range f.Backups.Restores {
		look(restore(r.Record.Name), r.Unread, "get", "foundationdbrestores.apps.foundationdb.org")
	}
	return found
}

func missingPowers(f Facts) ([]Finding, string) {
	if !f.MissingRead {
		return nil, "what is allowed could not be asked"
	}
	finding := Finding{Message: "it is not allowed", Subjects: f.Missing, Fix: []string{"auth", "can-i", "--list"}}
	return finding.some(), ""
}
