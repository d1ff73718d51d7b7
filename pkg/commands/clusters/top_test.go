package clusters_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// loaded gives the database some data, and clients that read and write so much per second.
func loaded(reads, writes int64) func(*commandstest.Given) {
	return func(g *commandstest.Given) {
		db := g.Cluster.FDB.Databases()[0]
		db.LoadBytes(1_000_000_000)
		db.SetFaults(fdbsim.Faults{ClientReads: reads, ClientWrites: writes})
		g.Cluster.Tick(10 * time.Minute)
	}
}

// saturated has clients write more than the disks manage.
func saturated(g *commandstest.Given) { loaded(20_000, 60_000)(g) }

func TestTopReportsDatabaseAndProcessLoad(t *testing.T) {
	tests := map[string]commandLine{
		"the load of an idle database":       {given: aMinuteLater, args: "top sample", out: []string{"State:", "nothing slows the database", "limited by workload", "durability 5s", "CLASS", "storage"}, notOut: "CAUSE"},
		"more columns":                       {given: aMinuteLater, args: "top sample -o wide", out: []string{"CPU-MEAN", "MUTATIONS"}},
		"the reason of the limit":            {given: saturated, args: "top sample -o jsonpath={.load.ratekeeper.limitedBy.code}:{.state}", out: []string{"storage_server_write_queue_size:slow"}},
		"the causes":                         {given: saturated, args: "top sample", out: []string{"ratekeeper-limit", "storage-queue", "858MiB"}},
		"by name":                            {given: aMinuteLater, args: "top sample -o name", out: []string{"foundationdbcluster/sample\n"}},
		"in JSON":                            {given: saturated, args: "top sample -o json", out: []string{`"kind": "Workload"`, `"limitingStorageBytes"`}},
		"in YAML":                            {given: aMinuteLater, args: "top sample -o yaml", out: []string{"kind: Workload"}},
		"the load without an answer":         {given: commandstest.WithSilentStorage, args: "top sample", code: exit.ExitUnreachable, err: []string{"cannot determine the load: timed out"}},
		"all processes":                      {given: aMinuteLater, args: "top processes sample", out: []string{"PROCESS", "storage-"}},
		"all processes with more columns":    {given: aMinuteLater, args: "top processes sample -o wide", out: []string{"RUN-LOOP", "DISK-FREE", "10.1.0.7:4501"}},
		"the processes of a class":           {given: aMinuteLater, args: "top processes sample --class log -o custom-columns=C:.class --no-headers", out: []string{"log\n"}, notOut: "storage"},
		"processes by name":                  {given: aMinuteLater, args: "top proc sample -o name", out: []string{"process/10.1.0.7:4501\n"}},
		"processes in JSON":                  {given: aMinuteLater, args: "top processes sample -o json", out: []string{`"kind": "ProcessLoadList"`}},
		"processes in an order that is none": {args: "top processes sample --sort-by age", code: exit.ExitUsage, err: []string{`invalid order "age": must be one of cpu, disk, queue, lag`}},
		"processes of a class that is none":  {args: "top processes sample --class x", code: exit.ExitUsage},
		"processes without an answer":        {given: commandstest.WithSilentStorage, args: "top processes sample", code: exit.ExitUnreachable, err: []string{"cannot determine the load of the processes"}},
		"processes that no condition has":    {given: aMinuteLater, args: "top processes sample --condition PodFailing", err: []string{"the database of sample reports no matching process"}},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, healthy) })
	}
}

func TestTopSortByQueueListsTheFullestQueueFirst(t *testing.T) {
	g := commandstest.Up(t)
	saturated(g)
	if code := g.Run("top", "processes", "sample", "--sort-by", "queue", "-o", "jsonpath={.items[*].queueBytes}"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	queues := strings.Fields(g.Out.String())
	if len(queues) < 5 || len(queues[0]) < 9 || !slices.IsSortedFunc(queues, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(b, a)
	}) {
		t.Errorf("%v", queues)
	}
}

func TestWhyPerformanceExitCodes(t *testing.T) {
	tests := map[string]commandLine{
		"nothing slows an idle database":        {given: aMinuteLater, args: "why sample --performance", out: []string{"fdb/sample: nothing slows the database", "Ratekeeper:"}},
		"a queue is full":                       {given: saturated, args: "why sample --performance", code: exit.ExitNo, out: []string{"fdb/sample: slow: storage-", "ratekeeper starts", "threshold 80%: cluster.qos.performance_limited_by", "next: kubectl fdb top processes sample --sort-by queue"}},
		"a row per cause":                       {given: saturated, args: "why sample --performance -o wide", code: exit.ExitNo, out: []string{"CAUSE", "EFFECT", "ratekeeper-limit"}},
		"in JSON":                               {given: saturated, args: "why sample --performance -o json", code: exit.ExitNo, out: []string{`"kind": "PerformanceReport"`}},
		"the causes by name":                    {given: saturated, args: "why sample --performance -o name", code: exit.ExitNo, out: []string{"cause/ratekeeper-limit\n"}},
		"a figure close to a threshold is fine": {given: loaded(145_000, 0), args: "why sample --performance", out: []string{"nothing slows the database, but ", "process-cpu  near"}},
		"a database without an answer":          {given: commandstest.WithSilentStorage, args: "why sample --performance", code: exit.ExitUnreachable, out: []string{"cannot determine what slows the database: timed out", "next: kubectl fdb why sample"}},
		"an incomplete document": {given: func(g *commandstest.Given) {
			g.Cluster.FDB.Databases()[0].SetFaults(fdbsim.Faults{StatusDeadline: true})
		}, args: "why sample --performance", code: exit.ExitUnreachable, out: []string{"the status document is incomplete"}},
		"figures of processes are missing": {given: func(g *commandstest.Given) {
			g.Cluster.FDB.Databases()[0].SetFaults(fdbsim.Faults{PartialStatus: true})
		}, args: "why sample --performance", code: exit.ExitUnreachable, out: []string{": unknown for "}},
		"process groups": {args: "why sample storage-1 --performance", code: exit.ExitUsage, err: []string{"--performance requires a cluster alone"}},
		"a backup":       {args: "why fdbbackup/nightly --performance", code: exit.ExitUsage},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, healthy) })
	}
}

func TestTopAndWhyPerformanceOutput(t *testing.T) {
	tests := map[string]struct {
		args string
		code int
	}{
		"top":             {"top sample", exit.ExitDone},
		"top-processes":   {"top processes sample --sort-by queue", exit.ExitDone},
		"why-performance": {"why sample --performance", exit.ExitNo},
	}
	g := commandstest.Up(t)
	saturated(g)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if code := g.Run(strings.Fields(tc.args)...); code != tc.code {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			golden.RequireEqual(t, g.Out.Bytes())
		})
	}
}
