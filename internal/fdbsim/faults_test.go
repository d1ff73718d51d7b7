package fdbsim

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestUnknownCommitsMayOrMayNotBeApplied(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			c := configured(t)
			db, _ := c.Database("sample_cluster")
			db.SetFaults(Faults{UnknownCommits: 1, ApplyUnknown: applied})
			if got := c.exec("writemode on; set k v"); !strings.Contains(got.stderr, "(1021)") {
				t.Errorf("%+v", got)
			}
			if _, found := db.Get("k"); found != applied {
				t.Errorf("found %v", found)
			}
		})
	}
}

func TestADroppedFdbcliCommandPrintsNothingAndMayBeApplied(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			c := configured(t)
			db, _ := c.Database("sample_cluster")
			db.SetFaults(Faults{DropCommands: 1, ApplyUnknown: applied})
			if got := c.exec("exclude no_wait 127.0.2.23"); got != (result{exit: 137}) {
				t.Errorf("%+v", got)
			}
			if _, found := db.Get("\xff/conf/excluded/127.0.2.23"); found != applied {
				t.Errorf("excluded %v", found)
			}
			c.must("include all", "")
		})
	}
}

func TestStatusCanBeStaleOrPartial(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.SetFaults(Faults{StaleStatus: true})
	c.stop("storage-5")
	c.Advance(30 * time.Second)
	if d := c.status(); !d.process("127.0.2.5:4501") {
		t.Error("stale status knows of the death")
	}
	db.SetFaults(Faults{PartialStatus: true})
	d := c.status()
	if d.process("127.0.2.5:4501") || !d.hasMessage("status_incomplete") {
		t.Errorf("%+v", d.Cluster.Messages)
	}
	for _, p := range d.Cluster.Processes {
		if p.CommandLine != "" || p.Locality != nil || p.UptimeSeconds != nil {
			t.Errorf("partial status reports too much: %+v", p)
		}
	}
	db.SetFaults(Faults{StatusTimeout: true})
	if d := c.status(); len(d.Cluster.Processes) != 0 || d.Client.Messages[0].Name != "status_incomplete_timeout" {
		t.Errorf("%+v", d.Client)
	}
}

func TestAStatusDocumentCutAtItsDeadlineReportsTheDatabaseAvailable(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.SetFaults(Faults{StatusDeadline: true})
	status, err := fdb.ParseStatus([]byte(c.exec("status json").stdout))
	if err != nil {
		t.Fatal(err)
	}
	if !status.Available() || status.Healthy() || status.Cluster.Processes != nil || !status.Incomplete() || !status.FullyRecovered() {
		t.Errorf("available %v, healthy %v, %d processes, incomplete %v, fully recovered %v",
			status.Available(), status.Healthy(), len(status.Cluster.Processes), status.Incomplete(), status.FullyRecovered())
	}
}

// As observed on 7.3.79: the database serves clients, and status calls it unavailable.
func TestAMinTraceSeverityKnobMakesStatusIncomplete(t *testing.T) {
	c := newCluster(t, "blind:abcdefgh@127.0.2.1:4501")
	c.start("storage-1", "unset", "127.0.2.1:4501", "zone-1", "--knob_min_trace_severity=20")
	c.Advance(12 * time.Second)
	c.must("configure new single ssd", "Database created\n")
	c.Advance(time.Minute)
	c.must("get a", "`a': not found\n")
	status, err := fdb.ParseStatus([]byte(c.exec("status json").stdout))
	if err != nil {
		t.Fatal(err)
	}
	if !status.Incomplete() || !status.LacksTraceEvents() {
		t.Errorf("incomplete %v, without trace events %v", status.Incomplete(), status.LacksTraceEvents())
	}
	if status.Available() || status.FullyRecovered() || status.Cluster.Configuration == nil {
		t.Errorf("available %v, fully recovered %v, configuration %v",
			status.Available(), status.FullyRecovered(), status.Cluster.Configuration)
	}
	for _, p := range status.Cluster.Processes {
		if p.CommandLine != "" || len(p.Locality) != 0 {
			t.Errorf("a process reports %+v", p)
		}
	}
}

func TestABounceImpactCanContradictTheRecoveryState(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.SetFaults(Faults{BounceImpactLies: true})
	status, err := fdb.ParseStatus([]byte(c.exec("status json").stdout))
	if err != nil {
		t.Fatal(err)
	}
	if can, known := status.CanCleanBounce(); can || !known || !status.FullyRecovered() || status.Cluster.BounceImpact.Reason != fdb.ReasonNotFullyRecovered {
		t.Errorf("can %v, known %v, fully recovered %v, %+v", can, known, status.FullyRecovered(), status.Cluster.BounceImpact)
	}
}

func TestSimulatedFullDisksReportWhatLimitsTransactions(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.SetFaults(Faults{FullDisks: true})
	status, err := fdb.ParseStatus([]byte(c.exec("status json").stdout))
	if err != nil {
		t.Fatal(err)
	}
	if qos := status.Cluster.QoS; !status.Available() || qos == nil || qos.PerformanceLimitedBy == nil || qos.PerformanceLimitedBy.Name != "storage_server_min_free_space_ratio" ||
		qos.TransactionsPerSecondLimit == nil || *qos.TransactionsPerSecondLimit != 0 {
		t.Errorf("available %v, %+v", status.Available(), qos)
	}
	for id, p := range status.Cluster.Processes {
		if p.Disk == nil || *p.Disk.FreeBytes*20 >= *p.Disk.TotalBytes {
			t.Errorf("%s has %+v", id, p.Disk)
		}
	}
}

func TestLostReplicasCountBeforeStatusReportsThem(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(200_000_000)
	c.LoseData("storage-1")
	if db.EveryKeyOnAtLeast(2) || !db.EveryKeyOnAtLeast(1) {
		t.Errorf("replicas %v", db.Replicas())
	}
	if d := c.status(); d.Cluster.Data.State.Least != 2 {
		t.Errorf("status knows at once: %+v", d.Cluster.Data.State)
	}
	c.Advance(2 * time.Minute)
	if !db.EveryKeyOnAtLeast(2) {
		t.Errorf("not healed: %v", db.Replicas())
	}
}

// An fdbserver process whose data directory is destroyed and that is back within a second
// leaves the status document blind. Recorded on FoundationDB 7.3.79: the database is healthy,
// with all replicas and all processes, until data distribution notices after 66 to 70 s.
func TestStatusReportsALostDataDirectoryOnlyAfterAMinute(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(200_000_000)
	db.SetFaults(Faults{MoveBytesPerSecond: 100_000})
	before, _ := c.status().storageRole("127.0.2.1:4501")
	c.LoseData("storage-1")
	lost := c.Now()
	c.startAgain("storage-1")
	c.Advance(10 * time.Second)
	for c.Now().Sub(lost) < time.Minute {
		d := c.status()
		role, figures := d.storageRole("127.0.2.1:4501")
		if state := d.Cluster.Data.State; state.Name != "healthy" || state.Least != 2 || !d.process("127.0.2.1:4501") || role != before || figures {
			t.Fatalf("after %s: %+v, role %s with figures %t", c.Now().Sub(lost), state, role, figures)
		}
		c.Advance(5 * time.Second)
	}
	if db.EveryKeyOnAtLeast(2) {
		t.Error("no replica is lost")
	}
	c.Advance(70*time.Second - c.Now().Sub(lost))
	d := c.status()
	if role, _ := d.storageRole("127.0.2.1:4501"); role == before || d.Cluster.Data.State.Least != 1 {
		t.Errorf("after 70 s: role %s, %+v", role, d.Cluster.Data.State)
	}
}

// storageRole is the ID of the storage role at an address, and whether it has figures.
func (d document) storageRole(address string) (id string, figures bool) {
	for _, p := range d.Cluster.Processes {
		for _, r := range p.Roles {
			if p.Address == address && r.Role == "storage" {
				return r.ID, r.StoredBytes != nil
			}
		}
	}
	return "", false
}

func TestTheSimulationIsDeterministicForASeed(t *testing.T) {
	tell := func() string {
		c := configured(t)
		c.exec("kill; kill 127.0.2.11:4501; sleep 5")
		return c.exec("status json").stdout
	}
	if first, second := tell(), tell(); first != second {
		t.Error("two runs of one seed differ")
	}
}
