package collect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

func TestOutageFactsOfAnUnavailableDatabaseAreCollected(t *testing.T) {
	s, f := placed()
	s.Cluster.Status.ProcessGroups[0].ProcessGroupConditions = []*v1beta2.ProcessGroupCondition{{Type: v1beta2.ConditionProcessIsMarkedAsExcluded, Timestamp: metav1.Now().Unix()}}
	disk := func(id string, free, total *int64) fdb.Process {
		return fdb.Process{Locality: map[string]string{fdb.LocalityInstanceID: id}, Disk: &fdb.ProcessDisk{FreeBytes: free, TotalBytes: total}}
	}
	s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: "stateless-9", ProcessClass: v1beta2.ProcessClassStateless})
	s.Database.Status = &fdb.Status{Cluster: fdb.ClusterStatus{
		RecoveryState: &fdb.RecoveryState{Name: "recruiting_transaction_servers"},
		Processes: map[string]fdb.Process{
			"1": disk("storage-1", new(int64(49)), new(int64(1000))), "2": disk("storage-2", new(int64(50)), new(int64(1000))), "3": disk("storage-3", nil, new(int64(1000))), "4": {},
			"5": disk("stateless-9", new(int64(49)), new(int64(1000))),
		},
	}}
	readOutage(s, &f)
	want := recovery.Outage{RecoveryState: "recruiting_transaction_servers", Excluded: []string{"storage-1"}, FullDisks: []recovery.FullDisk{{Group: "storage-1", Free: 49, Total: 1000}}, Replicas: 2}
	if d := cmp.Diff(want, f.Outage); d != "" {
		t.Error(d)
	}
}

func TestOutageFactsAreUnknownWithoutAStatusDocument(t *testing.T) {
	s, f := placed()
	if readOutage(s, &f); f.Outage.RecoveryState != "" || len(f.Outage.FullDisks) > 0 {
		t.Errorf("%+v", f.Outage)
	}
}

// volume is a released volume of the PVC sample-storage-1-data.
func volume(name string, edit func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "fdb", Name: "sample-storage-1-data", UID: "claim"}
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	v.Status.Phase = corev1.VolumeReleased
	edit(v)
	return v
}

func pod(name, pvc string, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name}}
	p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: pvc}}}}
	p.Status.Phase = phase
	return p
}

// given is a cluster with one process group in its status.
func given() plan.Snapshot {
	s := plan.Snapshot{Cluster: &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "sample"}}}
	s.Cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "storage-1", ProcessClass: "storage"}}
	return s
}

func readWith(t *testing.T, s plan.Snapshot, existing ...client.Object) recovery.Facts {
	t.Helper()
	f, warnings, err := Reader{Client: fake.NewClientBuilder().WithObjects(existing...).Build()}.Read(t.Context(), s)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	return f
}

func TestReleasedVolumesAreFoundByTheirClaimReference(t *testing.T) {
	f := readWith(t, given(),
		volume("released", func(*corev1.PersistentVolume) {}),
		volume("reserved", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID, v.Status.Phase = "", corev1.VolumeAvailable }),
		volume("bound", func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }),
		volume("being-bound", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID, v.Status.Phase = "", corev1.VolumeBound }),
		volume("of-another-namespace", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Namespace = "other" }),
		volume("of-another-pvc", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Name = "sample-storage-11-data" }),
		volume("of-none", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }),
	)
	want := []recovery.ReleasedVolume{
		{Name: "released", UID: "uid", PVC: "sample-storage-1-data", ClaimUID: "claim", Policy: "Retain"},
		{Name: "reserved", UID: "uid", PVC: "sample-storage-1-data", Policy: "Retain"},
	}
	if d := cmp.Diff(want, f.Released); d != "" {
		t.Error(d)
	}
}

func TestPodsThatMountAPVCAreFound(t *testing.T) {
	f := readWith(t, given(),
		pod("shell", "sample-storage-1-data", corev1.PodPending),
		pod("ended", "sample-storage-1-data", corev1.PodSucceeded),
		pod("sample-storage-1", "sample-storage-1-data", corev1.PodRunning),
		pod("other", "other-data", corev1.PodRunning),
	)
	if d := cmp.Diff([]string{"shell"}, f.Groups[0].UsedBy); d != "" {
		t.Error(d)
	}
}

// named is a released volume of a PVC.
func named(pvc string) *corev1.PersistentVolume {
	return volume("pv-"+pvc, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Name = pvc })
}

func TestProcessGroupsOfAnEmptyStatusAreInferredFromVolumes(t *testing.T) {
	volumes := []client.Object{
		named("sample-storage-1-data"), named("sample-log-22-data"), named("sample-cluster-controller-3-data"), named("sample-stateless-4-data"),
		named("sample-two-storage-5-data"), named("other-storage-6-data"), named("sample-storage-x-data"), named("sample-storage-7"), named("sample-storage-08-data"),
	}
	seed := "sample:abc@10.0.0.1:4501"
	tests := map[string]struct {
		edit func(*plan.Snapshot)
		want []string
	}{
		"an empty status":                         {edit: func(*plan.Snapshot) {}, want: []string{"log-22", "storage-1"}},
		"IDs with a prefix":                       {edit: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupIDPrefix = "west" }, want: []string{"west-log-22", "west-storage-1"}},
		"a status with a connection string alone": {edit: func(s *plan.Snapshot) { s.Cluster.Status.ConnectionString = seed }, want: []string{"log-22", "storage-1"}},
		"a pod from which a pass restores it":     {edit: func(s *plan.Snapshot) { s.Pods = map[string]*corev1.Pod{"sample-storage-9": {}} }},
		"a PVC from which a pass restores it": {edit: func(s *plan.Snapshot) {
			s.Volumes = map[string]*corev1.PersistentVolumeClaim{"sample-storage-9-data": {}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := given()
			s.Cluster.Status.ProcessGroups, s.Cluster.Spec.SeedConnectionString = nil, seed
			tc.edit(&s)
			f := readWith(t, s, volumes...)
			var got []string
			for _, g := range f.Groups {
				got = append(got, g.ID)
				if !g.Inferred || f.Recorded != seed || len(f.Released) != len(tc.want) {
					t.Errorf("%+v of %q, %v", g, f.Recorded, f.Released)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
