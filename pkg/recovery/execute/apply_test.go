package execute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

const (
	from = "sample:abc@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501"
	to   = "sample:abc@10.0.9.1:4501,10.0.9.2:4501,10.0.9.3:4501"
)

// cluster is a cluster of three pods in memory, whose files are on this machine. Its database is
// available once a majority of processes has started with the new connection string.
type cluster struct {
	t         *testing.T
	dir       string
	status    string
	configMap string
	// uses is the connection string with which the process of a pod started, pids its process ID.
	uses map[string]string
	pids map[string]int
	// held is true while the Lease is held; steps are what was done, in order.
	held  bool
	steps []string
	// fails is the change that fails once, by its name in steps.
	fails string
	// lies is the change that is not kept although it succeeds.
	lies string
	mu   sync.Mutex
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), status: from, configMap: from, uses: map[string]string{}, pids: map[string]int{}}
	for n := 1; n <= 3; n++ {
		pod := fmt.Sprintf("pod-%d", n)
		if err := os.Mkdir(filepath.Join(c.dir, pod), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.file(pod), []byte("# comment\n"+from+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.uses[pod], c.pids[pod] = from, 10+n
	}
	return c
}

func (c *cluster) file(pod string) string { return filepath.Join(c.dir, pod, "fdb.cluster") }

func (c *cluster) content(pod string) string {
	text, err := os.ReadFile(c.file(pod))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		c.t.Error(err)
		return ""
	}
	s, err := fdb.ParseClusterFile(string(text))
	if err != nil {
		c.t.Error(err)
	}
	return s.String()
}

// step notes a change, or makes it fail.
func (c *cluster) step(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.held {
		c.t.Errorf("%s without the Lease", name)
	}
	if name == c.fails {
		c.fails = ""
		return errors.New("lost the connection")
	}
	c.steps = append(c.steps, name)
	return nil
}

func (c *cluster) Begin(context.Context) error { c.held = true; return nil }

func (c *cluster) Lock(context.Context) error {
	return errors.New("no lock is taken without a database")
}

func (c *cluster) End(context.Context) error { c.held = false; return nil }

func (c *cluster) Observe(_ context.Context, s *plan.Snapshot, _ plan.Facet) error {
	s.Cluster = &v1beta2.FoundationDBCluster{Status: v1beta2.FoundationDBClusterStatus{ConnectionString: c.status}}
	s.ConfigMap = &corev1.ConfigMap{Data: map[string]string{objects.KeyClusterFile: c.configMap}}
	if c.configMap == "" {
		s.ConfigMap.Data = nil
	}
	return nil
}

func (c *cluster) Act(_ context.Context, a plan.Action) error {
	if set, is := a.(plan.SetConnectionString); is {
		if err := c.step("status"); err != nil {
			return err
		}
		if c.lies != "status" {
			c.status = set.ConnectionString
		}
		return nil
	}
	written, is := a.(plan.ApplyConfigMap)
	if !is {
		return fmt.Errorf("unexpected action %T", a)
	}
	if err := c.step("configmap"); err != nil {
		return err
	}
	if c.lies != "configmap" {
		c.configMap = written.Object.Data[objects.KeyClusterFile]
	}
	return nil
}

// tool runs the scripts of a run in a directory of this machine, except the one that ends processes.
type tool struct {
	c   *cluster
	pod string
}

func (tool) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("not interactive")
}

func (t tool) Run(ctx context.Context, command admin.Command) (admin.Result, error) {
	switch script := command.Argv[2]; script {
	case restartScript:
		if err := t.c.step("restart " + t.pod); err != nil {
			return admin.Result{}, err
		}
		t.c.mu.Lock()
		defer t.c.mu.Unlock()
		if t.c.lies != "restart" {
			t.c.uses[t.pod] = t.c.content(t.pod)
			t.c.pids[t.pod] += 100
		}
		return admin.Result{}, nil
	case writeScript:
		if err := t.c.step("write " + t.pod); err != nil {
			return admin.Result{}, err
		}
		command.Argv = slices.Clone(command.Argv)
		command.Argv[4] = filepath.Join(t.c.dir, t.pod)
		if t.c.lies == "write" {
			command.Argv[6] = from
		}
		return admin.LocalExec{}.Run(ctx, command)
	default:
		return admin.Result{}, fmt.Errorf("unexpected script %q", script)
	}
}

func (c *cluster) read(context.Context) (recovery.Facts, plan.Snapshot, error) {
	f := recovery.Facts{UID: "1", Recorded: c.status, ConfigMap: c.configMap, Queried: []string{}}
	s := plan.Snapshot{Pods: map[string]*corev1.Pod{}}
	started, processes := 0, map[string]fdb.Process{}
	for n := 1; n <= 3; n++ {
		pod := fmt.Sprintf("pod-%d", n)
		s.Pods[pod] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}}
		f.Groups = append(f.Groups, recovery.Group{
			ID: fmt.Sprintf("storage-%d", n), Pod: pod, PodUID: pod, Phase: "Running", Stateful: true, Addresses: []string{fmt.Sprintf("10.0.0.%d", n)}, Now: []string{fmt.Sprintf("10.0.9.%d", n)},
			PVC: pod, Volume: pod, Files: &datadir.Files{ClusterFile: c.content(pod), Coordination: []datadir.File{{Bytes: 1, Current: true}}, Processes: []int{c.pids[pod]}},
		})
		if c.uses[pod] == to {
			started++
			processes[pod] = fdb.Process{Locality: map[string]string{fdb.LocalityInstanceID: fmt.Sprintf("storage-%d", n)}}
		}
	}
	recorded, err := fdb.ParseConnectionString(c.content("pod-1")) // fdbcli runs there
	if err != nil {
		return f, s, err
	}
	for _, a := range recorded.Coordinators {
		f.Queried = append(f.Queried, a.Coordinator())
	}
	status, err := fdb.ParseConnectionString(c.status)
	if err != nil {
		return f, s, err
	}
	for _, a := range status.Coordinators {
		f.Coordinators = append(f.Coordinators, recovery.Coordinator{Address: a.Coordinator(), Reachable: new(strings.HasPrefix(a.Host, "10.0.9."))})
	}
	s.Database.Status = &fdb.Status{Cluster: fdb.ClusterStatus{Processes: processes}}
	f.Quorum, f.Available = new(recorded.String() == to), new(started > 1)
	return f, s, nil
}

func (c *cluster) plan() recovery.Plan {
	c.t.Helper()
	f, _, err := c.read(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := recovery.NewPlan("sample", "fdb", f, func(words ...string) string { return strings.Join(words, " ") })
	if err != nil {
		c.t.Fatal(err)
	}
	if p.To != to {
		c.t.Fatalf("%+v", p)
	}
	return p
}

func (c *cluster) apply(p recovery.Plan) error {
	c.t.Helper()
	ctx, clock := impatient(c.t)
	r := Run{
		Cluster: c, Read: c.read, Report: func(recovery.Step, time.Time, error) {}, Clock: clock,
		Tool: func(pod *corev1.Pod, _ string) (admin.Transport, error) { return tool{c, pod.Name}, nil },
	}
	return r.Apply(ctx, p)
}

// instant is a clock whose timers end at once.
type instant struct {
	*clocktesting.FakeClock
	// timer is called for each one; nil for nothing.
	timer func()
}

func (i instant) NewTimer(time.Duration) clock.Timer {
	if i.timer != nil {
		i.timer()
	}
	return clock.RealClock{}.NewTimer(time.Millisecond)
}

// maxTimers is how many timers a run starts before it waits in vain: no test needs half as many.
const maxTimers = 200

// impatient returns a context that ends with the last of maxTimers timers of a clock whose timers
// end at once. So a run that waits in vain ends, and one that works may be as slow as the machine.
func impatient(t *testing.T) (context.Context, instant) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var timers atomic.Int32
	return ctx, instant{FakeClock: clocktesting.NewFakeClock(time.Now()), timer: func() {
		if timers.Add(1) == maxTimers {
			cancel()
		}
	}}
}

func TestRecoverApplyWritesTheNewConnectionStringEverywhere(t *testing.T) {
	c := newCluster(t)
	p := c.plan()
	if err := c.apply(p); err != nil {
		t.Fatal(err)
	}
	for pod := range c.uses {
		kept, err := os.ReadFile(c.file(pod) + ".before-recovery-" + p.Digest[:digestLength])
		if c.content(pod) != to || c.uses[pod] != to || err != nil || !strings.Contains(string(kept), from) {
			t.Errorf("%s has %s, its process %s, its copy %q: %v", pod, c.content(pod), c.uses[pod], kept, err)
		}
	}
	if c.status != to || c.configMap != to || c.held {
		t.Errorf("status %s, ConfigMap %s, Lease held: %t", c.status, c.configMap, c.held)
	}
	order := strings.Join(c.steps, " ")
	if last, first := strings.LastIndex(order, "write"), strings.Index(order, "restart"); last > strings.Index(order, "configmap") || first < strings.Index(order, "status") {
		t.Errorf("the order is %s", order)
	}
}

// The last read ends with the time as well, and does not hide what was waited for.
func TestARecoveryTimeoutReportsTheAwaitedState(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("timed out"))
	defer cancel()
	reads := 0
	r := Run{Clock: instant{FakeClock: clocktesting.NewFakeClock(time.Now())}, Read: func(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
		if reads++; reads > 1 {
			<-ctx.Done()
			return recovery.Facts{}, plan.Snapshot{}, ctx.Err()
		}
		return recovery.Facts{Outage: recovery.Outage{RecoveryState: "locking_coordinated_state"}}, plan.Snapshot{}, nil
	}}
	const want = "the database is not available, recovery state locking_coordinated_state: timed out"
	if err := r.available(ctx, recovery.Plan{Assessment: recovery.Assessment{Kind: recovery.CoordinatorsLost}}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A pod without a volume that was created without a quorum has no cluster file yet.
func TestAPodWithoutAClusterFileGetsOne(t *testing.T) {
	c := newCluster(t)
	if err := os.Remove(c.file("pod-3")); err != nil {
		t.Fatal(err)
	}
	if err := c.apply(c.plan()); err != nil {
		t.Fatal(err)
	}
	if got := c.content("pod-3"); got != to {
		t.Errorf("the cluster file is %q, want %s", got, to)
	}
}

// A run that failed at any step is repeated with the same plan, and completes.
func TestAFailedRecoveryCompletesWhenItsPlanIsRepeated(t *testing.T) {
	for _, at := range []string{"write pod-2", "configmap", "status", "restart pod-1", "restart pod-3"} {
		t.Run(at, func(t *testing.T) {
			c := newCluster(t)
			p := c.plan()
			c.fails = at
			if err := c.apply(p); err == nil || c.held {
				t.Fatalf("%v, Lease held: %t", err, c.held)
			}
			if err := c.apply(p); err != nil {
				t.Fatal(err)
			}
			for pod := range c.uses {
				kept, err := os.ReadFile(c.file(pod) + ".before-recovery-" + p.Digest[:digestLength])
				if c.content(pod) != to || err != nil || !strings.Contains(string(kept), from) {
					t.Errorf("%s has %s, its copy %q: %v", pod, c.content(pod), kept, err)
				}
			}
			if f, _, err := c.read(t.Context()); err != nil || !p.IsReached(f) {
				t.Errorf("not reached: %v", err)
			}
		})
	}
}

// No step begins before the one before it was read back.
func TestARecoveryStepWithoutEffectEndsTheRun(t *testing.T) {
	for lie, next := range map[string]string{"write": "configmap", "configmap": "status", "status": "restart pod-1", "restart": "available"} {
		t.Run(lie, func(t *testing.T) {
			c := newCluster(t)
			p := c.plan()
			c.lies = lie
			if err := c.apply(p); err == nil {
				t.Error("no error")
			}
			if slices.Contains(c.steps, next) {
				t.Errorf("%s followed: %v", next, c.steps)
			}
		})
	}
}

func TestRecoverStopsIfTheClusterChangedSinceThePlan(t *testing.T) {
	c := newCluster(t)
	p := c.plan()
	c.configMap = strings.Replace(from, "abc", "def", 1)
	err := c.apply(p)
	if _, moved := errors.AsType[*MovedError](err); !moved || len(c.steps) > 0 {
		t.Errorf("%v after %v", err, c.steps)
	}
}

// Processes of a database that is available with all process groups are not restarted again.
func TestApplyingAFinishedRecoveryPlanAgainChangesNothing(t *testing.T) {
	c := newCluster(t)
	p := c.plan()
	if err := c.apply(p); err != nil {
		t.Fatal(err)
	}
	before := len(c.steps)
	err := c.apply(p)
	for _, step := range c.steps[before:] {
		if step != "status" { // which proves that the Lease is held
			t.Errorf("%s again", step)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestAConfigMapWithoutDataGetsTheConnectionString(t *testing.T) {
	c := newCluster(t)
	c.configMap = ""
	if err := c.apply(c.plan()); err != nil || c.configMap != to {
		t.Errorf("%q: %v", c.configMap, err)
	}
}

func TestARestartWaitsUntilEveryPodHasOtherProcesses(t *testing.T) {
	c := newCluster(t)
	p := c.plan()
	c.held, c.lies = true, "restart"
	ctx, clock := impatient(t)
	r := Run{Cluster: c, Read: c.read, Clock: clock, Tool: func(pod *corev1.Pod, _ string) (admin.Transport, error) { return tool{c, pod.Name}, nil }}
	if err := r.restart(ctx, p); err == nil || !strings.Contains(err.Error(), "3 pods without restarted processes") {
		t.Errorf("a restart without effect: %v", err)
	}
}

func TestAProcessIsRestartedOnlyOnceAnotherOneRuns(t *testing.T) {
	before := recovery.Group{ID: "storage-1", Files: &datadir.Files{Processes: []int{11, 12}}}
	for name, tc := range map[string]struct {
		now  []recovery.Group
		want bool
	}{
		"it is not in the status any more": {},
		"its pod cannot be read":           {now: []recovery.Group{{ID: "storage-1"}}},
		"its pod has no process":           {now: []recovery.Group{{ID: "storage-1", Files: &datadir.Files{}}}},
		"one of two runs as before":        {now: []recovery.Group{{ID: "storage-1", Files: &datadir.Files{Processes: []int{12, 21}}}}},
		"only another pod has restarted":   {now: []recovery.Group{{ID: "storage-2", Files: &datadir.Files{Processes: []int{21}}}}},
		"both are others":                  {now: []recovery.Group{{ID: "storage-2"}, {ID: "storage-1", Files: &datadir.Files{Processes: []int{21, 22}}}}, want: true},
	} {
		if got := restarted(before, recovery.Facts{Groups: tc.now}); got != tc.want {
			t.Errorf("%s: restarted %t", name, got)
		}
	}
}

// In a database that is available with all process groups with data, what cannot be read or has no
// process is of no concern; a process that does not report is restarted.
func TestARepeatedRestartConcernsOnlyProcessesThatDoNotReport(t *testing.T) {
	c := newCluster(t)
	p := c.plan()
	if err := c.apply(p); err != nil {
		t.Fatal(err)
	}
	c.held, c.steps = true, nil
	c.pids["pod-6"] = 16
	read := func(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
		f, s, err := c.read(ctx)
		for n, files := range map[int]*datadir.Files{4: nil, 5: {ClusterFile: to}, 6: {ClusterFile: to, Processes: []int{c.pids["pod-6"]}}} {
			pod := fmt.Sprintf("pod-%d", n)
			s.Pods[pod] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}}
			f.Groups = append(f.Groups, recovery.Group{ID: fmt.Sprintf("stateless-%d", n), Pod: pod, PodUID: pod, Phase: "Running", Files: files})
		}
		return f, s, err
	}
	if err := os.Mkdir(filepath.Join(c.dir, "pod-6"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, clock := impatient(t)
	r := Run{Cluster: c, Read: read, Clock: clock, Tool: func(pod *corev1.Pod, _ string) (admin.Transport, error) { return tool{c, pod.Name}, nil }}
	if err := r.restart(ctx, p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"restart pod-6"}, c.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
