package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
)

// upgrades returns the rules about versions.
func upgrades() []Rule {
	return []Rule{
		{
			Code: "UPGRADE-001", Severity: Warning, Title: "All processes run the desired version", Needs: findings.NeedsProcessList,
			Why:  "An upgrade is in progress or stuck; the plan shows what it waits for.",
			Find: otherVersions,
		},
		{
			Code: "UPGRADE-002", Severity: Warning, Title: "No clients with an incompatible protocol", Needs: findings.NeedsProcessList,
			Why:  "A client or process of another version cannot connect.",
			Find: incompatibleClients,
		},
		{
			Code: "UPGRADE-003", Severity: Warning, Title: "The running version has no known harmful defect", Needs: findings.NeedsProcessList,
			Why:  "A defect of this version can lose data, availability or a backup, or reports something wrong. docs/versions.md has all of them with their sources.",
			Find: knownDefects,
		},
		{
			Code: "UPGRADE-010", OfSpec: true, Severity: Error, Title: "The images have the desired version",
			Why:  "A tag in imageConfigs that names another version than spec.version keeps every pod from running it: passes end before anything with that image is created.",
			Find: otherImages,
		},
	}
}

func otherImages(f Facts) ([]Finding, string) {
	var found []Finding
	for _, err := range f.Cluster.ImageContradictions() {
		found = append(found, f.edit("foundationdbcluster/"+f.Cluster.Name, err.Field, err.Error()))
	}
	return found, ""
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
	return finding.IfAny(), ""
}

// knownDefects finds the harmful facts about the versions of the processes that report.
func knownDefects(f Facts) ([]Finding, string) {
	byVersion := map[fdb.Version][]string{}
	var untested reasons
	for _, p := range f.Database.Status.ProcessList() {
		if version, err := fdb.ParseVersion(p.Version); err == nil {
			byVersion[version] = append(byVersion[version], process(p))
		}
	}
	var found []Finding
	for _, version := range slices.SortedFunc(maps.Keys(byVersion), fdb.Version.Compare) {
		for _, fact := range versionfacts.Running(version, f.VersionUse(&f.Backups)) {
			switch {
			case !fact.Consequence.Harmful():
			case fact.Applies == versionfacts.Unknown:
				untested.add("", fmt.Sprintf("cannot determine whether %s is used, which decides %s", fact.Condition, fact.ID))
			default:
				found = append(found, Finding{
					Subjects: byVersion[version], Message: fmt.Sprintf("FoundationDB %s: %s; %s (%s, %s)", fact.Version, fact.Summary, fact.Advice, fact.ID, fact.Sources[0]),
					Fix: []string{"fdb", "version"},
				})
			}
		}
	}
	return found, untested.String()
}
