package workload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var (
	noon     = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	meta     = inspect.Metadata{Cluster: "sample", Namespace: "fdb", Tool: "kubectl-fdb test", RunID: "run"}
	commands = inspect.Commands{FDB: line("kubectl fdb"), Kubectl: line("kubectl")}
)

func line(program string) func(...string) string {
	return func(words ...string) string { return program + " " + strings.Join(words, " ") }
}

// recorded reads a document that a FoundationDB 7.3.79 printed, cut down to what is used.
func recorded(t *testing.T, name string) *fdb.Status {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := fdb.ParseStatus(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func viewOf(s *fdb.Status) View { return viewAt(s, noon, nil) }

func viewAt(s *fdb.Status, at time.Time, earlier *View) View {
	return NewView(meta, Input{Facts: inspect.Facts{Snapshot: plan.Snapshot{Now: at, Database: plan.DatabaseFacts{Status: s, AsOf: at}}}, Earlier: earlier, Commands: commands})
}

// changeRoles changes the roles of a name, of the process group or of all where that is empty.
func changeRoles(s *fdb.Status, group, role string, change func(*fdb.Role)) {
	for _, p := range s.Cluster.Processes {
		for i := range p.Roles {
			if p.Roles[i].Role == role && (group == "" || p.InstanceID() == group) {
				change(&p.Roles[i])
			}
		}
	}
}

func changeProcess(s *fdb.Status, group string, change func(*fdb.Process)) {
	for id, p := range s.Cluster.Processes {
		if p.InstanceID() == group {
			change(&p)
			s.Cluster.Processes[id] = p
		}
	}
}

func TestCausesOfASlowDatabase(t *testing.T) {
	type found struct {
		Code     Code
		Effect   Effect
		Subjects string
		Next     string
	}
	top := func(words string) string { return "kubectl fdb top processes sample --sort-by " + words }
	cases := map[string]struct {
		given func(*fdb.Status)
		state State
		want  []found
	}{
		"nothing slows a database as it was recorded": {func(*fdb.Status) {}, Fine, nil},
		"ratekeeper limits because of a storage server, which is named by its process group": {func(s *fdb.Status) {
			id := ""
			changeRoles(s, "storage-2", fdb.RoleStorage, func(r *fdb.Role) { id = r.ID })
			s.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: "storage_server_write_queue_size", ReasonServerID: id}
		}, Slow, []found{{RatekeeperLimit, Slows, "storage-2", top("queue")}}},
		"ratekeeper limits because of a durability lag": {func(s *fdb.Status) {
			s.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: limitDurabilityLag}
		}, Slow, []found{{RatekeeperLimit, Slows, Database, top("lag")}}},
		"ratekeeper limits because disks are full": {func(s *fdb.Status) {
			s.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: "log_server_min_free_space_ratio"}
		}, Slow, []found{{RatekeeperLimit, Slows, Database, top("space")}}},
		"ratekeeper limits batch transactions only": {func(s *fdb.Status) {
			s.Cluster.QoS.BatchPerformanceLimitedBy = &fdb.Limit{Name: "log_server_write_queue"}
		}, NearLimit, []found{{BatchLimit, Near, Database, top("queue --class log")}}},
		"tags are throttled": {func(s *fdb.Status) { s.Cluster.QoS.ThrottledTags.Manual.Count = new(2) }, Slow, []found{{ThrottledTags, Slows, Database, "kubectl fdb cli sample -- throttle list"}}},
		"the storage queue reaches the limit of ratekeeper": {func(s *fdb.Status) {
			s.Cluster.QoS.LimitingQueueBytesStorageServer = new(int64(900e6))
			changeRoles(s, "storage-4", fdb.RoleStorage, func(r *fdb.Role) {
				r.InputBytes.Counter, r.DurableBytes.Counter = new(int64(1000e6)), new(int64(101e6))
			})
		}, Slow, []found{{StorageQueue, Slows, "storage-4", top("queue --class storage")}}},
		"the storage queue is close to the limit of ratekeeper": {func(s *fdb.Status) {
			s.Cluster.QoS.LimitingQueueBytesStorageServer = new(int64(899e6))
			changeRoles(s, "storage-4", fdb.RoleStorage, func(r *fdb.Role) {
				r.InputBytes.Counter, r.DurableBytes.Counter = new(int64(1000e6)), new(int64(101e6))
			})
		}, NearLimit, []found{{StorageQueue, Near, "storage-4", top("queue --class storage")}}},
		"a storage server that ratekeeper ignores stops reading from the logs": {func(s *fdb.Status) {
			changeRoles(s, "storage-4", fdb.RoleStorage, func(r *fdb.Role) { r.InputBytes.Counter, r.DurableBytes.Counter = new(int64(1500e6)), new(int64(0)) })
		}, Slow, []found{{StorageHardLimit, Slows, "storage-4", top("queue --class storage")}}},
		"a log queue is above the threshold of spilling": {func(s *fdb.Status) {
			s.Cluster.QoS.WorstQueueBytesLogServer = new(int64(1700e6))
			changeRoles(s, "log-2", fdb.RoleLog, func(r *fdb.Role) { r.InputBytes.Counter, r.DurableBytes.Counter = new(int64(1700e6)), new(int64(0)) })
		}, NearLimit, []found{{LogQueue, Near, "log-2", top("queue --class log")}}},
		"two storage servers write too slowly, the worst first": {func(s *fdb.Status) {
			changeRoles(s, "storage-1", fdb.RoleStorage, func(r *fdb.Role) { r.DurabilityLag.Seconds = new(260.0) })
			changeRoles(s, "storage-3", fdb.RoleStorage, func(r *fdb.Role) { r.DurabilityLag.Seconds, r.LocalRate = new(600.0), new(80.0) })
		}, Slow, []found{{DurabilityLag, Slows, "storage-3,storage-1", top("lag --class storage")}, {RefusedReads, Slows, "storage-3", top("lag --class storage")}}},
		"a storage server is behind the logs": {func(s *fdb.Status) {
			changeRoles(s, "storage-1", fdb.RoleStorage, func(r *fdb.Role) { r.DataLag.Seconds = new(15.0) })
		}, Slow, []found{{DataLag, Slows, "storage-1", top("lag --class storage")}}},
		"the thread of a process is busy although its core is not": {func(s *fdb.Status) {
			changeProcess(s, "log-1", func(p *fdb.Process) { p.RunLoopBusy = new(0.95) })
		}, Slow, []found{{ProcessCPU, Slows, "log-1", top("cpu")}}},
		"one storage server is hot": {func(s *fdb.Status) {
			changeProcess(s, "storage-5", func(p *fdb.Process) { p.CPU.UsageCores = new(0.6) })
		}, NearLimit, []found{{HotProcess, Near, "storage-5", top("cpu --class storage")}}},
		"the only GRV proxy has too much to do": {func(s *fdb.Status) {
			for id, p := range s.Cluster.Processes {
				if p.HasRole(fdb.RoleGRVProxy) {
					p.CPU.UsageCores = new(0.8)
					s.Cluster.Processes[id] = p
				}
			}
		}, NearLimit, []found{{ProcessCPU, Near, "stateless-3", top("cpu")}, {GRVProxies, Near, Database, "kubectl fdb get configuration sample"}}},
		"disks are busy": {func(s *fdb.Status) {
			changeProcess(s, "log-2", func(p *fdb.Process) { p.Disk.Busy = new(0.91) })
			changeProcess(s, "storage-2", func(p *fdb.Process) { p.Disk.Busy = new(0.8) })
		}, Slow, []found{{DiskBusy, Slows, "log-2", top("disk")}, {DiskBusy, Near, "storage-2", top("disk")}}},
		"the busy disk of a process without data is no cause": {func(s *fdb.Status) {
			changeProcess(s, "stateless-1", func(p *fdb.Process) { p.Disk.Busy = new(0.99) })
		}, Fine, nil},
		"a disk is nearly full": {func(s *fdb.Status) {
			changeRoles(s, "storage-2", fdb.RoleStorage, func(r *fdb.Role) { r.KVStoreAvailableBytes = new(*r.KVStoreTotalBytes / 25) })
			changeRoles(s, "log-2", fdb.RoleLog, func(r *fdb.Role) { r.QueueDiskAvailableBytes = new(*r.QueueDiskTotalBytes / 10) })
		}, Slow, []found{{DiskSpace, Slows, "storage-2", top("space")}, {DiskSpace, Near, "log-2", top("space")}}},
		"commits take long":               {func(s *fdb.Status) { s.Cluster.LatencyProbe.CommitSeconds = new(0.25) }, Slow, []found{{CommitLatency, Slows, Database, "kubectl fdb top sample"}}},
		"transactions start with a delay": {func(s *fdb.Status) { s.Cluster.LatencyProbe.TransactionStartSeconds = new(0.05) }, NearLimit, []found{{StartLatency, Near, Database, "kubectl fdb top sample"}}},
		"data is moved":                   {func(s *fdb.Status) { s.Cluster.Data.MovingData.InQueueBytes = new(int64(5 << 30)) }, NearLimit, []found{{DataMovement, Near, Database, "kubectl fdb why sample"}}},
		"every second commit conflicts": {func(s *fdb.Status) {
			s.Cluster.Workload.Transactions.Conflicted.Hz, s.Cluster.Workload.Transactions.Committed.Hz = new(100.0), new(100.0)
		}, Slow, []found{{Conflicts, Slows, Database, "kubectl fdb get clients sample"}}},
		"few conflicts are no cause, whatever their share": {func(s *fdb.Status) {
			s.Cluster.Workload.Transactions.Conflicted.Hz, s.Cluster.Workload.Transactions.Committed.Hz = new(9.0), new(1.0)
		}, Fine, nil},
		"a process is degraded": {func(s *fdb.Status) { changeProcess(s, "log-3", func(p *fdb.Process) { p.Degraded = new(true) }) }, Slow, []found{{Degraded, Slows, "log-3", "kubectl fdb get processes sample"}}},
		"causes that slow the database come before those that are near": {func(s *fdb.Status) {
			s.Cluster.LatencyProbe.ReadSeconds = new(0.05)
			changeProcess(s, "log-1", func(p *fdb.Process) { p.CPU.UsageCores = new(1.0) })
		}, Slow, []found{{ProcessCPU, Slows, "log-1", top("cpu")}, {ReadLatency, Near, Database, "kubectl fdb top sample"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := recorded(t, "05-healthy")
			c.given(s)
			v := viewOf(s)
			var got []found
			for _, cause := range v.Causes {
				got = append(got, found{cause.Code, cause.Effect, strings.Join(cause.Subjects, ","), cause.Next})
				if cause.Threshold.Source == "" || cause.Summary == "" || cause.Value < cause.Threshold.Value {
					t.Errorf("%+v", cause)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if v.State != c.state {
				t.Errorf("state %s, want %s (%+v)", v.State, c.state, v.Unknown)
			}
		})
	}
}

func TestMissingWorkloadFiguresMakeThePerformanceUnknown(t *testing.T) {
	cases := map[string]func(*fdb.Status){
		"no performance state, as right after a recovery": func(s *fdb.Status) { s.Cluster.QoS = nil },
		"no latency probe":                func(s *fdb.Status) { s.Cluster.LatencyProbe = nil },
		"no reason of ratekeeper's limit": func(s *fdb.Status) { s.Cluster.QoS.PerformanceLimitedBy = nil },
		"no CPU of a process, as right after its start": func(s *fdb.Status) {
			changeProcess(s, "stateless-1", func(p *fdb.Process) { p.CPU, p.RunLoopBusy = nil, nil })
		},
		"no disk of a storage server": func(s *fdb.Status) { changeProcess(s, "storage-1", func(p *fdb.Process) { p.Disk = nil }) },
		"no space of a storage server": func(s *fdb.Status) {
			changeRoles(s, "storage-1", fdb.RoleStorage, func(r *fdb.Role) { r.KVStoreTotalBytes = nil })
		},
		"no lag of a storage server": func(s *fdb.Status) {
			changeRoles(s, "storage-1", fdb.RoleStorage, func(r *fdb.Role) { r.DurabilityLag = nil })
		},
		"no storage server at all": func(s *fdb.Status) { changeRoles(s, "", fdb.RoleStorage, func(r *fdb.Role) { r.Role = "router" }) },
		"an incomplete document": func(s *fdb.Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}}})
		},
		"no processes": func(s *fdb.Status) { s.Cluster.Processes = nil },
		"no roles of storage servers": func(s *fdb.Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{Name: fdb.MessageStorageServersError})
		},
		"an unavailable database": func(s *fdb.Status) { s.Client.DatabaseStatus.Available = false },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			s := recorded(t, "05-healthy")
			change(s)
			v := viewOf(s)
			if v.State != StateUnknown {
				t.Errorf("state %s", v.State)
			}
			if r := NewReport(v, commands); strings.HasSuffix(r.Summary, ": ") || len(r.Next) != 1 {
				t.Errorf("no reason or command: %+v", r)
			}
		})
	}
}

func TestAWorkloadCauseIsReportedFromAPartialStatusDocument(t *testing.T) {
	s := recorded(t, "05-healthy")
	s.Cluster.Processes = nil
	s.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: "storage_server_write_queue_size"}
	v := viewOf(s)
	if v.State != Slow || v.Causes[0].Limit != "storage_server_write_queue_size" || v.Reason == "" {
		t.Errorf("%s %+v %q", v.State, v.Causes, v.Reason)
	}
}

func TestWorkloadStatesOfRecordedDocuments(t *testing.T) {
	cases := map[string]struct {
		state  State
		codes  []Code
		reason string
	}{
		"05-healthy":                   {Fine, nil, ""},
		"20-after-kill-one-storage":    {Fine, nil, ""},
		"regions-04h-unknown-key":      {Slow, []Code{RatekeeperLimit, DurabilityLag, DataLag, RefusedReads, BatchLimit}, ""},
		"46-after-force":               {Slow, []Code{RatekeeperLimit}, ""},
		"03-right-after-configure-new": {StateUnknown, nil, ""},
		"28-quorum-lost":               {StateUnknown, nil, "the database is unavailable"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewOf(recorded(t, name))
			var codes []Code
			for _, cause := range v.Causes {
				codes = append(codes, cause.Code)
			}
			if v.State != c.state || v.Reason != c.reason {
				t.Errorf("%s %q: %+v", v.State, v.Reason, v.Unknown)
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARatekeeperLimitNamesItsProcess(t *testing.T) {
	r := NewReport(viewOf(recorded(t, "regions-04h-unknown-key")), commands)
	limit := r.Items[0]
	want := "ratekeeper starts 50.3 of at most 61.2 transactions per second: Storage server durable version falling behind (storage_server_durability_lag)"
	if diff := cmp.Diff(want, limit.Summary); diff != "" {
		t.Error(diff)
	}
	if limit.Subjects[0] != "dc1-storage-12" || limit.Limit != limitDurabilityLag {
		t.Errorf("%+v", limit)
	}
}

func TestQueueGrowthIsComparedWithTheRemainingSpace(t *testing.T) {
	queue := func(n int64) *fdb.Status {
		s := recorded(t, "05-healthy")
		s.Cluster.QoS.LimitingQueueBytesStorageServer = &n
		return s
	}
	cases := map[string]struct {
		before, now int64
		later       time.Duration
		want        bool
	}{
		"full in five minutes":        {100e6, 110e6, 5 * time.Second, true},
		"full in hours":               {100e6, 100e6 + 1000, 5 * time.Second, false},
		"shrinking":                   {110e6, 100e6, 5 * time.Second, false},
		"at the limit is no forecast": {890e6, 900e6, 5 * time.Second, false},
		"of the same time":            {100e6, 110e6, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			earlier := viewOf(queue(c.before))
			v := viewAt(queue(c.now), noon.Add(c.later), &earlier)
			if got := slices.ContainsFunc(v.Causes, func(c Cause) bool { return c.Code == StorageQueueGrows }); got != c.want {
				t.Errorf("got %t: %+v %+v", got, v.Trend, v.Causes)
			}
		})
	}
}

func TestProcessesAreSortedByAMetricWithUnknownValuesLast(t *testing.T) {
	s := recorded(t, "05-healthy")
	changeProcess(s, "log-3", func(p *fdb.Process) { p.CPU.UsageCores = new(0.7) })
	changeProcess(s, "log-1", func(p *fdb.Process) { p.CPU, p.RunLoopBusy = nil, nil })
	items := NewProcessList(viewOf(s), ByCPU).Items
	if items[0].Group != "log-3" || items[len(items)-1].Group != "log-1" {
		t.Errorf("%s … %s", items[0].Group, items[len(items)-1].Group)
	}
	if _, err := ParseSortKey("cheese"); err == nil {
		t.Error("an order that does not exist was accepted")
	}
	for _, key := range SortKeys() {
		if by, err := ParseSortKey(key); err != nil || (sortFigures[by] == nil) != (by == ByName) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestEveryWorkloadRuleHasAThresholdAndASource(t *testing.T) {
	seen := map[Code]bool{}
	for _, r := range Rules() {
		if seen[r.Code] || r.Title == "" || r.Source == "" || r.Near <= 0 || (r.Slow != 0 && r.Slow < r.Near) {
			t.Errorf("%+v", r)
		}
		seen[r.Code] = true
	}
}

// Right after a recovery, and while ratekeeper cannot be reached, the document has no reason of a limit.
func TestAWorkloadCauseIsReportedWithoutARatekeeperReason(t *testing.T) {
	for name, change := range map[string]func(*fdb.Status){
		"no performance state": func(s *fdb.Status) { s.Cluster.QoS = nil },
		"no reasons": func(s *fdb.Status) {
			s.Cluster.QoS.PerformanceLimitedBy, s.Cluster.QoS.BatchPerformanceLimitedBy = nil, nil
		},
	} {
		s := recorded(t, "05-healthy")
		change(s)
		changeProcess(s, "storage-1", func(p *fdb.Process) { p.Disk.Busy = new(1.0) })
		if v := viewOf(s); v.State != Slow || len(v.Causes) != 1 || v.Causes[0].Limit != "" {
			t.Errorf("%s: %s %+v", name, v.State, v.Causes)
		}
	}
}
