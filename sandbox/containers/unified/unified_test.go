package unified

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/process"
)

// image is a directory with the places of a unified image of version 7.3.79.
func image(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	o := Options{
		Mode: Launcher, InputDir: dir, InputMonitorConf: "config.json", OutputDir: filepath.Join(dir, "shared"), ProcessCount: 1, Version: "7.3.79",
		BinaryDir: filepath.Join(dir, "bin"), SharedBinaries: filepath.Join(dir, "shared", "bin"), ClusterFile: filepath.Join(dir, "fdb.cluster"),
		Env: map[string]string{"FDB_PUBLIC_IP": "127.0.1.1", "FDB_ZONE_ID": "node-1", "OTHER": "x"},
	}
	write(t, filepath.Join(o.BinaryDir, "fdbserver"), "program", 0o755)
	return o
}

func write(t *testing.T, file, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

const configuration = `{"version":"7.3.79","arguments":[{"type":"Concatenate","values":[{"value":"--public_address=["},{"type":"Environment","source":"FDB_PUBLIC_IP"},{"value":"]:"},{"type":"ProcessNumber","offset":4499,"multiplier":2}]}]}`

func TestAMonitorConfigurationIsAcceptedOnlyIfItCanRun(t *testing.T) {
	tests := map[string]struct {
		given func(t *testing.T, o *Options)
		raw   string
		ok    bool
	}{
		"its own version":                     {raw: configuration, ok: true},
		"a compatible version uses the image": {raw: `{"version":"7.3.1"}`, ok: true},
		"another version without its binary":  {raw: `{"version":"7.4.5"}`},
		"another version with its binary": {raw: `{"version":"7.4.5"}`, ok: true, given: func(t *testing.T, o *Options) {
			t.Helper()
			write(t, filepath.Join(o.SharedBinaries, "7.4.5", "fdbserver"), "x", 0o755)
		}},
		"a binary that cannot be run": {raw: `{"version":"7.4.5"}`, given: func(t *testing.T, o *Options) {
			t.Helper()
			write(t, filepath.Join(o.SharedBinaries, "7.4.5", "fdbserver"), "x", 0o644)
		}},
		"no version":                     {raw: `{"arguments":[]}`},
		"half a configuration":           {raw: `{"version":"7.3.79"`},
		"a variable that does not exist": {raw: `{"version":"7.3.79","arguments":[{"type":"Environment","source":"GONE"}]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := image(t)
			if test.given != nil {
				test.given(t, &o)
			}
			_, err := o.accept([]byte(test.raw), o.Env)
			if ok := err == nil; ok != test.ok {
				t.Errorf("accepted %v, want %v (%v)", ok, test.ok, err)
			}
		})
	}
}

func TestMonitorEnvironmentHasTheVariablesOfItsArguments(t *testing.T) {
	o := image(t)
	a, err := o.accept([]byte(configuration), o.Env)
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.environment(o.Env)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"BINARY_DIR": o.BinaryDir, "FDB_PUBLIC_IP": "127.0.1.1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBackOffGrowsWithTheSquareOfFailures(t *testing.T) {
	var got []time.Duration
	for _, failures := range []int{0, 1, 2, 7, 8, 100} {
		got = append(got, backOff(failures))
	}
	want := []time.Duration{0, time.Second, 4 * time.Second, 49 * time.Second, time.Minute, time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSidecarCopiesBinariesOnlyForAnotherVersion(t *testing.T) {
	tests := map[string]struct {
		main string
		want bool
	}{"the main container has the same": {"7.3.79", false}, "the main container is older": {"7.1.67", true}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := image(t)
			o.MainContainerVersion, o.CopyBinaries = test.main, []string{"fdbserver"}
			if err := Copy(o); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(o.SharedBinaries, "7.3.79", "fdbserver"))
			if copied := err == nil; copied != test.want {
				t.Fatalf("copied %v, want %v", copied, test.want)
			}
			if test.want && info.Mode().Perm() != 0o755 {
				t.Errorf("the copy has mode %v", info.Mode())
			}
		})
	}
}

// fakePod records annotations.
type fakePod struct {
	facts chan Facts
	mu    sync.Mutex
	set   map[string]string
}

func (p *fakePod) Facts() <-chan Facts { return p.facts }

func (p *fakePod) Annotate(_ context.Context, set map[string]string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.set, set)
	return nil
}

func (p *fakePod) annotation(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set[name]
}

// fakeProcess ends on a signal.
type fakeProcess struct {
	argv   []string
	once   sync.Once
	code   chan int
	killed atomic.Bool
}

func (p *fakeProcess) PID() int  { return 1 }
func (p *fakeProcess) Wait() int { return <-p.code }
func (p *fakeProcess) Kill()     { p.killed.Store(true); p.end(137) }
func (p *fakeProcess) end(code int) {
	p.once.Do(func() { p.code <- code })
}

// running is a launcher in the background with what it started.
type running struct {
	pod     *fakePod
	started chan *fakeProcess
	stop    func()
}

func launch(t *testing.T, o Options) running {
	t.Helper()
	r := running{pod: &fakePod{facts: make(chan Facts), set: map[string]string{}}, started: make(chan *fakeProcess, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	start := func(argv []string) (process.Process, error) {
		p := &fakeProcess{argv: argv, code: make(chan int, 1)}
		r.started <- p
		return p, nil
	}
	go func() { ended <- RunLauncher(ctx, o, r.pod, start, clock.RealClock{}, io.Discard) }()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
	return r
}

// next is the next process started.
func (r running) next(t *testing.T) *fakeProcess {
	t.Helper()
	select {
	case p := <-r.started:
		return p
	case <-time.After(10 * time.Minute):
		t.Fatal("no process was started")
		return nil
	}
}

// eventually waits until a claim is true.
func eventually(t *testing.T, claim string, is func() bool) {
	t.Helper()
	for range 200 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("not within 10 s: %s", claim)
}

func TestTheUnifiedMonitorRestartsProcessesAndReportsChanges(t *testing.T) {
	o := image(t)
	write(t, filepath.Join(o.InputDir, "config.json"), configuration, 0o644)
	r := launch(t, o)
	first := r.next(t)
	if diff := cmp.Diff([]string{o.BinaryDir + "/fdbserver", "--public_address=[127.0.1.1]:4501"}, first.argv); diff != "" {
		t.Error(diff)
	}
	eventually(t, "the configuration is reported", func() bool { return r.pod.annotation(AnnotationConfiguration) == configuration })

	first.end(0) // what fdbcli's kill does
	r.next(t)    // at once

	write(t, o.ClusterFile, "a:b@127.0.1.1:4501", 0o644)
	time.Sleep(2 * pollInterval)
	if got := r.pod.annotation(AnnotationClusterFile); got != "" {
		t.Errorf("the first cluster file counts as changed: %s", got)
	}
	for changes := 0; r.pod.annotation(AnnotationClusterFile) == "" && changes < 100; changes++ {
		// The monitor may be too slow to see the first content: then it counts a later one as the first.
		write(t, o.ClusterFile, fmt.Sprintf("a:c%d@127.0.1.1:4501", changes), 0o644)
		time.Sleep(2 * pollInterval)
	}
	if r.pod.annotation(AnnotationClusterFile) == "" {
		t.Error("a changed cluster file is not reported")
	}
}

func TestRefusedConfigurationChangesNothing(t *testing.T) {
	o := image(t)
	write(t, filepath.Join(o.InputDir, "config.json"), configuration, 0o644)
	r := launch(t, o)
	p := r.next(t)
	eventually(t, "the configuration is reported", func() bool { return r.pod.annotation(AnnotationConfiguration) != "" })
	write(t, filepath.Join(o.InputDir, "config.json"), `{"version":"7.4.5"}`, 0o644)
	time.Sleep(3 * pollInterval)
	if diff := cmp.Diff(configuration, r.pod.annotation(AnnotationConfiguration)); diff != "" {
		t.Error(diff)
	}
	if p.killed.Load() {
		t.Error("the process was killed")
	}
}

func TestAnIsolatedPodRunsNoFdbserver(t *testing.T) {
	o := image(t)
	write(t, filepath.Join(o.InputDir, "config.json"), configuration, 0o644)
	r := launch(t, o)
	p := r.next(t)
	r.pod.facts <- Facts{Annotations: map[string]string{AnnotationIsolate: "true"}}
	eventually(t, "the server is killed", p.killed.Load)
	r.pod.facts <- Facts{}
	r.next(t)
}

func TestNoProcessStartsIfRunServersIsFalse(t *testing.T) {
	o := image(t)
	write(t, filepath.Join(o.InputDir, "config.json"), `{"version":"7.3.79","runServers":false}`, 0o644)
	r := launch(t, o)
	eventually(t, "the configuration is reported", func() bool { return r.pod.annotation(AnnotationConfiguration) != "" })
	time.Sleep(2 * pollInterval)
	select {
	case p := <-r.started:
		t.Errorf("%v was started", p.argv)
	default:
	}
}

func TestUnknownFlagIsRefused(t *testing.T) {
	for _, args := range [][]string{{"--nonsense"}, {"--mode", "other"}, {"--process-count", "0"}} {
		if _, err := ParseOptions(args, "7.3.79", nil); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}
