package collect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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
