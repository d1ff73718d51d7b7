package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

const (
	copied     = "sample:abc@10.0.0.1:4501,10.0.0.4:4501,10.0.0.5:4501"
	stateFile  = "/1/" + recovery.CoordinationFile0
	secondFile = "/1/" + recovery.CoordinationFile1
	state      = "state\x00of sample:abc "
)

// noProcess is a process ID that no process has.
const noProcess = 1 << 30

// bereft is a cluster in memory that lost two of three coordinators. Pods 4 and 5 can be coordinators;
// the second one was one of another generation. Files are on this machine.
type bereft struct {
	*cluster
	// scripts are the scripts that ran, in order; cut is the one that fails, by its number.
	scripts []string
	// scriptsOf are those of each pod, in order.
	scriptsOf map[string][]string
	cut       int
	// spoil changes the output of a script.
	spoil map[string]string
}

func newBereft(t *testing.T) *bereft {
	t.Helper()
	c := &bereft{cluster: newCluster(t), cut: -1}
	c.uses, c.pids, c.scriptsOf = map[string]string{}, map[string]int{}, map[string][]string{}
	for _, pod := range []string{"pod-1", "pod-4", "pod-5"} {
		c.uses[pod], c.pids[pod] = from, noProcess
		c.write(pod+"/fdb.cluster", from+"\n")
	}
	c.write("pod-1"+stateFile, state)
	c.write("pod-1"+secondFile, "more")
	c.write("pod-5"+stateFile, "another generation")
	return c
}

func (c *bereft) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *bereft) text(name string) string {
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		return "no file"
	}
	return string(text)
}

func (c *bereft) read(context.Context) (recovery.Facts, plan.Snapshot, error) {
	f := recovery.Facts{UID: "1", Recorded: c.status, ConfigMap: c.configMap, Placement: recovery.Placement{Desired: 3}}
	s := plan.Snapshot{Pods: map[string]*corev1.Pod{}}
	started, processes := 0, map[string]fdb.Process{}
	for n := 1; n <= 5; n++ {
		pod, g := fmt.Sprintf("pod-%d", n), recovery.Group{ID: fmt.Sprintf("storage-%d", n), Stateful: true, Addresses: []string{fmt.Sprintf("10.0.0.%d", n)}}
		if _, exists := c.uses[pod]; exists {
			dir := filepath.Join(c.dir, pod, "1")
			s.Pods[pod] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}}
			g.Pod, g.PodUID, g.Phase, g.PVC, g.Volume, g.Now = pod, pod, "Running", pod, pod, g.Addresses
			g.Files = &datadir.Files{ClusterFile: c.content(pod), Processes: []int{c.pids[pod]}, Servers: []datadir.Server{{PID: c.pids[pod], Directory: dir}}, Coordination: c.coordination(pod)}
			f.Placement.Candidates = append(f.Placement.Candidates, recovery.Candidate{Group: g.ID, Zone: pod, Address: g.Addresses[0] + ":4501", Directory: dir})
			if c.uses[pod] == copied && strings.Contains(c.text(pod+stateFile), "sample:abc") {
				started++
				processes[pod] = fdb.Process{Locality: map[string]string{fdb.LocalityInstanceID: g.ID}}
			}
		}
		f.Groups = append(f.Groups, g)
	}
	queried, err := fdb.ParseConnectionString(c.content("pod-1"))
	if err != nil {
		return f, s, err
	}
	for _, a := range queried.Coordinators {
		f.Queried = append(f.Queried, a.Coordinator())
		f.Coordinators = append(f.Coordinators, recovery.Coordinator{Address: a.Coordinator(), Reachable: new(a.Host == "10.0.0.1")})
	}
	s.Database.Status = &fdb.Status{Cluster: fdb.ClusterStatus{Processes: processes}}
	f.Quorum, f.Available = new(queried.String() == copied), new(started == 3)
	return f, s, nil
}

func (c *bereft) coordination(pod string) (files []datadir.File) {
	for _, name := range []string{stateFile, secondFile} {
		if text := c.text(pod + name); text != "no file" {
			files = append(files, datadir.File{Path: filepath.Join(c.dir, pod+name), Bytes: int64(len(text)), Current: strings.Contains(text, "sample:abc")})
		}
	}
	return files
}

// podOf runs scripts in the directory of a pod on this machine.
type podOf struct {
	c   *bereft
	pod string
}

func (podOf) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("not interactive")
}

// scriptNames are how steps name the scripts.
var scriptNames = map[string]string{keepScript: "keep", fetchScript: "fetch", stageScript: "stage", installScript: "install", writeScript: "write", restartScript: "restart"}

func (p podOf) Run(ctx context.Context, command admin.Command) (admin.Result, error) {
	name := scriptNames[command.Argv[2]]
	p.c.mu.Lock()
	p.c.scripts = append(p.c.scripts, name)
	p.c.scriptsOf[p.pod] = append(p.c.scriptsOf[p.pod], name)
	cut := len(p.c.scripts) == p.c.cut
	p.c.mu.Unlock()
	if cut {
		return admin.Result{}, errors.New("lost the connection")
	}
	switch name {
	case "restart":
		p.c.mu.Lock()
		defer p.c.mu.Unlock()
		p.c.uses[p.pod] = p.c.content(p.pod)
		p.c.pids[p.pod]++
		return admin.Result{}, nil
	case "write":
		command.Argv = slices.Clone(command.Argv)
		command.Argv[4] = filepath.Join(p.c.dir, p.pod)
	}
	result, err := admin.LocalExec{}.Run(ctx, command)
	if text, spoilt := p.c.spoil[name]; spoilt {
		result.Stdout = []byte(text)
	}
	return result, err
}

func (c *bereft) plan() recovery.Plan {
	c.t.Helper()
	f, _, err := c.read(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := recovery.NewPlan("sample", "fdb", f, func(words ...string) string { return strings.Join(words, " ") })
	if err != nil || p.To != copied {
		c.t.Fatalf("%+v: %v", p, err)
	}
	return p
}

func (c *bereft) apply(p recovery.Plan) error {
	ctx, clock := impatient(c.t)
	return Run{
		Cluster: c.cluster, Read: c.read, Report: func(recovery.Step, time.Time, error) {}, Clock: clock,
		Tool: func(pod *corev1.Pod, _ string) (admin.Transport, error) { return podOf{c, pod.Name}, nil },
	}.Apply(ctx, p)
}

// verify verifies what a run leaves.
func (c *bereft) verify(p recovery.Plan) {
	c.t.Helper()
	for _, pod := range []string{"pod-1", "pod-4", "pod-5"} {
		if c.text(pod+stateFile) != state || c.text(pod+secondFile) != "more" || c.content(pod) != copied || c.uses[pod] != copied {
			c.t.Errorf("%s has %q, %q and %s", pod, c.text(pod+stateFile), c.text(pod+secondFile), c.content(pod))
		}
	}
	suffix := ".before-recovery-" + p.Digest[:digestLength]
	for name, want := range map[string]string{"pod-1" + stateFile: state, "pod-1" + secondFile: "more", "pod-4" + stateFile: "no file", "pod-5" + stateFile: "another generation"} {
		if got := c.text(name + suffix); got != want {
			c.t.Errorf("the copy of %s is %q, want %q", name, got, want)
		}
	}
	if c.status != copied || c.configMap != copied {
		c.t.Errorf("status %s, ConfigMap %s", c.status, c.configMap)
	}
}

func TestCoordinationStateIsCopiedOnlyAfterTheOldOneIsSaved(t *testing.T) {
	c := newBereft(t)
	p := c.plan()
	if err := c.apply(p); err != nil {
		t.Fatal(err)
	}
	c.verify(p)
	// Pods run side by side: one may install its files while another one stages them.
	var steps []string
	for _, name := range c.scripts {
		if name == "stage" || name == "install" {
			name = "copy"
		}
		steps = append(steps, name)
	}
	if diff := cmp.Diff([]string{"keep", "fetch", "copy", "write", "restart"}, slices.Compact(steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	for _, pod := range []string{"pod-4", "pod-5"} {
		if diff := cmp.Diff([]string{"keep", "stage", "stage", "install", "write", "restart"}, c.scriptsOf[pod]); diff != "" {
			t.Errorf("scripts in %s (-want +got):\n%s", pod, diff)
		}
	}
}

func TestAnInterruptedCoordinationStateCopyIsRepeated(t *testing.T) {
	whole := newBereft(t)
	if err := whole.apply(whole.plan()); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= len(whole.scripts); at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			c := newBereft(t)
			p := c.plan()
			c.cut = at
			if err := c.apply(p); err == nil {
				t.Fatal("no error")
			}
			c.cut = -1
			if err := c.apply(p); err != nil {
				t.Fatal(err)
			}
			c.verify(p)
		})
	}
}

// What is read back must be what was copied; nothing follows otherwise.
func TestCoordinationStateWithAWrongChecksumIsNotInstalled(t *testing.T) {
	for script, text := range map[string]string{"keep": "", "fetch": "half of it", "stage": "0000", "install": ""} {
		t.Run(script, func(t *testing.T) {
			c := newBereft(t)
			p := c.plan()
			c.spoil = map[string]string{script: text}
			if err := c.apply(p); err == nil || slices.Contains(c.scripts, "write") {
				t.Errorf("%v after %v", err, c.scripts)
			}
			if script != "install" && (c.text("pod-4"+stateFile) != "no file" || c.text("pod-5"+stateFile) != "another generation") {
				t.Error("coordination files were replaced")
			}
		})
	}
}

func TestEachDirectoryIsCopiedOnce(t *testing.T) {
	p := recovery.Plan{}
	p.Copy = &recovery.CoordinationCopy{
		Survivors:    []recovery.Survivor{{Group: "storage-1", Directory: "/2"}, {Group: "storage-1", Directory: "/1"}, {Group: "storage-2", Directory: "/3"}},
		Coordinators: []recovery.NewCoordinator{{Group: "storage-1", Directory: "/2"}, {Group: "storage-2", Directory: "/4"}},
	}
	for group, want := range map[string][]string{"storage-1": {"/1", "/2"}, "storage-2": {"/3", "/4"}, "storage-3": nil} {
		if diff := cmp.Diff(want, directories(p, group)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", group, diff)
		}
	}
}

// A survivor without both files has no state that could be copied, wherever the source is.
func TestNoCoordinationStateIsReadUnlessEverySurvivorHasBothFiles(t *testing.T) {
	for _, file := range []string{recovery.CoordinationFile0, recovery.CoordinationFile1} {
		c := newBereft(t)
		p := c.plan()
		c.spoil = map[string]string{"keep": file + " 0000\n"}
		if err := c.apply(p); err == nil || slices.Contains(c.scripts, "fetch") {
			t.Errorf("with only %s: %v after %v", file, err, c.scripts)
		}
	}
}

// A database that runs again has a newer state than the copies.
func TestCoordinationStateIsNotCopiedOverANewerState(t *testing.T) {
	c := newBereft(t)
	p := c.plan()
	if err := c.apply(p); err != nil {
		t.Fatal(err)
	}
	for _, pod := range []string{"pod-1", "pod-4"} {
		c.write(pod+stateFile, "newer state of sample:abc ")
	}
	if err := c.apply(p); err != nil {
		t.Fatal(err)
	}
	if got := c.text("pod-4" + stateFile); got != "newer state of sample:abc " {
		t.Errorf("the state is %q", got)
	}
}

func TestRecoverCopiesNothingIfALostPodRunsAgain(t *testing.T) {
	c := newBereft(t)
	p := c.plan()
	c.uses["pod-2"], c.pids["pod-2"] = from, noProcess
	c.write("pod-2/fdb.cluster", from+"\n")
	err := c.apply(p)
	if _, moved := errors.AsType[*MovedError](err); !moved || len(c.scripts) > 0 {
		t.Errorf("%v after %v", err, c.scripts)
	}
}

// Processes are stopped while their files are copied, and go on; one whose open files were replaced is
// killed.
func TestProcessesAreResumedOrKilledAfterCopyingTheirFiles(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	c := newBereft(t)
	path := filepath.Join(c.dir, "fdbserver")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	ended := map[string]chan error{}
	for _, pod := range slices.Sorted(maps.Keys(c.uses)) {
		process := exec.CommandContext(t.Context(), path, "1000")
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		c.pids[pod], ended[pod] = process.Process.Pid, make(chan error, 1)
		go func() { ended[pod] <- process.Wait() }()
	}
	pids := maps.Clone(c.pids)
	if err := c.apply(c.plan()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended["pod-5"]:
	case <-time.After(10 * time.Minute):
		t.Error("the process whose files were replaced still runs")
	}
	for _, pod := range []string{"pod-1", "pod-4"} {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pids[pod]))
		if err != nil || bytes.Contains(status, []byte("T (stopped)")) {
			t.Errorf("%s: %v, %s", pod, err, status)
		}
	}
}
