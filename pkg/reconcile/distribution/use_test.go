package distribution

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

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
