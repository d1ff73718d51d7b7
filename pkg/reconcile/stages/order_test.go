package stages

import (
	"slices"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A pass does in one go what would otherwise take several, as long as each stage finds done what it
// relies on.
func TestStagesRunAfterTheStagesTheyDependOn(t *testing.T) {
	order := map[plan.StageName]int{}
	for i, stage := range ClusterWith(plan.Options{Adopt: true}) {
		order[stage.Name] = i // the later one of two
	}
	for why, pair := range map[string][2]plan.StageName{
		"the deny list is applied before the lock is taken":         {"UpdateLockConfiguration", "UpdateDatabaseConfiguration"},
		"pods mount the ConfigMap":                                  {"UpdateConfigMap", "AddPods"},
		"nothing is done for what is being deleted":                 {"CheckDeletion", "CheckFields"},
		"nothing is replaced that a dropped field keeps":            {"CheckFields", "ReplaceMisconfiguredPods"},
		"nothing is replaced for a distribution that is refused":    {"CheckDistribution", "ReplaceMisconfiguredPods"},
		"nothing is created for it":                                 {"CheckDistribution", "AddProcessGroups"},
		"groups are kept while a distribution is refused":           {"CancelReplacements", "CheckDistribution"},
		"what is kept counts as staying":                            {"CancelReplacements", "ReplaceMisconfiguredPods"},
		"the deny list is applied before an inclusion":              {"UpdateLockConfiguration", "CancelReplacements"},
		"what is adopted is not replaced":                           {"AdoptSpecs", "ReplaceMisconfiguredPods"},
		"nothing of a new version is made that clients cannot use":  {"CheckClientCompatibility", "UpdateSidecarVersions"},
		"what is misconfigured gets its successor in the same pass": {"ReplaceMisconfiguredPods", "AddProcessGroups"},
		"what failed does, too":                                     {"ReplaceFailedPods", "AddProcessGroups"},
		"a pod that ended is recreated in the same pass":            {"DeleteTerminalPods", "AddPods"},
		"a marked group does not crash and is not recreated":        {"ReplaceMisconfiguredPods", "DeletePodsForBuggification"},
		"objects are made for groups that are recorded":             {"AddProcessGroups", "AddServices"},
		"new pods wait for a lost node as their class should":       {"AddPods", "UpdateTolerations"},
		"removed groups are not counted any more":                   {"RemovePods", "UpdateDisruptionBudget"},
		"a pod's address can come from its service":                 {"AddServices", "AddPods"},
		"a pod mounts its volume":                                   {"AddPVCs", "AddPods"},
		"coordinators are chosen among pods":                        {"AddPods", "GenerateInitialClusterFile"},
		"servers that are shut out go before the rest is judged":    {"RemoveIncompatibleProcesses", "UpdatePodConfig"},
		"files are loaded before labels follow":                     {"UpdatePodConfig", "UpdateLabels"},
		"a database is created before anything of it is changed":    {"UpdateDatabaseConfiguration", "ExcludeInstances"},
		"surplus groups are marked before groups are excluded":      {"ChooseRemovals", "ExcludeInstances"},
		"what is excluded loses its coordinators in the same pass":  {"ExcludeInstances", "ChangeCoordinators"},
		"coordinators are named before servers restart":             {"ChangeCoordinators", "BounceProcesses"},
		"processes restart before pods are recreated":               {"BounceProcesses", "UpdatePods"},
		"a zone's maintenance ends before the next one goes down":   {"MaintenanceModeChecker", "UpdatePods"},
		"pods are recreated before groups are removed":              {"UpdatePods", "RemovePods"},
		"what is left is reported at the end":                       {"RemovePods", "UpdateStatus"},
	} {
		first, has := order[pair[0]]
		second, both := order[pair[1]]
		if !has || !both || first >= second {
			t.Errorf("%s: %s comes at %d, %s at %d", why, pair[0], first, pair[1], second)
		}
	}
	names := make([]plan.StageName, 0, len(Cluster()))
	for _, stage := range Cluster() {
		names = append(names, stage.Name)
	}
	if budget := slices.Index(names, "UpdateDisruptionBudget"); budget < order["AddProcessGroups"] || budget > order["AddPods"] {
		t.Errorf("the budget counts new groups at %d, and not between %d, where they are recorded, and %d, where their pods are made", budget, order["AddProcessGroups"], order["AddPods"])
	}
	if first := Cluster()[0]; first.Name != "UpdateStatus" || slices.IndexFunc(Cluster(), func(s plan.Stage) bool { return s.Name == "UpdateStatus" }) != 0 {
		t.Errorf("%s comes first", first.Name)
	}
}
