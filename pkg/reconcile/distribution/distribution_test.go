package distribution

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestDistributionKeys(t *testing.T) {
	group := func(class v1beta2.ProcessClass, id v1beta2.ProcessGroupID) *v1beta2.ProcessGroupStatus {
		return &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: class}
	}
	for name, tc := range map[string]struct {
		group   *v1beta2.ProcessGroupStatus
		domains int
		keys    [3]string // All, Stateful, Class
	}{
		"storage":             {group(v1beta2.ProcessClassStorage, "storage-7"), 3, [3]string{"all-1", "stateful-1", "storage-1"}},
		"a transaction log":   {group(v1beta2.ProcessClassTransaction, "transaction-8"), 3, [3]string{"all-2", "stateful-2", "transaction-2"}},
		"a coordinator":       {group(v1beta2.ProcessClassCoordinator, "coordinator-9"), 3, [3]string{"all-0", "stateful-0", "coordinator-0"}},
		"stateless":           {group(v1beta2.ProcessClassStateless, "stateless-99999"), 3, [3]string{"all-0", "stateless-0", "stateless-0"}},
		"a class with a line": {group(v1beta2.ProcessClassClusterController, "dc1-cluster_controller-5"), 4, [3]string{"all-1", "stateless-1", "cluster_controller-1"}},
		"one fault domain":    {group(v1beta2.ProcessClassStorage, "storage-7"), 1, [3]string{"all-0", "stateful-0", "storage-0"}},
		"a tester":            {group(v1beta2.ProcessClassTest, "test-1"), 3, [3]string{}},
		"another tester":      {group(v1beta2.ProcessClassTester, "tester-1"), 3, [3]string{}},
		"an ID of no number":  {group(v1beta2.ProcessClassStorage, "storage_7"), 3, [3]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [3]string
			for i, pack := range []v1beta2.BinPack{v1beta2.BinPackAll, v1beta2.BinPackStateful, v1beta2.BinPackClass} {
				key, packed := packing(tc.domains, pack).KeyOf(tc.group)
				if packed != (key != "") {
					t.Errorf("%s: key %q, packed %t", pack, key, packed)
				}
				got[i] = key
			}
			if diff := cmp.Diff(tc.keys, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
	if key, packed := (Distribution{}).KeyOf(group(v1beta2.ProcessClassStorage, "storage-7")); packed {
		t.Errorf("without packing: key %s", key)
	}
}

// TestPacksCoverAllClasses puts each class but the testers in one pack.
func TestPacksCoverAllClasses(t *testing.T) {
	for _, pack := range []v1beta2.BinPack{v1beta2.BinPackStateful, v1beta2.BinPackClass} {
		d := packing(3, pack)
		packs := map[string][]v1beta2.ProcessClass{}
		for _, class := range v1beta2.ProcessClasses() {
			if d.Packs(class) {
				packs[d.Pack(class)] = d.PackedWith(class)
			}
		}
		seen := map[v1beta2.ProcessClass]bool{}
		for _, classes := range packs {
			for _, class := range classes {
				if seen[class] {
					t.Errorf("%s: %s is in two packs", pack, class)
				}
				seen[class] = true
			}
		}
		if want := len(v1beta2.ProcessClasses()) - 2; len(seen) != want {
			t.Errorf("%s: %d classes are packed, want %d", pack, len(seen), want)
		}
	}
	if got := packing(3, v1beta2.BinPackAll).PackedWith(v1beta2.ProcessClassStorage); got != nil {
		t.Errorf("All packs %v only", got)
	}
	want := []v1beta2.ProcessClass{"coordinator", "log", "storage", "transaction"}
	if diff := cmp.Diff(want, packing(3, v1beta2.BinPackStateful).PackedWith(v1beta2.ProcessClassLog)); diff != "" {
		t.Errorf("stateful classes (-want +got):\n%s", diff)
	}
}
