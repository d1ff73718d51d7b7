package check

import (
	"maps"
	"slices"
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
	for _, name := range slices.Sorted(maps.Keys(f.Secrets)) {
		if why := f.Secrets[name].Unread; why != "" {
			found = append(found, one("secret/"+name, why, "auth", "can-i", "get", "secrets")...)
		}
	}
	return found, ""
}

func missingPowers(f Facts) ([]Finding, string) {
	if !f.MissingRead {
		return nil, "what is allowed could not be asked"
	}
	finding := Finding{Message: "it is not allowed", Subjects: f.Missing, Fix: []string{"auth", "can-i", "--list"}}
	return finding.some(), ""
}
