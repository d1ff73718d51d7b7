package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// upgrades are the rules about versions.
func upgrades() []Rule {
	return []Rule{
		{
			Code: "UPGRADE-001", Severity: Warning, Title: "All processes run the version of the spec", needs: listing,
			Why:  "An upgrade is on its way, or stuck; the plan says what it waits for.",
			find: otherVersions,
		},
		{
			Code: "UPGRADE-002", Severity: Warning, Title: "Nobody talks to the database in another protocol", needs: listing,
			Why:  "A client or a server of another version tries to connect in vain.",
			find: strangers,
		},
	}
}

func otherVersions(f Facts) ([]Finding, string) {
	byVersion := map[string][]string{}
	for _, p := range f.Database.Status.ProcessList() {
		if version := strings.TrimSuffix(p.Version, "-PRERELEASE"); version != "" && version != f.Cluster.Spec.Version {
			byVersion[version] = append(byVersion[version], process(p))
		}
	}
	var found []Finding
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		found = append(found, Finding{
			Subjects: byVersion[version], Message: fmt.Sprintf("runs %s, the spec asks for %s", version, f.Cluster.Spec.Version), Fix: f.fix("plan"),
		})
	}
	return found, ""
}

func strangers(f Facts) ([]Finding, string) {
	finding := Finding{Message: "speaks another protocol than the database", Fix: []string{"get", "pods", "-A", "-o", "wide"}}
	for _, address := range f.Database.Status.Cluster.IncompatibleConnections {
		finding.Subjects = append(finding.Subjects, "address/"+address)
	}
	return finding.some(), ""
}
