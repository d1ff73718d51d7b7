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

func TestFaultDomainUsageAndMisplacedPods(t *testing.T) {
	placed := func(class v1beta2.ProcessClass, id v1beta2.ProcessGroupID, key, domain string) Placed {
		return Placed{&v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: class}, key, domain}
	}
	const storage, log = v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog
	for name, tc := range map[string]struct {
		pack      v1beta2.BinPack
		placed    []Placed
		text      string
		misplaced map[string]string
	}{
		"each class on its own": {v1beta2.BinPackClass, []Placed{
			placed(storage, "storage-1", "storage-1", "a"), placed(storage, "storage-2", "storage-2", "b"), placed(storage, "storage-3", "storage-0", "c"),
			placed(log, "log-1", "log-1", "b"), placed(log, "log-4", "log-1", "b"), placed(log, "log-2", "log-2", "d"),
		}, "3 of 3 fault domains, log 2/1, storage 1/1/1", map[string]string{}},
		"one key in two fault domains": {v1beta2.BinPackClass, []Placed{
			placed(storage, "storage-1", "storage-1", "b"), placed(storage, "storage-4", "storage-1", "a"),
		}, "2 of 3 fault domains, storage 2", map[string]string{"distributionkey/storage-1": "pods with the distribution key storage-1 are in several fault domains: a, b"}},
		"two keys of a pack in one": {v1beta2.BinPackAll, []Placed{
			placed(storage, "storage-1", "all-1", "a"), placed(log, "log-2", "all-2", "a"),
		}, "1 of 3 fault domains, log 1, storage 1", map[string]string{"faultdomain/a": "pods with the distribution keys all-1, all-2 share fault domain a"}},
		"one key of two classes": {v1beta2.BinPackAll, []Placed{
			placed(storage, "storage-1", "all-1", "a"), placed(log, "log-1", "all-1", "a"),
		}, "1 of 3 fault domains, log 1, storage 1", map[string]string{}},
		"not all are packed": {v1beta2.BinPackClass, []Placed{
			placed(storage, "storage-1", "", "a"), placed(storage, "storage-2", "storage-0", "b"), placed(storage, "storage-3", "storage-0", ""), placed("test", "test-1", "", "b"),
		}, "1 of 3 fault domains, storage 2, 2 not packed so yet", map[string]string{}},
		"none": {v1beta2.BinPackClass, nil, "0 of 3 fault domains", map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			u := packing(3, tc.pack).Use(tc.placed)
			if got := u.Text(); got != tc.text {
				t.Errorf("%q, want %q", got, tc.text)
			}
			if diff := cmp.Diff(tc.misplaced, u.Misplaced()); diff != "" {
				t.Errorf("misplaced (-want +got):\n%s", diff)
			}
		})
	}
	if u := (Distribution{}).Use([]Placed{placed(storage, "storage-1", "", "a")}); u != nil {
		t.Errorf("without packing: %+v", u)
	}
}
