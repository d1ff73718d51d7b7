package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// screenCapture is what was written to a terminal.
type screenCapture struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *screenCapture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *screenCapture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// idleFeed is a feed that sends nothing; tests send messages themselves.
type idleFeed struct{}

func (idleFeed) Follow(ctx context.Context, _ string, _ func(Entry)) { <-ctx.Done() }
func (idleFeed) Refresh()                                            {}

func commandLine(program string) func(...string) string {
	return func(words ...string) string {
		return program + " " + strings.Join(words, " ") + " -n fdb --context prod"
	}
}

// shown returns a dashboard of a size, at noon, that received some entries.
func shown(tb testing.TB, width, height int, o Options, entries ...Entry) model {
	tb.Helper()
	if o.Feed == nil && o.Replay == nil {
		o.Feed = idleFeed{}
	}
	if o.Clusters == nil {
		o.Clusters = []string{"sample", "other"}
	}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	o.Context, o.Namespace, o.AllowFlag, o.Interval = "prod", "fdb", "--allow-actions", 2*time.Second
	o.Command, o.Kubectl, o.Out = commandLine("kubectl fdb"), commandLine("kubectl"), &screenCapture{}
	m := newModel(o, &taskRunner{ctx: tb.Context(), send: func(tea.Msg) {}})
	m = after(m, tea.WindowSizeMsg{Width: width, Height: height})
	for _, e := range entries {
		m = after(m, entryMsg{Entry: e})
	}
	return m
}

func after(m model, msg tea.Msg) model { return m.updated(msg) }

// pressed returns the dashboard after keys, by their Bubble Tea names.
func pressed(m model, keys ...string) model {
	for _, k := range keys {
		m = after(m, keyMsg(k))
	}
	return m
}

func keyMsg(name string) tea.KeyMsg {
	key, _ := keyOf(name)
	return key
}

func ago(d time.Duration) *time.Time { t := noon.Add(-d); return &t }

// well returns a frame of a reconciled cluster, read a second before noon.
func well() *frame.Frame {
	meta := inspect.Metadata{Cluster: "sample", Namespace: "fdb", Context: "prod", Tool: "kubectl-fdb test", RunID: "run1"}
	doc := inspect.Document{Metadata: meta, AsOf: ago(time.Second), Source: inspect.SourceLive}
	live := inspect.Origin{Source: inspect.SourceLive, AsOf: ago(time.Second)}
	f := &frame.Frame{Document: doc}
	f.Status = inspect.StatusView{
		Document: doc, State: inspect.StateHealthy, Summary: "Healthy: reconciled, 1 more zone may fail",
		Database: inspect.DatabaseView{
			Origin: live, Available: new(true), Healthy: new(true), Replicas: new(2), ReplicasDesired: 2, RecoveryState: "fully_recovered", RecoveryAge: new(742.0),
			Version: "7.3.79", FullyRecovered: new(true), MovingBytes: new(int64(0)), QueuedBytes: new(int64(0)),
		},
		FaultTolerance: inspect.ToleranceView{Origin: live, Desired: 1, Zones: new(1)},
		Configuration:  inspect.ConfigurationView{Origin: live, Live: &fdb.Configuration{RedundancyMode: "double"}},
		ProcessGroups:  inspect.GroupsView{Origin: live, Desired: 12, Total: 12},
	}
	f.Groups.Document, f.Plan, f.Why = doc, &planned.PlanView{Document: doc}, &why.Report{Document: doc, State: why.Ready}
	for i := range 12 {
		f.Groups.Items = append(f.Groups.Items, group(i))
	}
	for i := range 4 {
		f.Nodes.Items = append(f.Nodes.Items, node(i))
	}
	f.Coordinators = inspect.CoordinatorListView{Document: doc, Desired: 3, Reachable: new(3), QuorumReachable: new(true)}
	for i := range 3 {
		f.Coordinators.Items = append(f.Coordinators.Items, inspect.CoordinatorDetailView{
			CoordinatorView: inspect.CoordinatorView{Address: fmt.Sprintf("10.0.1.%d:4501", i+1), Reachable: new(true)},
			Group:           fmt.Sprintf("log-%d", i+1), Zone: fmt.Sprintf("zone-%d", i), Removing: new(false),
		})
	}
	f.Exclusions = inspect.ExclusionStatusView{Document: doc, Safe: new(true), Summary: "nothing is excluded, and nothing has to be", Data: inspect.DrainData{Origin: live, InFlightBytes: new(int64(0)), QueuedBytes: new(int64(0)), ReplicasDesired: 2, LeastSpaceStorageBytes: new(int64(58 << 30))}}
	f.Locks = inspect.LockListView{Document: doc, Items: []inspect.LockView{{Cluster: "sample", Used: true, State: inspect.LockFree}}, Lease: inspect.LeaseView{Read: true}}
	f.Sources = []frame.Source{
		{Name: "kubernetes", AsOf: ago(2 * time.Second)},
		{Name: "database", AsOf: ago(3 * time.Second)},
		{Name: "events", AsOf: ago(2 * time.Second)},
		{Name: "preview", AsOf: ago(20 * time.Second)},
		{Name: "backups", AsOf: ago(12 * time.Second)},
	}
	f.Backups = new(backedUp())
	return f
}

// group is the i-th of five storage, four log and three stateless process groups.
func group(i int) inspect.GroupView {
	class, n := "storage", i+1
	switch {
	case i >= 9:
		class, n = "stateless", i-8
	case i >= 5:
		class, n = "log", i-4
	}
	id := fmt.Sprintf("%s-%d", class, n)
	g := inspect.GroupView{
		ID: id, Class: class, Pod: "sample-" + id, PodPhase: "Running", Node: fmt.Sprintf("node-%d", i%4+1), Zone: fmt.Sprintf("zone-%d", i%4+1),
		Addresses: []string{fmt.Sprintf("10.0.%d.%d:4501", i%3, n)}, Processes: new(1), Roles: []string{class}, Coordinator: new(class == "log" && n < 4),
		Conditions: []inspect.ConditionView{}, Exclusion: inspect.NotExcluded, UptimeSeconds: new(3600.0 * float64(i+1)), Restarts: new(0),
		Image: "foundationdb/fdb-kubernetes-monitor:7.3.79",
	}
	if class != "stateless" {
		g.PVC = g.Pod + "-data"
	}
	if class == "storage" {
		g.StoredBytes, g.LagSeconds = new(int64(n)<<30), new(0.4)
	}
	return g
}

func node(i int) inspect.NodeView {
	return inspect.NodeView{
		Name: fmt.Sprintf("node-%d", i+1), Zones: []string{fmt.Sprintf("zone-%d", i+1)}, Exists: new(true), Ready: new(true), Unschedulable: new(false), Taints: []string{},
		ProcessGroups: []string{"a", "b", "c"}, Coordinators: 1, Classes: map[string]int{"storage": 1, "log": 1, "stateless": 1},
	}
}

// lost returns the cluster half an hour after it lost node-3: replacements are in progress.
func lost() *frame.Frame {
	f := well()
	f.Status.State, f.Status.Summary = inspect.StateDegraded, "Degraded: zone-3 does not report (storage-3, log-2); some data has 1 of 2 replicas; 412MiB have to move"
	f.Status.FaultTolerance.Zones, f.Status.FaultTolerance.ZonesNotReporting = new(0), []string{"zone-3"}
	f.Status.Database.MovingBytes, f.Status.Database.QueuedBytes = new(int64(412<<20)), new(int64(2<<30))
	for _, i := range []int{2, 6} {
		g := &f.Groups.Items[i]
		g.Processes, g.Roles, g.UptimeSeconds, g.PodPhase = new(0), []string{}, nil, "Pending"
		g.Conditions = []inspect.ConditionView{{Type: "MissingProcesses", Since: new(noon.Add(-38 * time.Minute))}, {Type: "PodPending", Since: new(noon.Add(-37 * time.Minute))}}
	}
	f.Groups.Items[0].Exclusion, f.Groups.Items[0].RemovalSince = inspect.ExclusionMoving, ago(20*time.Minute)
	f.Groups.Items[1].Addresses = []string{"[2001:db8::7:11]:4501:tls"}
	f.Groups.Items[10].Conditions = []inspect.ConditionView{{Type: "IncorrectPodSpec", Since: new(noon.Add(-70 * time.Second))}}
	f.Status.ProcessGroups.Removing = 1
	for i := range f.Groups.Items {
		if f.Groups.Items[i].Node == "node-3" {
			f.Groups.Items[i].NodeProblem = inspect.NodeNotReady
		}
	}
	n := &f.Nodes.Items[2]
	n.Ready, n.Taints = new(false), []string{"node.kubernetes.io/unreachable:NoExecute"}
	n.MatchedRules = []inspect.TaintRuleView{{Key: "node.kubernetes.io/unreachable", Seconds: 300}}
	n.TaintedSince, n.DetectAt, n.ReplaceAt = ago(2*time.Minute), ago(-3*time.Minute), ago(-33*time.Minute)
	f.Nodes.Items[3].Taints, f.Nodes.Items[3].Note = []string{"例え=テスト:NoSchedule"}, "no pass has recorded the taint yet; its timers start with the next one"
	f.Coordinators.Reachable = new(2)
	f.Coordinators.Items[1].Reachable, f.Coordinators.Items[2].Address = new(false), "[2001:db8::7:11]:4501:tls"
	f.Coordinators.Items[2].TLS, f.Coordinators.Items[2].Removing = true, new(true)
	f.Exclusions.Safe, f.Exclusions.Summary = new(false), "2 of 3 are not safe to remove; 480MiB left on them"
	f.Exclusions.Items = []inspect.DrainView{
		{
			ID: "storage-1", Process: "10.0.0.1:4501", Roles: []string{"storage"}, State: inspect.ExclusionMoving, Reason: "its process at 10.0.0.1:4501 still has the role storage",
			LeftBytes: new(int64(480 << 20)), MovedBytes: new(int64(420 << 20)), RateBytesPerSecond: new(7e6), ETASeconds: new(69.0), ETASecondsSoonest: new(66.0), ETASecondsLatest: new(82.0),
		},
		{ID: "log-4", Process: "10.0.1.4", State: inspect.ExclusionUnverified, Reason: "its process has not reported since", StalledSeconds: new(340.0)},
		{ID: "stateless-9", Process: "10.0.2.9:4501", Roles: []string{}, State: inspect.ExclusionSafe},
	}
	f.Exclusions.Data.InFlightBytes, f.Exclusions.Data.QueuedBytes = new(int64(412<<20)), new(int64(2<<30))
	f.Exclusions.Data.MinReplicas = []inspect.RegionReplicas{{Primary: true, Remaining: new(1)}}
	owner := "east"
	f.Locks.Items[0] = inspect.LockView{Cluster: "sample", Used: true, Owner: &owner, Mine: new(true), Since: ago(90 * time.Second), Until: ago(-510 * time.Second), State: inspect.LockHeld}
	f.Locks.Lease = inspect.LeaseView{Read: true, Holder: "ops@laptop reconcile run7", Until: ago(-12 * time.Second)}
	f.Locks.Denied = []inspect.DeniedView{{ID: "west", InDatabase: true, InSpec: inspect.SpecAllows, Drift: "the next pass allows it again"}}
	f.Events.Items = []inspect.EventView{
		{Time: noon.Add(-37 * time.Minute), First: noon.Add(-37 * time.Minute), Type: "Warning", Reason: "NodeNotReady", Object: "pod/sample-storage-3", ProcessGroup: "storage-3", Count: 1, Message: "Node is not ready", From: "node-controller"},
		{Time: noon.Add(-20 * time.Second), First: noon.Add(-36 * time.Minute), Type: "Warning", Reason: "FailedScheduling", Object: "pod/sample-storage-3", ProcessGroup: "storage-3", Count: 41, Message: "0/4 nodes are available: 1 node(s) had untolerated taint, 3 Insufficient memory", From: "default-scheduler"},
		{Time: noon.Add(-5 * time.Second), First: noon.Add(-5 * time.Second), Type: "Normal", Reason: "Pulled", Object: "pod/sample-storage-6", Count: 1, Message: "hostile \x1b[2J\x1b]0;owned\a text \u202eand 全角文字 end", From: "kubelet"},
	}
	f.Backups = new(backedUpBadly())
	f.Plan = plannedFrom(f.Document)
	f.Why = blocked(f.Document)
	f.Sources[1] = frame.Source{Name: "database", AsOf: ago(3 * time.Second)}
	f.Sources[3] = frame.Source{Name: "preview", AsOf: ago(40 * time.Second), RequestedAt: ago(12 * time.Second)}
	return f
}

func plannedFrom(doc inspect.Document) *planned.PlanView {
	record := func(kind, subject, summary string, impact plan.Impact) inspect.ActionRecord {
		return inspect.ActionRecord{Kind: kind, Subject: subject, Groups: []string{subject}, Summary: summary, Impact: impact}
	}
	refused := plan.Check{Question: "is the database fully fault tolerant?", Evidence: "some data has 1 of 2 replicas, 2 required", Have: "1 replica", Need: "2 replicas", Gate: plan.GateReplicas}
	doc.AsOf = ago(40 * time.Second)
	return &planned.PlanView{
		Document: doc,
		Items: []planned.PlanItem{
			{Number: 1, Stage: "AddPods", ActionRecord: record("CreatePod", "storage-6", "create pod sample-storage-6", plan.NoImpact), Why: "its pod is missing"},
			{Number: 2, Stage: "ExcludeInstances", ActionRecord: record("Exclude", "storage-1", "exclude storage-1", plan.DataMove), Preconditions: planned.Preconditions{Lease: true, Lock: true}, Provisional: []plan.StageName{"AddPods"}},
		},
		Holds: []planned.PlanHold{
			{Stage: "UpdatePods", HoldRecord: inspect.HoldRecord{Reason: "stateless-2 has to be recreated; none is deleted now", RetryAfterSeconds: new(30.0)}, Nature: plan.Ordinary, Refused: []plan.Check{refused}},
			{Stage: "ChangeCoordinators", HoldRecord: inspect.HoldRecord{Reason: "too few processes may be coordinators", ManualIntervention: true}, Nature: plan.Problem},
		},
		Changes: []planned.SettingChange{{Setting: "version", From: new("7.3.79"), To: new("7.3.80")}},
		Forecast: &planned.Forecast{
			End: planned.ForecastComplete, Passes: 9, Seconds: 540, Totals: planned.ForecastTotals{Actions: 12, PodsNow: 12, PodsAtPeak: 13, PodsAtEnd: 12, PodsCreated: 1, PodsDeleted: 1, MovedBytes: 3 << 30},
			Phases: []planned.ForecastPhase{
				{Stage: "AddPods", Kind: "CreatePod", FromSeconds: 2, ToSeconds: 2, Actions: 1, Groups: []v1beta2.ProcessGroupID{"storage-6"}, Impact: plan.NoImpact, Summary: "create pod sample-storage-6"},
				{Stage: "ExcludeInstances", Kind: "Exclude", FromSeconds: 40, ToSeconds: 300, Actions: 1, Groups: []v1beta2.ProcessGroupID{"storage-1"}, Impact: plan.DataMove, Summary: "exclude storage-1", FewestCopies: new(1)},
			},
			Assumed: planned.ForecastAssumptions{PodStartSeconds: 20, MoveBytesPerSecond: 50 << 20},
		},
	}
}

func blocked(doc inspect.Document) *why.Report {
	return &why.Report{
		Document: doc, State: why.Blocked,
		Items: []why.Chain{
			{
				Subjects: []string{"storage-3", "log-2"}, State: why.Blocked, Summary: "have MissingProcesses, PodPending", Since: ago(38 * time.Minute),
				Reasons: []why.Link{
					{Message: "its pod is Pending, no node takes it: 0/4 nodes are available: 1 node(s) had untolerated taint, 3 Insufficient memory", Since: ago(37 * time.Minute)},
					{Stage: "ReplaceFailedPods", Message: "it is replaced in 82m if that lasts (automationOptions.replacements.failureDetectionTimeSeconds)"},
				},
				Next: []string{"kubectl describe pod sample-storage-3 -n fdb --context prod"},
			},
			{
				Subjects: []string{"stateless-2"}, State: why.Waiting, Summary: "has IncorrectPodSpec", Since: ago(70 * time.Second),
				Reasons: []why.Link{{Stage: "UpdatePods", Message: "none is deleted now", Reasons: []why.Link{{Gate: plan.GateReplicas, Have: "1 replica", Need: "2 replicas", Message: "is the database fully fault tolerant? some data has 1 of 2 replicas, 2 required"}}}},
				Next:    []string{"kubectl fdb reconcile sample --wait -n fdb --context prod"},
			},
		},
	}
}

// passLines returns lines as passes write them, one per second until noon.
func passLines(events ...reconcile.Event) []Entry {
	var b bytes.Buffer
	write := ui.JSON(&b)
	for _, e := range events {
		write(e)
	}
	var entries []Entry
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	for i, l := range lines {
		entries = append(entries, Entry{At: noon.Add(time.Duration(i-len(lines)) * time.Second), Cluster: "sample", Pass: bytes.Clone(l)})
	}
	return entries
}

// running returns a pass that creates a pod.
func running() []Entry {
	newPod := plan.CreatePod{Group: "storage-6", Name: "sample-storage-6"}
	return passLines(
		reconcile.PassStarted{Round: 1, Stages: []plan.StageName{"UpdateStatus", "AddProcessGroups", "AddPods", "ExcludeInstances", "UpdateStatus"}},
		reconcile.StageDone{Stage: "UpdateStatus", Outcome: reconcile.Done},
		reconcile.StageDecided{Stage: "AddProcessGroups"},
		reconcile.StageDone{Stage: "AddProcessGroups", Outcome: reconcile.Waiting, Reason: "the database has to be available"},
		reconcile.StageDecided{Stage: "AddPods", Decision: plan.Decision{Why: "storage-6 has no pod", Actions: []plan.Action{newPod}}},
		reconcile.LeaseTaken{Stage: "AddPods"},
		reconcile.ActionStarted{Stage: "AddPods", Action: newPod},
	)
}

func entry(f *frame.Frame) Entry { return Entry{At: noon, Cluster: "sample", Frame: f} }

// pipe returns the two ends of a keyboard.
func pipe(t *testing.T) (in io.Reader, keys io.WriteCloser) {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r, w
}
