package plan_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type expected struct {
	action plan.Action
	locked bool
	impact plan.Impact
}

// effects is for every action whether it needs the lock, and what it does to a
// running database. An action without an entry fails the test below.
var effects = []expected{
	{plan.WriteStatus{}, false, plan.NoImpact},
	{plan.AddGroups{}, false, plan.NoImpact},
	{plan.SetConnectionString{}, false, plan.NoImpact},
	{plan.ApplyConfigMap{}, false, plan.NoImpact},
	{plan.ApplyService{}, false, plan.NoImpact},
	{plan.CreatePVC{}, false, plan.NoImpact},
	{plan.CreatePod{}, false, plan.NoImpact},
	{plan.SyncPodFiles{}, false, plan.NoImpact},
	{plan.PatchMetadata{}, false, plan.NoImpact},
	{plan.AdoptSpec{}, false, plan.NoImpact},
	{plan.RecordTaints{}, false, plan.NoImpact},
	{plan.RecordFailures{}, false, plan.NoImpact},
	{plan.ApplyFailureDetector{}, false, plan.NoImpact},
	{plan.DeleteFailureDetector{}, false, plan.NoImpact},
	{plan.Configure{New: true}, false, plan.Recovery}, // the database does not exist yet to hold a lock
	{plan.Configure{}, true, plan.Recovery},
	{plan.ChangeCoordinators{}, true, plan.Recovery},
	{plan.MarkForRemoval{}, false, plan.DataMove},
	{plan.KeepGroups{}, false, plan.NoImpact},
	{plan.CordonNode{}, false, plan.NoImpact},
	{plan.CordonNode{Evacuates: true}, false, plan.DataMove},
	{plan.SetSkip{}, false, plan.NoImpact},
	{plan.SetPriorities{}, false, plan.NoImpact},
	{plan.UncordonNode{}, false, plan.NoImpact},
	{plan.SetExcluded{}, false, plan.NoImpact},
	{plan.Exclude{}, true, plan.DataMove},
	{plan.DeleteGroupObjects{}, false, plan.ProcessRestart},
	{plan.DeleteGroupObjects{Undrained: true}, true, plan.ProcessRestart},
	{plan.IncludeAndForget{}, false, plan.NoImpact},
	{plan.IncludeAndForget{Targets: []string{"locality_instance_id:storage-1"}}, true, plan.Recovery},
	{plan.Include{Targets: []string{"locality_instance_id:storage-1"}}, true, plan.Recovery},
	{plan.DeletePods{}, false, plan.ProcessRestart},
	{plan.DeletePods{Shared: true}, true, plan.ProcessRestart},
	{plan.SetSidecarImage{}, false, plan.NoImpact},
	{plan.DeleteService{}, false, plan.NoImpact},
	{plan.ApplyDisruptionBudget{}, false, plan.NoImpact},
	{plan.DeleteDisruptionBudget{}, false, plan.NoImpact},
	{plan.SetTolerations{}, false, plan.NoImpact},
	{plan.EvictAgent{}, false, plan.NoImpact},
	{plan.RestartProcesses{}, true, plan.ProcessRestart},
	{plan.StartMaintenance{}, true, plan.NoImpact},
	{plan.EndMaintenance{}, true, plan.NoImpact},
	{plan.ForgetMaintenance{}, false, plan.NoImpact},
	{plan.UpdateDenyList{}, false, plan.NoImpact}, // it is the way past who holds the lock
	{plan.HoldLock{}, false, plan.NoImpact},       // it takes the lock itself
	{plan.ReleaseLock{}, false, plan.NoImpact},    // whoever it is released from has it
	{plan.AnnounceUpgrade{}, false, plan.NoImpact},
	{plan.WithdrawUpgrade{}, false, plan.NoImpact},
	{plan.ChangeLists{}, false, plan.NoImpact}, // who acts on it takes the lock

	// Backups and restores are none of what the lock is about: process groups.
	{plan.WriteBackupStatus{}, false, plan.NoImpact},
	{plan.SetBackupState{}, false, plan.NoImpact},
	{plan.SetBackupFinalizer{}, false, plan.NoImpact},
	{plan.ApplyAgents{}, false, plan.NoImpact},
	{plan.DeleteAgents{}, false, plan.NoImpact},
	{plan.DeleteAgentPod{}, false, plan.NoImpact},
	{plan.StartBackup{}, false, plan.NoImpact},
	{plan.StopBackup{}, false, plan.NoImpact},
	{plan.PauseAgents{}, false, plan.NoImpact},
	{plan.ModifyBackup{}, false, plan.NoImpact},
	{plan.DeleteBackupData{}, false, plan.DataLoss},
	{plan.WriteRestoreStatus{}, false, plan.NoImpact},
	{plan.StartRestore{}, false, plan.DataRestore},
	{plan.SetRestoreVersion{}, false, plan.NoImpact},
	{plan.AbortRestore{}, false, plan.DataLoss},
	{plan.ExpireBackup{}, false, plan.DataLoss},
	{plan.ClearBackupData{}, false, plan.DataLoss},
}

func TestEveryActionIsOneOfAPass(t *testing.T) {
	for _, e := range effects {
		_, ofCluster := e.action.(plan.ClusterAction)
		_, ofBackup := e.action.(plan.BackupAction)
		_, ofRestore := e.action.(plan.RestoreAction)
		if !ofCluster && !ofBackup && !ofRestore {
			t.Errorf("no actor carries out %s", plan.KindOf(e.action))
		}
	}
}

func TestActionsThatChangeTheDatabaseRequireTheLock(t *testing.T) {
	for _, e := range effects {
		got := plan.EffectOf(e.action)
		if got.Locked != e.locked || got.Impact != e.impact {
			t.Errorf("%s (%s): locked %t, impact %s, want %t, %s", plan.KindOf(e.action), e.action.Describe(), got.Locked, got.Impact, e.locked, e.impact)
		}
		if got.Stale == 0 {
			t.Errorf("%s changes nothing that anyone would look at again", plan.KindOf(e.action))
		}
		if takesDown := plan.KindOf(e.action) == "DeletePods" || plan.KindOf(e.action) == "DeleteGroupObjects"; (got.Cooldown > 0) != (takesDown && got.Locked) {
			t.Errorf("%s keeps others from acting for %s", plan.KindOf(e.action), got.Cooldown)
		}
		if got.Locked && got.Parallel {
			t.Errorf("%s runs under the lock beside others of its kind", plan.KindOf(e.action))
		}
	}
}

// No document is aged manually: what shakes the database is followed by a new one.
func TestActionsWithImpactMakeTheStatusDocumentStale(t *testing.T) {
	for _, e := range effects {
		_, edit := e.action.(plan.Edit) // changes the resource only
		if got := plan.EffectOf(e.action); got.Impact != plan.NoImpact && !edit && got.Stale&plan.Database == 0 {
			t.Errorf("%s (%s) leaves the status document as it was", plan.KindOf(e.action), got.Impact)
		}
	}
}

func TestEveryActionKindIsInTheEffectTable(t *testing.T) {
	for _, kind := range actionsInSource(t) {
		if !slices.ContainsFunc(effects, func(e expected) bool { return plan.KindOf(e.action) == kind }) {
			t.Errorf("the table of effects lacks %s", kind)
		}
	}
}

func TestEveryActionIsARowOfTheListOfChanges(t *testing.T) {
	for _, kind := range actionsInSource(t) {
		if c := plan.ChangeOf(kind, nil); c.Of == kind {
			t.Errorf("the table of changes lacks %s", kind)
		}
	}
}

func TestAnActionThatCreatesAnObjectAddsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		action plan.Action
		want   plan.Change
	}{
		"a new ConfigMap":           {plan.ApplyConfigMap{Create: true}, plan.Change{Sign: plan.Adds, Of: "ConfigMaps", Named: true}},
		"a changed ConfigMap":       {plan.ApplyConfigMap{}, plan.Change{Sign: plan.Alters, Of: "ConfigMaps", Named: true}},
		"a new service":             {plan.ApplyService{Verb: plan.CreateService}, plan.Change{Sign: plan.Adds, Of: "services"}},
		"a removal":                 {plan.MarkForRemoval{}, plan.Change{Sign: plan.Removes, Of: "process groups", Named: true}},
		"a removal that loses data": {plan.MarkForRemoval{WithoutExclusion: true}, plan.Change{Sign: plan.Removes, Of: "process groups"}},
	} {
		if got := plan.ChangeOf(plan.KindOf(tc.action), tc.action); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// actionsInSource are the types that have an effect.
func actionsInSource(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "effect" || f.Recv == nil {
				continue
			}
			if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				kinds = append(kinds, receiver.Name)
			}
		}
	}
	if len(kinds) < 10 {
		t.Fatalf("found only %v", kinds)
	}
	return kinds
}

func snapshot() plan.Snapshot {
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample"}}
	c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{
		{ProcessGroupID: "log-1", ProcessClass: v1beta2.ProcessClassLog}, {ProcessGroupID: "storage-1", ProcessClass: v1beta2.ProcessClassStorage},
	}
	return plan.Snapshot{
		Now: noon, Cluster: c,
		Nodes: map[string]*corev1.Node{"n": {}, "cordoned": {Spec: corev1.NodeSpec{Unschedulable: true}}}, NodesHidden: "forbidden", Pods: map[string]*corev1.Pod{"p": {}}, Volumes: map[string]*corev1.PersistentVolumeClaim{"v": {}},
		Services: map[string]*corev1.Service{"s": {}}, ConfigMap: &corev1.ConfigMap{}, PodFiles: map[string]plan.PodReport{"p": {}},
		Database:     plan.DatabaseFacts{Status: &fdb.Status{}},
		Coordination: plan.CoordinationFacts{Read: true},
		Detector:     plan.DetectorFacts{Job: &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "old"}}},

		DisruptionBudgets: map[string]*policyv1.PodDisruptionBudget{"b": {}}, DisruptionBudgetsHidden: "forbidden",

		Backup: &v1beta2.FoundationDBBackup{}, Restore: &v1beta2.FoundationDBRestore{}, Agents: plan.AgentFacts{Deployment: &appsv1.Deployment{}},
		BackupStatus: plan.BackupFacts{Status: &fdb.BackupStatus{}}, RestoreStatus: plan.RestoreFacts{Read: true},
		OtherRestores: plan.OtherRestoreFacts{Read: true}, BackupStore: plan.StoreFacts{Read: true}, BackupUse: plan.UseFacts{Read: true}, RestoreSource: plan.SourceFacts{Backup: "b"},
		RestoreTarget: plan.TargetFacts{Read: true},
		RestoreTimes:  plan.TimeFacts{Read: true},
	}
}

// allFacets are those of clusters, backups and restores.
const allFacets = plan.Everything | plan.EverythingOfBackups

func TestEditsDoNotChangeTheirInputSnapshot(t *testing.T) {
	edits := map[string]plan.Edit{
		"WriteStatus":          plan.WriteStatus{Status: v1beta2.FoundationDBClusterStatus{Configured: true}},
		"AddGroups":            plan.AddGroups{Groups: []plan.NewGroup{{ID: "log-2", Class: v1beta2.ProcessClassLog}}, At: noon},
		"SetConnectionString":  plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"},
		"ApplyConfigMap":       plan.ApplyConfigMap{Object: &corev1.ConfigMap{Data: map[string]string{"a": "b"}}},
		"KeepGroups":           plan.KeepGroups{Groups: []v1beta2.ProcessGroupID{"storage-1"}},
		"CordonNode":           plan.CordonNode{Node: "n"},
		"UncordonNode":         plan.UncordonNode{Node: "cordoned"},
		"MarkForRemoval":       plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{"log-1"}, At: noon},
		"ChangeLists":          plan.ChangeLists{Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.ReadyForRestart: {"log-1"}}, At: noon},
		"AdoptSpec of a pod":   plan.AdoptSpec{Kind: plan.KindPod, Name: "p", Hash: "ours"},
		"AdoptSpec of a claim": plan.AdoptSpec{Kind: plan.KindPVC, Name: "v", Hash: "ours"},
		"RecordTaints":         plan.RecordTaints{Pod: "p", Seen: map[string]int64{"example.com/drain": noon.Unix()}},
		"RecordFailures":       plan.RecordFailures{Groups: []v1beta2.ProcessGroupID{"log-1"}, At: noon},
		"a new CronJob":        plan.ApplyFailureDetector{Name: "d", Object: &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "d"}}},
		"no CronJob":           plan.DeleteFailureDetector{Name: "d"},
		"WriteBackupStatus":    plan.WriteBackupStatus{Status: v1beta2.FoundationDBBackupStatus{AgentCount: 2}},
		"WriteRestoreStatus":   plan.WriteRestoreStatus{Status: v1beta2.FoundationDBRestoreStatus{Running: true}},
		"a changed budget":     plan.ApplyDisruptionBudget{Name: "b", Object: &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &intstr.IntOrString{IntVal: 1}}}},
		"no budget any more":   plan.DeleteDisruptionBudget{Name: "b"},
		"SetTolerations":       plan.SetTolerations{Name: "p", Seconds: map[string]*int64{"k": new(int64)}, Before: map[string]*int64{}},
		"SetPriorities":        plan.SetPriorities{Resources: []plan.RegionsResource{{Name: "sample", Regions: []v1beta2.Region{{}}}}},
		"SetExcluded":          plan.SetExcluded{Groups: []v1beta2.ProcessGroupID{"log-1"}, At: noon},
	}
	marked := func() plan.Snapshot {
		s := snapshot()
		s.Cluster.ProcessGroup("storage-1").MarkForRemoval(noon)
		return s
	}
	for name, edit := range edits {
		before := marked()
		after := edit.Apply(before)
		if diff := cmp.Diff(marked(), before); diff != "" {
			t.Errorf("%s changed the snapshot that it was given (-want +got):\n%s", name, diff)
		}
		if cmp.Equal(before, after) {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func TestAddedGroupsAreSorted(t *testing.T) {
	after := plan.AddGroups{Groups: []plan.NewGroup{{ID: "log-2", Class: v1beta2.ProcessClassLog}, {ID: "a-1", Class: v1beta2.ProcessClassLog}}, At: noon}.Apply(snapshot())
	var ids []string
	for _, g := range after.Groups() {
		ids = append(ids, string(g.ProcessGroupID))
	}
	if diff := cmp.Diff([]string{"a-1", "log-1", "log-2", "storage-1"}, ids); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestDroppingAFacetClearsOnlyThatFacet(t *testing.T) {
	for i := range (plan.Everything | plan.EverythingOfBackups).Names() {
		facet := plan.Facet(1 << i)
		if len(facet.Names()) != 1 {
			t.Fatalf("facet %d is called %v", facet, facet.Names())
		}
		without, only := snapshot().Without(facet), snapshot().Without(allFacets&^facet)
		if cmp.Equal(snapshot(), without) {
			t.Errorf("dropping %s drops nothing", facet)
		}
		nothing := snapshot().Without(allFacets)
		if cmp.Equal(nothing, only) {
			t.Errorf("nothing of %s is left", facet)
		}
	}
	if want := (plan.Snapshot{Now: noon}); !cmp.Equal(want, snapshot().Without(allFacets)) {
		t.Error("something is left of nothing")
	}
	if s := snapshot(); s.Cluster == nil || s.Without(0).Cluster == nil {
		t.Error("dropping nothing drops something")
	}
}

func TestASharedListIsReadByControlPlaneInstance(t *testing.T) {
	dc1, dc10, nameless := fdb.Member{Instance: "dc1", Group: "b"}, fdb.Member{Instance: "dc10", Group: "c"}, fdb.Member{Group: "d"}
	lists := plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{
		fdb.ReadyForRestart: {dc1: noon, {Instance: "dc1", Group: "a"}: noon, dc10: noon, nameless: noon},
	}}
	for instance, want := range map[string][]v1beta2.ProcessGroupID{"dc1": {"a", "b"}, "dc10": {"c"}, "": {"d"}, "dc": nil} {
		if diff := cmp.Diff(want, lists.Own(fdb.ReadyForRestart, instance)); diff != "" {
			t.Errorf("%q: %s", instance, diff)
		}
	}
	if !lists.Has(fdb.ReadyForRestart, dc10) || lists.Has(fdb.PendingForRestart, dc10) {
		t.Error("a member is on a list that it is not on, or the other way round")
	}
}

func TestListChangesAffectOnlyTheirControlPlaneInstance(t *testing.T) {
	s := snapshot()
	s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	own, other := fdb.Member{Instance: "dc1", Group: "a"}, fdb.Member{Instance: "dc2", Group: "a"}
	s.Coordination.Lists = plan.ListFacts{
		Read:      true,
		Entries:   map[fdb.SharedList]map[fdb.Member]time.Time{fdb.ReadyForRestart: {own: noon, other: noon}, fdb.PendingForRestart: {own: noon}},
		Addresses: map[fdb.Member][]string{own: {"10.1.0.1"}, other: {"10.1.0.2"}},
	}
	after := plan.ChangeLists{
		Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForRestart: {"a", "b"}}, Remove: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.ReadyForRestart: {"a"}},
		Addresses: map[v1beta2.ProcessGroupID][]string{"a": nil, "b": {"10.1.0.3"}}, At: noon.Add(time.Minute),
	}.Apply(s).Coordination.Lists
	newcomer := fdb.Member{Instance: "dc1", Group: "b"}
	if diff := cmp.Diff(map[fdb.Member]time.Time{own: noon, newcomer: noon.Add(time.Minute)}, after.Entries[fdb.PendingForRestart]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[fdb.Member]time.Time{other: noon}, after.Entries[fdb.ReadyForRestart]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[fdb.Member][]string{other: {"10.1.0.2"}, newcomer: {"10.1.0.3"}}, after.Addresses); diff != "" {
		t.Error(diff)
	}
}

func TestFacetsAreEncodedAsNamesInJSON(t *testing.T) {
	text, err := json.Marshal(plan.ClusterResource | plan.Database)
	if err != nil || string(text) != `"record, database"` {
		t.Errorf("got %s and %v", text, err)
	}
}

func TestRemainingGroupsAreThoseNotMarkedForRemoval(t *testing.T) {
	s := snapshot()
	s.Groups()[0].MarkForRemoval(noon)
	if remaining := s.Remaining(); len(remaining) != 1 || remaining[0].ProcessGroupID != "storage-1" {
		t.Errorf("staying: %v", remaining)
	}
}

func TestADecisionIsRefusedByItsFirstCheckThatFails(t *testing.T) {
	d := plan.Decision{Checks: []plan.Check{{Gate: plan.GateAvailable, OK: true}, {Gate: plan.GateDD}, {Gate: plan.GateQoS}}}
	if c, refused := d.Refused(); !refused || c.Gate != plan.GateDD {
		t.Errorf("refused %t by %s", refused, c.Gate)
	}
	if _, refused := (plan.Decision{Checks: d.Checks[:1]}).Refused(); refused {
		t.Error("refused though every check passes")
	}
}

func TestDatabaseFactsWithoutAStatusDocumentReturnTheReason(t *testing.T) {
	tests := map[string]struct {
		facts     plan.DatabaseFacts
		why       string
		available bool
	}{
		"it was not queried":            {plan.DatabaseFacts{NotQueried: "no pod runs"}, "no pod runs", false},
		"it did not answer":             {plan.DatabaseFacts{Unreachable: "timed out"}, "timed out", false},
		"it answered":                   {plan.DatabaseFacts{Status: available()}, "", true},
		"it reports no":                 {plan.DatabaseFacts{Status: &fdb.Status{}}, "", false},
		"it answered without processes": {plan.DatabaseFacts{Status: &fdb.Status{Client: available().Client}}, "", false},
	}
	for name, tc := range tests {
		if tc.facts.Why() != tc.why || tc.facts.Available() != tc.available {
			t.Errorf("%s: %q, available %t", name, tc.facts.Why(), tc.facts.Available())
		}
	}
}

func available() *fdb.Status {
	s := &fdb.Status{Cluster: fdb.ClusterStatus{Processes: map[string]fdb.Process{"a": {}}}}
	s.Client.DatabaseStatus.Available = true
	return s
}

func TestActionsAreDescribedAndNamed(t *testing.T) {
	tests := map[string]plan.Action{
		"update status: configured true":                         plan.WriteStatus{Changes: []string{"configured true"}},
		"add 1 process group: log-2":                             plan.AddGroups{Groups: []plan.NewGroup{{ID: "log-2"}}},
		"create ConfigMap sample-config":                         plan.ApplyConfigMap{Name: "sample-config", Create: true},
		"update ConfigMap sample-config (cluster-file)":          plan.ApplyConfigMap{Name: "sample-config", Keys: []string{"cluster-file"}},
		"update ConfigMap sample-config (labels or annotations)": plan.ApplyConfigMap{Name: "sample-config"},
		"announce: readyForRestart a, b; withdraw: pendingForRemoval c; set addresses of c: 10.1.0.1; remove the addresses of d": plan.ChangeLists{
			Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.ReadyForRestart: {"a", "b"}}, Remove: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForRemoval: {"c"}},
			Addresses: map[v1beta2.ProcessGroupID][]string{"c": {"10.1.0.1"}, "d": nil},
		},
		"start a backup on tag t to blobstore://key:…@s/b?bucket=b: one snapshot, not encrypted": plan.StartBackup{Start: fdb.BackupStart{Tag: "t", URL: "blobstore://key:hunter2@s/b?bucket=b"}},
		"abort the backup on tag t": plan.StopBackup{Tag: "t", Abort: true},
		"replace service sample":    plan.ApplyService{Name: "sample", Verb: plan.ReplaceService},
		"set on pod/p: a, b, -c":    plan.PatchMetadata{Kind: plan.KindPod, Name: "p", Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "1"}, Remove: []string{"c"}},
		"change coordinators to 1.1.1.1:4501 and store the new connection string": plan.ChangeCoordinators{Coordinators: []fdb.Address{{Host: "1.1.1.1", Port: 4501}}},
	}
	for want, action := range tests {
		if got := action.Describe(); got != want {
			t.Errorf("described as %q, want %q", got, want)
		}
		if action.Subject() == "" && plan.KindOf(action) != "WriteStatus" {
			t.Errorf("%s has no subject", plan.KindOf(action))
		}
	}
}

// What passes decide by is work, what only users read is not.
func TestWhichStatusChangesAreBookkeeping(t *testing.T) {
	before := v1beta2.FoundationDBClusterStatus{
		ConnectionString: "a:b@10.0.0.1:4501", Configured: true, RunningVersion: "7.3.79",
		ProcessGroups: []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "log-1"}},
	}
	for name, tc := range map[string]struct {
		change func(*v1beta2.FoundationDBClusterStatus)
		want   bool
	}{
		"health":            {func(s *v1beta2.FoundationDBClusterStatus) { s.Health.Available = true }, true},
		"generations":       {func(s *v1beta2.FoundationDBClusterStatus) { s.Generations.Reconciled = 3 }, true},
		"configuration":     {func(s *v1beta2.FoundationDBClusterStatus) { s.DatabaseConfiguration.RedundancyMode = "double" }, true},
		"connection string": {func(s *v1beta2.FoundationDBClusterStatus) { s.ConnectionString = "a:c@10.0.0.1:4501" }, false},
		"version":           {func(s *v1beta2.FoundationDBClusterStatus) { s.RunningVersion = "7.4.6" }, false},
		"a condition": {func(s *v1beta2.FoundationDBClusterStatus) {
			s.ProcessGroups[0].SetCondition(v1beta2.ConditionMissingProcesses, time.Now())
		}, false},
		"a mark": {func(s *v1beta2.FoundationDBClusterStatus) { s.ProcessGroups[0].MarkForRemoval(time.Now()) }, false},
		"health and a mark": {func(s *v1beta2.FoundationDBClusterStatus) {
			s.Health.Available = true
			s.ProcessGroups[0].MarkForRemoval(time.Now())
		}, false},
		"coordinators": {func(s *v1beta2.FoundationDBClusterStatus) { s.NeedsNewCoordinators = true }, false},
	} {
		after := *before.DeepCopy()
		tc.change(&after)
		if got := plan.OnlyBookkeeping(before, after); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if plan.IsBookkeeping(plan.WriteStatus{}) || !plan.IsBookkeeping(plan.WriteStatus{Bookkeeping: true}) || plan.IsBookkeeping(plan.CreatePod{}) {
		t.Error("an action is judged by its field")
	}
}
