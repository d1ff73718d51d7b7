package live_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestNothingIsDoneWithoutALease(t *testing.T) {
	f := newField(t, sample())
	f.observe(plan.Everything)
	if err := f.cluster.Act(t.Context(), plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"}); err == nil {
		t.Error("an action ran without a Lease")
	}
	if writes := f.log.writes(); len(writes) > 0 {
		t.Errorf("wrote %v", writes)
	}
}

func TestAConflictIsAnErrorAndNothingElseIsWritten(t *testing.T) {
	f := newField(t, sample())
	f.begin()
	f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.RunningVersion = "7.1.67" }) // another user's write
	f.log.reset()
	err := f.cluster.Act(t.Context(), plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	if diff := cmp.Diff([]string{"status FoundationDBCluster sample"}, f.log.all()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if s := f.resource().Status; s.ConnectionString != "" || s.RunningVersion != "7.1.67" {
		t.Errorf("stored %q and %q over another user's write", s.ConnectionString, s.RunningVersion)
	}
}

func TestTheNormalizedSpecIsNeverWritten(t *testing.T) {
	f := settled(t)
	if diff := cmp.Diff(sample().Spec, f.resource().Spec); diff != "" {
		t.Errorf("the stored spec changed (-want +got):\n%s", diff)
	}
}

func TestStatusEditsBuildOnEachOther(t *testing.T) {
	f := newField(t, sample())
	f.begin()
	for _, a := range []plan.Action{
		plan.AddGroups{Groups: []plan.NewGroup{{ID: "storage-9", Class: v1beta2.ProcessClassStorage}}, At: f.cluster.Clock.Now()},
		plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"},
	} {
		if err := f.cluster.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if s := f.resource().Status; len(s.ProcessGroups) != 1 || s.ConnectionString != "a:b@1.1.1.1:4501" {
		t.Errorf("stored %d process groups and %q", len(s.ProcessGroups), s.ConnectionString)
	}
}

func TestCreatingAnExistingObjectIsAnAlreadyExistsError(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: "taken"}
	pod := &corev1.Pod{ObjectMeta: meta}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta}
	service := &corev1.Service{ObjectMeta: meta}
	configMap := &corev1.ConfigMap{ObjectMeta: meta}
	f := newField(t, sample(), pod.DeepCopy(), claim.DeepCopy(), service.DeepCopy(), configMap.DeepCopy())
	f.begin()
	for name, a := range map[string]plan.Action{
		"pod":        plan.CreatePod{Name: "taken", Object: pod},
		"claim":      plan.CreatePVC{Name: "taken", Object: claim},
		"service":    plan.ApplyService{Name: "taken", Object: service, Verb: plan.CreateService},
		"config map": plan.ApplyConfigMap{Name: "taken", Object: configMap, Create: true},
	} {
		if err := f.cluster.Act(t.Context(), a); !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s: got %v, want that it exists", name, err)
		}
	}
	if pod.ResourceVersion != "" || service.ResourceVersion != "" {
		t.Error("acting changed the plan's objects")
	}
}

func TestAServiceIsUpdatedOrReplaced(t *testing.T) {
	old := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "sample", Labels: map[string]string{"theirs": "1"}},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.1"},
	}
	want := old.DeepCopy()
	want.Spec.ClusterIP, want.Labels = "", map[string]string{"ours": "1"}
	tests := map[string]struct {
		verb  plan.ServiceVerb
		does  []string
		fails bool
	}{
		"an update is one write":            {verb: plan.UpdateService, does: []string{"update Service sample"}},
		"a replacement deletes and creates": {verb: plan.ReplaceService, does: []string{"delete Service sample", "create Service sample"}},
		"an unknown verb is an error":       {verb: "polish", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newField(t, sample(), old.DeepCopy())
			f.begin()
			f.log.reset()
			err := f.cluster.Act(t.Context(), plan.ApplyService{Name: "sample", Object: want, Verb: tc.verb})
			if (err != nil) != tc.fails {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tc.does, f.log.writes()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnUpdateNeverOverwritesANewerObject(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: "sample-config"}
	f := newField(t, sample(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"cluster-file": "old"}})
	f.begin()
	seen := f.observe(plan.ConfigMap).ConfigMap
	theirs := seen.DeepCopy()
	theirs.Data["cluster-file"] = "theirs"
	if err := f.api.Update(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	ours := seen.DeepCopy()
	ours.Data["cluster-file"] = "ours"
	if err := f.cluster.Act(t.Context(), plan.ApplyConfigMap{Name: meta.Name, Object: ours}); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
}

func TestAMetadataPatchNamesOnlyWhatChanges(t *testing.T) {
	tests := map[string]struct {
		action plan.PatchMetadata
		patch  string
		labels map[string]string
		notes  map[string]string
	}{
		"labels alone leave annotations alone": {
			action: plan.PatchMetadata{Labels: map[string]string{"a": "2"}},
			patch:  `{"metadata":{"labels":{"a":"2"}}}`,
			labels: map[string]string{"a": "2", "theirs": "1"}, notes: map[string]string{"x": "1", "theirs": "1"},
		},
		"annotations alone leave labels alone": {
			action: plan.PatchMetadata{Annotations: map[string]string{"x": "2"}},
			patch:  `{"metadata":{"annotations":{"x":"2"}}}`,
			labels: map[string]string{"a": "1", "theirs": "1"}, notes: map[string]string{"x": "2", "theirs": "1"},
		},
		"an annotation is taken away by its name": {
			action: plan.PatchMetadata{Annotations: map[string]string{"y": "1"}, Remove: []string{"x", "never there"}},
			patch:  `{"metadata":{"annotations":{"never there":null,"x":null,"y":"1"}}}`,
			labels: map[string]string{"a": "1", "theirs": "1"}, notes: map[string]string{"y": "1", "theirs": "1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			meta := metav1.ObjectMeta{
				Namespace: key.Namespace, Name: "thing",
				Labels: map[string]string{"a": "1", "theirs": "1"}, Annotations: map[string]string{"x": "1", "theirs": "1"},
			}
			f := newField(t, sample(), &corev1.Pod{ObjectMeta: meta}, &corev1.PersistentVolumeClaim{ObjectMeta: meta})
			f.begin()
			f.log.reset()
			for kind, object := range map[plan.ObjectKind]string{plan.KindPod: "Pod", plan.KindPVC: "PersistentVolumeClaim"} {
				tc.action.Kind, tc.action.Name = kind, "thing"
				if err := f.cluster.Act(t.Context(), tc.action); err != nil {
					t.Fatal(err)
				}
				if got, want := f.log.writes()[0], "patch "+object+" thing "+tc.patch; got != want {
					t.Errorf("sent %s, want %s", got, want)
				}
				f.log.reset()
			}
			pod := &corev1.Pod{}
			if err := f.api.Get(t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: "thing"}, pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]map[string]string{tc.labels, tc.notes}, []map[string]string{pod.Labels, pod.Annotations}); diff != "" {
				t.Errorf("labels and annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMetadataPatchOfAMissingPodIsAnError(t *testing.T) {
	f := newField(t, sample())
	f.begin()
	if err := f.cluster.Act(t.Context(), plan.PatchMetadata{Kind: plan.KindPod, Name: "gone", Labels: map[string]string{"a": "1"}}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
}

// atConfigure is a field whose next action is to create its database.
func atConfigure(t *testing.T) (*field, plan.Configure) {
	t.Helper()
	f := newField(t, sample())
	return f, f.untilConfigure(t)
}

// untilConfigure goes on until the database would be created, and returns that action.
func (f *field) untilConfigure(t *testing.T) plan.Configure {
	t.Helper()
	for range 10 {
		f.log.refuse = func(request string) error {
			if strings.HasPrefix(request, "exec") && strings.Contains(request, "configure new") {
				t.Fatal("the database was created before its time")
			}
			return nil
		}
		s := f.observe(plan.Everything)
		for _, stage := range clusterStages() {
			for _, a := range stage.Decide(s).Actions {
				if c, ok := a.(plan.Configure); ok {
					f.log.refuse = nil
					return c
				}
			}
		}
		f.passWithout("UpdateDatabaseConfiguration")
		f.tick(10e9)
	}
	t.Fatal("the database is never created")
	return plan.Configure{}
}

func TestADatabaseIsCreatedOnce(t *testing.T) {
	f, create := atConfigure(t)
	f.begin()
	if err := f.cluster.Act(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	f.log.reset()
	err := f.cluster.Act(t.Context(), create)
	if err == nil || !strings.Contains(err.Error(), `recovery state must be "configuration_never_created"`) {
		t.Errorf("creating the database again gave %v", err)
	}
	refuseConfigure(t, f)
}

func TestARegionChangeActionSendsOnlyItsPartOfTheConfiguration(t *testing.T) {
	f, create := atConfigure(t)
	f.begin()
	if err := f.cluster.Act(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[fdb.Part]string{fdb.OnlyUsableRegions: "configure usable_regions=1", fdb.OnlyRegions: "configure regions="} {
		f.log.reset()
		if err := f.cluster.Act(t.Context(), plan.Configure{Configuration: create.Configuration, Part: part}); err != nil {
			t.Fatal(err)
		}
		sent := strings.Join(f.log.those("exec"), "\n")
		if !strings.Contains(sent, want) || strings.Contains(sent, "configure double") {
			t.Errorf("sent %s, want %q", sent, want)
		}
	}
}

func TestADatabaseIsNeverCreatedWhenStatusConfiguredIsTrue(t *testing.T) {
	f, create := atConfigure(t)
	f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.Configured = true })
	f.begin()
	f.log.reset()
	err := f.cluster.Act(t.Context(), create)
	if err == nil || !strings.Contains(err.Error(), "status.configured is already true") {
		t.Errorf("got %v, want a refusal", err)
	}
	refuseConfigure(t, f)
}

func TestADatabaseIsCreatedOnlyInStateConfigurationNeverCreated(t *testing.T) {
	states := []string{
		"", "reading_coordinated_state", "locking_coordinated_state", "locking_old_transaction_servers", "reading_transaction_system_state",
		"configuration_missing", "configuration_invalid", "recruiting_transaction_servers", "initializing_transaction_servers", "recovery_transaction",
		"writing_coordinated_state", "accepting_commits", "all_logs_recruited", "storage_recovered", "fully_recovered",
	}
	f, create := atConfigure(t)
	f.begin()
	for _, state := range states {
		f.log.reset()
		document, err := json.Marshal(map[string]any{
			"client": map[string]any{"database_status": map[string]any{"available": false}},
			"cluster": map[string]any{
				"recovery_state": map[string]any{"name": state},
				"layers":         map[string]any{"_valid": false, "_error": "configurationMissing"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.program = func(admin.Command) (admin.Result, error) { return admin.Result{Stdout: document}, nil }
		if err := f.cluster.Act(t.Context(), create); err == nil {
			t.Errorf("a database was created in the recovery state %q", state)
		}
		refuseConfigure(t, f)
	}
}

func TestADatabaseIsNeverCreatedWhileItsRecoveryStateIsUnknown(t *testing.T) {
	f, create := atConfigure(t)
	f.begin()
	f.log.reset()
	f.program = func(admin.Command) (admin.Result, error) { return admin.Result{ExitCode: 1}, nil }
	if err := f.cluster.Act(t.Context(), create); err == nil {
		t.Error("a database was created without an answer")
	}
	refuseConfigure(t, f)
}

// refuseConfigure fails the test when a configure command was sent.
func refuseConfigure(t *testing.T, f *field) {
	t.Helper()
	for _, request := range f.log.those("exec") {
		if strings.Contains(request, "configure") {
			t.Errorf("sent %s", request)
		}
	}
}

func TestNewCoordinatorsAreStoredInTheStatus(t *testing.T) {
	f := settled(t)
	f.begin()
	s := f.observe(plan.Everything)
	before := s.Cluster.Status.ConnectionString
	var moved []fdb.Address
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			moved = append(moved, fdb.Address{Host: g.DNSName(s.Cluster), Port: 4501})
		}
	}
	f.log.reset()
	if err := f.cluster.Act(t.Context(), plan.ChangeCoordinators{Coordinators: moved[:3]}); err != nil {
		t.Fatal(err)
	}
	after, err := fdb.ParseConnectionString(f.resource().Status.ConnectionString)
	if err != nil || after.String() == before || !after.SameCoordinators(moved[:3]) {
		t.Errorf("the record has %s (%v), want the coordinators %v", after, err, moved[:3])
	}
	if err := f.cluster.Act(t.Context(), plan.SetConnectionString{ConnectionString: before}); err != nil {
		t.Errorf("the next write meets its own predecessor: %v", err)
	}
}

// A server that has just started may have no name yet where the coordinators are read.
func TestACoordinatorChangeWaitsForUnreachableNewCoordinators(t *testing.T) {
	f := settled(t)
	f.begin()
	before := f.observe(plan.Everything).Cluster.Status.ConnectionString
	absent := fdb.Address{Host: "sample-storage-99999.sample.ns.svc.cluster.local", Port: 4501}
	err := f.cluster.Act(t.Context(), plan.ChangeCoordinators{Coordinators: []fdb.Address{absent}})
	var notYet *reconcile.NotYetError
	if !errors.As(err, &notYet) || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("got %v, want a refusal that passes", err)
	}
	if after := f.resource().Status.ConnectionString; after != before {
		t.Errorf("the record has %s, want %s", after, before)
	}
}

func TestAFailedStatusWriteReportsTheNewCoordinators(t *testing.T) {
	f := settled(t)
	f.begin()
	s := f.observe(plan.Everything)
	var moved []fdb.Address
	for _, g := range s.Groups()[len(s.Groups())-3:] {
		moved = append(moved, fdb.Address{Host: g.DNSName(s.Cluster), Port: 4501})
	}
	f.log.refuse = func(request string) error {
		if strings.HasPrefix(request, "status") {
			return errors.New("quota exceeded")
		}
		return nil
	}
	err := f.cluster.Act(t.Context(), plan.ChangeCoordinators{Coordinators: moved})
	if err == nil || !strings.Contains(err.Error(), moved[0].Host) || !strings.Contains(err.Error(), "quota exceeded") {
		t.Errorf("got %v, want the new connection string and the cause", err)
	}
}

// Neither the API server nor what the Cluster remembers may show what was only tried.
func TestTryingAnActionPersistsNothing(t *testing.T) {
	f := settled(t)
	s := f.observe(plan.Everything)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: f.cluster.Key.Namespace, Name: "new"}}
	group := s.Groups()[0].ProcessGroupID
	before := f.resource().ResourceVersion
	tests := map[string]struct {
		action    plan.Action
		requested bool
		fails     func(error) bool
	}{
		"a new object":               {plan.CreatePod{Name: "new", Object: pod}, true, nil},
		"a node that is not there":   {plan.CordonNode{Node: "n9"}, true, apierrors.IsNotFound},
		"the record":                 {plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{group}, At: s.Now}, true, nil},
		"a restart of servers":       {plan.RestartProcesses{}, false, nil},
		"the deny list":              {plan.UpdateDenyList{Deny: []string{"dc9"}}, false, nil},
		"a service that comes again": {plan.ApplyService{Verb: plan.ReplaceService}, false, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requested, err := f.cluster.Try(t.Context(), tc.action)
			if requested != tc.requested || (err != nil) != (tc.fails != nil) || err != nil && !tc.fails(err) {
				t.Errorf("asked %t, want %t (%v)", requested, tc.requested, err)
			}
		})
	}
	if err := f.cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("the pod is there (%v)", err)
	}
	if now := f.resource(); now.ResourceVersion != before || now.ProcessGroup(group).IsMarkedForRemoval() {
		t.Error("the record was written")
	}
	if f.observe(plan.ClusterResource).Cluster.ProcessGroup(group).IsMarkedForRemoval() {
		t.Error("the mark is remembered")
	}
}
