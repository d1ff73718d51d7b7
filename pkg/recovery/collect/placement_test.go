package collect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// placed is a cluster with one storage process group, and the facts of its pod.
func placed() (plan.Snapshot, recovery.Facts) {
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb"}}
	c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeDouble
	c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "storage-1", ProcessClass: v1beta2.ProcessClassStorage, FaultDomain: "zone-1"}}
	s := plan.Snapshot{Cluster: c, Pods: map[string]*corev1.Pod{"sample-storage-1": {ObjectMeta: metav1.ObjectMeta{Name: "sample-storage-1"}}}}
	f := recovery.Facts{Groups: []recovery.Group{{ID: "storage-1", Pod: "sample-storage-1", Files: &datadir.Files{Servers: []datadir.Server{{Addresses: []string{"10.0.0.1:4501"}, Directory: "/var/fdb/data"}}}}}}
	return s, f
}

func TestWhichProcessGroupsCanBeCoordinators(t *testing.T) {
	tests := map[string]struct {
		edit func(*v1beta2.FoundationDBCluster, *recovery.Facts)
		want int
	}{
		"a storage process": {edit: func(*v1beta2.FoundationDBCluster, *recovery.Facts) {}, want: 1},
		"none that is marked for removal": {edit: func(c *v1beta2.FoundationDBCluster, _ *recovery.Facts) {
			c.Status.ProcessGroups[0].RemovalTimestamp = &metav1.Time{}
		}},
		"none in an unknown zone":  {edit: func(c *v1beta2.FoundationDBCluster, _ *recovery.Facts) { c.Status.ProcessGroups[0].FaultDomain = "" }},
		"none that cannot be read": {edit: func(_ *v1beta2.FoundationDBCluster, f *recovery.Facts) { f.Groups[0].Files = nil }},
		"none without a process":   {edit: func(_ *v1beta2.FoundationDBCluster, f *recovery.Facts) { f.Groups[0].Files.Servers = nil }},
		"none at another port": {edit: func(_ *v1beta2.FoundationDBCluster, f *recovery.Facts) {
			f.Groups[0].Files.Servers[0].Addresses = []string{"10.0.0.1:4503"}
		}},
		"none of a class without a state": {edit: func(c *v1beta2.FoundationDBCluster, _ *recovery.Facts) {
			c.Status.ProcessGroups[0].ProcessClass = v1beta2.ProcessClassStateless
		}},
		"none of a class that is not selected": {edit: func(c *v1beta2.FoundationDBCluster, _ *recovery.Facts) {
			c.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassLog}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, f := placed()
			tc.edit(s.Cluster, &f)
			readPlacement(s, &f)
			if f.Placement.Desired != 3 || f.Placement.Shared != "" || len(f.Placement.Candidates) != tc.want {
				t.Fatalf("%+v", f.Placement)
			}
			if want := (recovery.Candidate{Group: "storage-1", Zone: "zone-1", Address: "sample-storage-1.sample.fdb.svc.cluster.local:4501", Directory: "/var/fdb/data"}); tc.want == 1 && f.Placement.Candidates[0] != want {
				t.Errorf("%+v", f.Placement.Candidates[0])
			}
		})
	}
}

func TestASharedDatabaseIsDetectedFromTheSpec(t *testing.T) {
	for want, edit := range map[string]func(*v1beta2.FoundationDBCluster){
		"several regions": func(c *v1beta2.FoundationDBCluster) { c.Spec.DatabaseConfiguration.UsableRegions = 2 },
		"three_data_hall": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
		},
		"processGroupIDPrefix": func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = "dc1" },
	} {
		s, _ := placed()
		edit(s.Cluster)
		if got := shared(s.Cluster); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func volumeOfClaim(name, claim string, phase corev1.PersistentVolumePhase) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PersistentVolumeStatus{Phase: phase}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "fdb", Name: claim, UID: "former"}
	return v
}

// A volume that is not released may still have data: it can be in deletion, or its deletion failed.
func TestVolumesOfDeletedPVCsAreListed(t *testing.T) {
	s, f := placed()
	f.Groups = []recovery.Group{groupOf(s, s.Groups()[0])}
	c := fake.NewClientBuilder().WithObjects(
		volumeOfClaim("pv-1", "sample-storage-1-data", corev1.VolumeFailed), volumeOfClaim("pv-2", "others", corev1.VolumeFailed), volumeOfClaim("pv-4", "sample-log-9-data", corev1.VolumeReleased), volumeOfClaim("pv-5", "sample-log-9-data", corev1.VolumeBound),
		volumeOfClaim("pv-3", "sample-storage-1-data", corev1.VolumeReleased),
	).Build()
	Reader{Client: c}.readReleased(t.Context(), s, &f)
	if !slices.Equal(f.Placement.Volumes, []string{"pv-1", "pv-4"}) || len(f.Released) != 1 || f.Placement.VolumesUnknown != "" {
		t.Errorf("%+v, %+v", f.Placement, f.Released)
	}
}

func TestVolumesOfExistingPVCsAreNotListedAsLeftover(t *testing.T) {
	s, f := placed()
	c := fake.NewClientBuilder().WithObjects(volumeOfClaim("pv-1", "sample-storage-1-data", corev1.VolumeBound)).Build()
	if (Reader{Client: c}).readReleased(t.Context(), s, &f); !slices.Equal(f.Placement.Volumes, []string{"pv-1"}) {
		t.Errorf("a bound volume whose PVC does not exist: %+v", f.Placement)
	}
	if want := []recovery.ReleasingVolume{{Name: "pv-1", PVC: "sample-storage-1-data", Phase: "Bound"}}; !slices.Equal(f.Releasing, want) {
		t.Errorf("Kubernetes has yet to release %+v, want %+v", f.Releasing, want)
	}
	f.Releasing = nil
	s.Volumes = map[string]*corev1.PersistentVolumeClaim{"sample-storage-1-data": {}, "sample-log-9-data": {}}
	f.Placement.Volumes = nil
	(Reader{Client: c}).readReleased(t.Context(), s, &f)
	readPlacement(s, &f)
	if len(f.Placement.Volumes) > 0 || len(f.Releasing) > 0 || !slices.Equal(f.Placement.Claims, []string{"sample-log-9-data"}) {
		t.Errorf("%+v", f.Placement)
	}
}

func TestVolumesThatCannotBeListedAreUnknown(t *testing.T) {
	s, f := placed()
	c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("forbidden")
		},
	})
	if warnings := (Reader{Client: c}).readReleased(t.Context(), s, &f); f.Placement.VolumesUnknown != "forbidden" || len(warnings) != 1 {
		t.Errorf("%+v, %q", f.Placement, warnings)
	}
}
