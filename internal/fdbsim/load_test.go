package fdbsim

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func statusOf(t *testing.T, c *cluster) *fdb.Status {
	t.Helper()
	s, err := fdb.ParseStatus([]byte(c.exec("status json").stdout))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// busiest is the largest CPU use of the processes with a role.
func busiest(s *fdb.Status, role string) float64 {
	most := 0.0
	for _, p := range s.ProcessesThat(func(p fdb.Process) bool { return p.HasRole(role) }) {
		most = max(most, *p.CPU.UsageCores)
	}
	return most
}

func TestTheSimulationCountsTransactionsOfFdbcli(t *testing.T) {
	c := configured(t)
	c.Advance(time.Minute)
	before := statusOf(t, c).Cluster.Workload
	for range 20 {
		c.exec("writemode on; set key value")
	}
	after := statusOf(t, c).Cluster.Workload
	if *before.Operations.Writes.Hz != 0 || *after.Operations.Writes.Hz <= 0 || *after.Transactions.Committed.Hz <= *before.Transactions.Committed.Hz || *after.Bytes.Written.Hz <= 0 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	c.Advance(time.Minute)
	if later := statusOf(t, c).Cluster.Workload; *later.Operations.Writes.Hz != 0 {
		t.Errorf("a minute later %g writes per second", *later.Operations.Writes.Hz)
	}
}

func TestReadsOfClientsUseTheStorageServers(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(500_000_000)
	idle := statusOf(t, c)
	db.SetFaults(Faults{ClientReads: 100_000})
	s := statusOf(t, c)
	if busiest(idle, fdb.RoleStorage) > 0.01 || busiest(s, fdb.RoleStorage) < 0.3 || busiest(s, fdb.RoleLog) > 0.01 {
		t.Errorf("storage %g to %g, logs %g", busiest(idle, fdb.RoleStorage), busiest(s, fdb.RoleStorage), busiest(s, fdb.RoleLog))
	}
	if *s.Cluster.Workload.Operations.Reads.Hz < 100_000 || *s.Cluster.LatencyProbe.ReadSeconds <= *idle.Cluster.LatencyProbe.ReadSeconds {
		t.Errorf("%+v", s.Cluster.Workload.Operations)
	}
	if s.Cluster.QoS.PerformanceLimitedBy.Name != fdb.LimitWorkload {
		t.Errorf("limited by %+v", s.Cluster.QoS.PerformanceLimitedBy)
	}
}

// Five storage servers of double redundancy manage 50,000 writes per second; the queues of twice
// as many fill until ratekeeper reduces the rate.
func TestSimulatedQueuesGrowUntilRatekeeperLimitsWrites(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(500_000_000)
	db.SetFaults(Faults{ClientWrites: 100_000})
	c.Advance(10 * time.Second)
	first := statusOf(t, c)
	c.Advance(30 * time.Second)
	second := statusOf(t, c)
	if a, b := *first.Cluster.QoS.WorstQueueBytesStorageServer, *second.Cluster.QoS.WorstQueueBytesStorageServer; a >= b || b >= 900e6 {
		t.Errorf("queue %d, then %d", a, b)
	}
	c.Advance(10 * time.Minute)
	s := statusOf(t, c)
	q := s.Cluster.QoS
	if q.PerformanceLimitedBy.Name != "storage_server_write_queue_size" || *q.WorstQueueBytesStorageServer < 900e6 || *q.WorstDurabilityLagStorageServer.Seconds < 60 {
		t.Errorf("%+v", q)
	}
	named := s.ProcessesThat(func(p fdb.Process) bool {
		for _, r := range p.Roles {
			if r.ID == q.PerformanceLimitedBy.ReasonServerID && r.QueueBytes() != nil && *r.QueueBytes() >= 900e6 {
				return true
			}
		}
		return false
	})
	if len(named) != 1 {
		t.Errorf("%d processes have the role that limits", len(named))
	}
	if written := *s.Cluster.Workload.Operations.Writes.Hz; written >= 100_000 || written < 20_000 {
		t.Errorf("%g writes per second", written)
	}
	db.SetFaults(Faults{})
	if s := statusOf(t, c); s.Cluster.QoS.PerformanceLimitedBy.Name != fdb.LimitWorkload {
		t.Errorf("limited by %+v without clients", s.Cluster.QoS.PerformanceLimitedBy)
	}
}
