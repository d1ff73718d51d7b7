package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestRecreatedPodsAreNotDeleted(t *testing.T) {
	const first, second = "pod storage-1", "pod storage-2"
	objects := []client.Object{
		&corev1.Pod{ObjectMeta: identified("storage-1", first)}, &corev1.Pod{ObjectMeta: identified("storage-2", second)},
		&corev1.PersistentVolumeClaim{ObjectMeta: identified("storage-1-data", "claim")},
	}
	f := newField(t, sample(), objects...)
	f.cluster.Client = identityChecker{f.cluster.Client}
	f.begin()
	err := f.cluster.Act(t.Context(), plan.DeletePods{Pods: []plan.PodOfGroup{
		{Group: "storage-1", Name: "storage-1", UID: first}, {Group: "storage-2", Name: "storage-2", UID: "an older one"},
	}})
	if err == nil {
		t.Error("a pod that was recreated was deleted")
	}
	if diff := cmp.Diff([]string{second, "claim"}, stillThere(t, f, objects)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func TestSidecarImageUpdateChangesOnlyTheSidecar(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: identified("storage-1", "pod"), Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: v1beta2.ContainerMain, Image: "main:1"}, {Name: v1beta2.ContainerSidecar, Image: "sidecar:1", Args: []string{"--copy"}},
	}}}
	f := newField(t, sample(), pod)
	f.begin()
	err := f.cluster.Act(t.Context(), plan.SetSidecarImage{
		PodOfGroup: plan.PodOfGroup{Group: "storage-1", Name: "storage-1", UID: "pod"}, Container: v1beta2.ContainerSidecar, Image: "sidecar:2",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := &corev1.Pod{}
	if err := f.api.Get(t.Context(), named("storage-1"), got); err != nil {
		t.Fatal(err)
	}
	want := pod.Spec.DeepCopy()
	want.Containers[1].Image = "sidecar:2"
	if diff := cmp.Diff(want.Containers, got.Spec.Containers); diff != "" {
		t.Error(diff)
	}
}

func TestSharedCoordinationKeysAreWrittenAndReadBack(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.Version = "7.4.6"
		yes := true
		s.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = &yes
	})
	f.observe(plan.Everything)
	at := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	for _, a := range []plan.Action{
		plan.UpdateDenyList{Deny: []string{"dc2", "dc3"}},
		plan.UpdateDenyList{Allow: []string{"dc3"}},
		plan.AnnounceUpgrade{Version: "7.4.6", Groups: []v1beta2.ProcessGroupID{"dc1-storage-1", "dc1-storage-2"}},
		plan.WithdrawUpgrade{Version: "7.4.6", Groups: []v1beta2.ProcessGroupID{"dc1-storage-2"}},
		plan.StartMaintenance{Zone: "node-1", Duration: 10 * time.Minute, Groups: []v1beta2.ProcessGroupID{"dc1-storage-1", "dc1-storage-2"}, At: at},
		plan.ForgetMaintenance{Groups: []v1beta2.ProcessGroupID{"dc1-storage-2"}},
	} {
		if err := f.cluster.Act(t.Context(), a); err != nil {
			t.Fatalf("%s: %v", a.Describe(), err)
		}
	}
	s := f.observe(plan.Everything)
	want := plan.CoordinationFacts{
		Read: true, DenyList: []string{"dc2"}, ReadyForUpgrade: []v1beta2.ProcessGroupID{"dc1-storage-1"},
		Announced:   map[string][]v1beta2.ProcessGroupID{"7.4.6": {"dc1-storage-1"}},
		Maintenance: map[v1beta2.ProcessGroupID]time.Time{"dc1-storage-1": at},
	}
	if diff := cmp.Diff(want, s.Coordination); diff != "" {
		t.Error(diff)
	}
	if now, known := s.Database.Status.Maintenance(); now.Zone != "node-1" || !known {
		t.Errorf("zone %q is under maintenance, known: %t", now.Zone, known)
	}
	if err := f.cluster.Act(t.Context(), plan.EndMaintenance{Zone: "node-2"}); err == nil || !strings.Contains(err.Error(), "zone node-1 is under maintenance now") {
		t.Errorf("ending another zone's maintenance: %v", err)
	}
	if err := f.cluster.Act(t.Context(), plan.EndMaintenance{Zone: "node-1"}); err != nil {
		t.Fatal(err)
	}
	if now, known := f.observe(plan.Everything).Database.Status.Maintenance(); now.Zone != "" || !known {
		t.Errorf("zone %q is still under maintenance, known: %t", now.Zone, known)
	}
}

// Maintenance without a note would never be ended.
func TestMaintenanceEntriesAreWrittenBeforeMaintenanceStarts(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = new(true)
	})
	at := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	refused := plan.StartMaintenance{Zone: "no zone", Duration: time.Minute, Groups: []v1beta2.ProcessGroupID{"dc1-storage-1"}, At: at}
	f.observe(plan.Everything)
	if err := f.cluster.Act(t.Context(), refused); err == nil {
		t.Error("a zone with a blank in its name is under maintenance")
	}
	s := f.observe(plan.Everything)
	if diff := cmp.Diff(map[v1beta2.ProcessGroupID]time.Time{"dc1-storage-1": at}, s.Coordination.Maintenance); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestProcessesAreRestartedTogether(t *testing.T) {
	f := sharing(t)
	s := f.observe(plan.Everything)
	var a plan.RestartProcesses
	for _, p := range s.Database.Status.ProcessList() {
		if p.ClassType != string(v1beta2.ProcessClassStateless) {
			continue
		}
		a.Groups = append(a.Groups, v1beta2.ProcessGroupID(p.InstanceID()))
		a.Addresses = append(a.Addresses, p.Address)
	}
	f.tick(20 * time.Minute)
	if err := f.cluster.Act(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	f.tick(time.Minute)
	young := map[fdb.Address]bool{}
	for _, p := range f.observe(plan.Everything).Database.Status.ProcessList() {
		if uptime, known := p.Uptime(); !known || uptime < 10*time.Minute {
			young[p.Address] = true
		}
	}
	if len(young) != len(a.Addresses) || !young[a.Addresses[0]] {
		t.Errorf("restarted %v, want %v", young, a.Addresses)
	}
}

// Another instance would see a complete database: the lock is kept until the database
// shows what this one took down.
func TestTheLockIsHeldUntilTheDatabaseReportsStoppedProcesses(t *testing.T) {
	pod := plan.PodOfGroup{Group: "storage-1", Name: "absent"}
	tests := map[string]struct {
		does plan.Action
		kept bool
	}{
		"pods that are recreated":                {plan.DeletePods{Pods: []plan.PodOfGroup{pod}, Shared: true}, true},
		"a group that was not drained":           {plan.DeleteGroupObjects{Group: "storage-1", Undrained: true}, true},
		"pods that no other holder has to spare": {plan.DeletePods{Pods: []plan.PodOfGroup{pod}}, false},
		"a group that was drained":               {plan.DeleteGroupObjects{Group: "storage-1"}, false},
		"something else":                         {plan.UpdateDenyList{Allow: []string{"dc2"}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := sharing(t)
			if err := f.cluster.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := f.cluster.Act(t.Context(), tc.does); err != nil {
				t.Fatal(err)
			}
			now := f.cluster.Clock.Now()
			if err := f.cluster.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			lock := f.lockIn(fdb.DefaultLockPrefix)
			if (lock != nil) != tc.kept {
				t.Fatalf("left the lock %+v, want it kept: %t", lock, tc.kept)
			}
			if lock != nil && (lock.End.Before(now.Add(fdb.DeathNoticedAfter-5*time.Second)) || lock.End.After(now.Add(fdb.DeathNoticedAfter))) {
				t.Errorf("kept until %s, %s from now", lock.End, lock.End.Sub(now))
			}
		})
	}
}
