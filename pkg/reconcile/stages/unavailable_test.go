package stages

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// inNeedOfEverything returns a configured cluster in which every stage has something to do.
func inNeedOfEverything(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.DrainedStorage(tb)
	c := s.Cluster
	c.Generation = 2
	c.Spec.LockOptions = v1beta2.LockOptions{DisableLocks: new(bool), DenyList: []v1beta2.LockDenyListEntry{{ID: "dc9"}}}
	c.Spec.ProcessCounts = v1beta2.ProcessCounts{Log: 5, Stateless: 7, Storage: 3}
	c.Spec.DatabaseConfiguration.StorageEngine = "ssd-rocksdb-v1"
	c.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = new(true)
	c.Spec.AutomationOptions.Replacements.MaxConcurrentReplacements = new(5)
	c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb:1")}
	c.Spec.Routing.HeadlessService = new(true)
	c.Annotations = map[string]string{plan.AnnotationDisruptionBudgets: "true", plan.AnnotationTolerations: "true"}
	s.Coordination = plan.CoordinationFacts{}
	s.ConfigMap.Data[objects.KeyClusterFile] = "stale"
	delete(s.Services, c.HeadlessServiceName())

	c.ProcessGroup("storage-200").MarkForRemoval(stagestest.Noon)
	c.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-200"}

	long := stagestest.Noon.Add(-3 * time.Hour)
	c.ProcessGroup("log-101").SetCondition(v1beta2.ConditionMissingProcesses, long)
	c.ProcessGroup("log-102").SetCondition(v1beta2.ConditionIncorrectCommandLine, long)
	c.Spec.Buggify.NoSchedule = []v1beta2.ProcessGroupID{"log-103"}
	s.Pod(c.ProcessGroup("log-104")).Status.Phase = corev1.PodFailed
	delete(s.Pods, c.ProcessGroup("stateless-105").PodName(c))
	delete(s.Volumes, c.ProcessGroup("log-102").PVCName(c))
	c.ProcessGroup("log-102").Addresses = nil // it never had a volume
	for _, id := range []v1beta2.ProcessGroupID{"stateless-106", "storage-116"} {
		pod := s.Pod(c.ProcessGroup(id))
		pod.Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
		delete(pod.Labels, v1beta2.LabelProcessGroupID)
		delete(pod.Annotations, v1beta2.AnnotationLastAppliedConfigMap)
	}
	return s
}

// Without a database objects are still reconciled, since it may need them to become available. Nothing
// changes its processes, its data, its coordinators or its settings, and no new database is created.
func TestStagesDuringAnOutageDoNotChangeTheDatabase(t *testing.T) {
	type outcome struct {
		does  []string // the kinds of the actions, each once
		holds string   // part of the reason
		then  plan.Then
	}
	want := map[plan.StageName]outcome{
		"UpdateStatus":                      {does: []string{"WriteStatus"}},
		"CheckDeletion":                     {}, // nothing is being deleted
		"CheckFields":                       {}, // the API server kept all
		"CheckDistribution":                 {}, // the cluster has none
		"CancelReplacements":                {holds: "no process group can be included"},
		"UpdateLockConfiguration":           {holds: "it could not be read from the database"},
		"UpdateConfigMap":                   {does: []string{"ApplyConfigMap"}},
		"FailureDetector":                   {does: []string{"ApplyFailureDetector"}},
		"AdoptSpecs":                        {does: []string{"AdoptSpec"}},
		"CheckClientCompatibility":          {}, // nothing to check without an upgrade
		"ReplaceMisconfiguredPods":          {does: []string{"MarkForRemoval"}},
		"ReplaceFailedPods":                 {holds: "none is replaced while the database is unavailable"},
		"DeletePodsForBuggification":        {does: []string{"DeletePods"}, holds: "recreated by the next pass", then: plan.EndPass},
		"DeleteTerminalPods":                {does: []string{"DeletePods"}},
		"AddProcessGroups":                  {does: []string{"AddGroups"}},
		"UpdateDisruptionBudget":            {does: []string{"ApplyDisruptionBudget"}, holds: "the PodDisruptionBudget allows no eviction"},
		"AddServices":                       {does: []string{"ApplyService"}},
		"AddPVCs":                           {does: []string{"CreatePVC"}},
		"AddPods":                           {does: []string{"CreatePod"}},
		"GenerateInitialClusterFile":        {}, // there is one
		"RemoveIncompatibleProcesses":       {}, // only the database knows which pods those are
		"UpdateSidecarVersions":             {}, // there is no upgrade
		"UpdatePodConfig":                   {does: []string{"PatchMetadata"}},
		"UpdateLabels":                      {does: []string{"PatchMetadata"}},
		"UpdateTolerations":                 {does: []string{"SetTolerations"}},
		"UpdateDatabaseConfiguration":       {holds: "configuration"},
		"ChooseRemovals":                    {holds: "cannot determine which process groups to remove"},
		"ExcludeInstances":                  {holds: "nothing can be excluded"},
		"ChangeCoordinators":                {holds: "cannot determine whether the coordinators are valid"},
		"BounceProcesses":                   {holds: "the processes of 1 process group have to restart"},
		"MaintenanceModeChecker":            {holds: "cannot determine whether maintenance is over"},
		"UpdatePods":                        {holds: "have to be recreated; "},
		"RemoveServices":                    {}, // the spec needs it
		"RemovePods":                        {holds: "storage-114: "},
		"UpdateDisruptionBudget at the end": {does: []string{"ApplyDisruptionBudget"}, holds: "the PodDisruptionBudget allows no eviction"},
		"UpdateStatus at the end":           {does: []string{"WriteStatus"}, holds: "not reconciled yet"},
	}
	stages := ClusterWith(plan.Options{Adopt: true})
	stages[len(stages)-1].Name += " at the end"
	stages[len(stages)-2].Name += " at the end"
	if len(stages) != len(want) {
		t.Errorf("%d stages, and %d are spoken of", len(stages), len(want))
	}
	removed := map[string]func(*plan.Snapshot){
		"that does not answer": func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out", AsOf: stagestest.Noon}
		},
		"that was not read": func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{NotQueried: "no pod runs fdbcli"} },
		"that reports it is unavailable": func(s *plan.Snapshot) {
			s.Database.Status.Client.DatabaseStatus.Available = false
			s.Database.Status.Cluster.RecoveryState.Name = "recruiting_transaction_servers"
		},
	}
	for what, cut := range stagestest.Partial {
		removed["of which "+what] = func(s *plan.Snapshot) { cut(s.Database.Status) }
	}
	for name, lose := range removed {
		for _, stage := range stages {
			t.Run(string(stage.Name)+" beside one "+name, func(t *testing.T) {
				row, known := want[stage.Name]
				if !known {
					t.Fatal("its decision without a database is not in the table")
				}
				s := inNeedOfEverything(t)
				lose(&s)
				d := stage.Decide(s)
				if diff := cmp.Diff(row.does, kinds(d)); diff != "" {
					t.Errorf("actions (-want +got):\n%s", diff)
				}
				if got := stagestest.Reason(d); !strings.Contains(got, row.holds) || (row.holds == "") != (got == "") {
					t.Errorf("holds with %q, want %q", got, row.holds)
				}
				if d.Hold != nil && d.Hold.Then != row.then {
					t.Errorf("then %d, want %d", d.Hold.Then, row.then)
				}
			})
		}
	}
}

// With the database available the same cluster gives nearly every stage something to do, so that
// inaction above proves restraint.
func TestStagesActOnTheSameClusterOnceTheDatabaseIsAvailable(t *testing.T) {
	s := inNeedOfEverything(t)
	s.Coordination.Read, s.Coordination.ExclusionsRead = true, true
	s.Coordination.Exclusions = s.Database.Status.ExcludedTargets()
	want := map[plan.StageName]string{
		"UpdateLockConfiguration": "UpdateDenyList", "UpdateDatabaseConfiguration": "Configure", "ChooseRemovals": "MarkForRemoval",
		"ReplaceFailedPods": "MarkForRemoval", "BounceProcesses": "RestartProcesses", "RemovePods": "DeleteGroupObjects",
		"CancelReplacements": "KeepGroups",
	}
	for _, stage := range Cluster() {
		if kind, requested := want[stage.Name]; requested && !slices.Contains(kinds(stage.Decide(s)), kind) {
			t.Errorf("%s: %v, holds with %q", stage.Name, kinds(stage.Decide(s)), stagestest.Reason(stage.Decide(s)))
		}
	}
}

// kinds returns the kinds of a decision's actions, each once.
func kinds(d plan.Decision) []string {
	seen := map[string]bool{}
	for _, a := range d.Actions {
		seen[plan.KindOf(a)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
