package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// upgrades returns the rules about versions.
func upgrades() []Rule {
	return []Rule{
		{
			Code: "UPGRADE-001", Severity: Warning, Title: "All processes run the desired version", needs: processList,
			Why:  "An upgrade is in progress or stuck; the plan shows what it waits for.",
			find: otherVersions,
		},
		{
			Code: "UPGRADE-002", Severity: Warning, Title: "No clients with an incompatible protocol", needs: processList,
			Why:  "A client or process of another version cannot connect.",
			find: incompatibleClients,
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
			Subjects: byVersion[version], Message: fmt.Sprintf("runs %s, %s desired", version, f.Cluster.Spec.Version), Fix: f.fix("plan"),
		})
	}
	return found, ""
}

func incompatibleClients(f Facts) ([]Finding, string) {
	finding := Finding{Message: "its protocol is incompatible with the database", Fix: []string{"get", "pods", "-A", "-o", "wide"}}
	for _, address := range f.Database.Status.Cluster.IncompatibleConnections {
		finding.Subjects = append(finding.Subjects, "address/"+address)
	}
	return finding.some(), ""
}
