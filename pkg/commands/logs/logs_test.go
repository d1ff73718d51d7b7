package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	inspectlogs "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// logged is a cluster whose pods have logs and trace files.
type logged struct {
	*commandstest.Given
	storage, log string // process groups
	mu           sync.Mutex
	// traces are the trace files of every pod by name, and lines what every container printed.
	traces    map[string]string
	lines     func(pod string, o *corev1.PodLogOptions) (io.ReadCloser, error)
	requested []corev1.PodLogOptions
}

const someTraces = `<?xml version="1.0"?>
<Trace>
<Event Severity="10" Time="%d.250000" Type="ProcessMetrics" Machine="10.1.0.5:4501" />
<Event Severity="30" Time="%d.250000" Type="SlowTask" Duration="1.5" />
<Event Severity="40" Ti`

func newLogged(t *testing.T) *logged {
	t.Helper()
	l := &logged{Given: commandstest.Dumpable(t)}
	now := l.Cluster.Now()
	l.Now = clocktesting.NewFakeClock(now)
	for _, g := range l.Cluster.Resource.Status.ProcessGroups {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			l.storage = string(g.ProcessGroupID)
		}
		if g.ProcessClass == v1beta2.ProcessClassLog {
			l.log = string(g.ProcessGroupID)
		}
	}
	l.traces = map[string]string{"trace.10.1.0.1.4501.1.xml": fmt.Sprintf(someTraces, now.Unix()-120, now.Unix()-30), "monitor.log": "a log of the monitor"}
	l.lines = func(pod string, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
		text := now.Add(-time.Minute).UTC().Format(time.RFC3339Nano) + " started " + pod + "\nsecond line\n"
		return io.NopCloser(strings.NewReader(text)), nil
	}
	l.Logs = func(_ context.Context, _, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.requested = append(l.requested, *o)
		return l.lines(pod, o)
	}
	before := l.Tool
	l.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		t, err := before(pod, container)
		return tracesOfPod{t, l}, err
	}
	return l
}

// tracesOfPod runs ls, wc and tail over the trace files.
type tracesOfPod struct {
	admin.Transport
	l *logged
}

func (p tracesOfPod) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	var out bytes.Buffer
	switch last := path.Base(c.Argv[len(c.Argv)-1]); c.Argv[0] {
	case "ls":
		var names []string
		for name := range p.l.traces {
			names = append(names, name)
		}
		slices.Sort(names)
		slices.Reverse(names)
		fmt.Fprintln(&out, strings.Join(names, "\n"))
	case "wc":
		for _, name := range c.Argv[2:] {
			fmt.Fprintf(&out, "%8d %s\n", len(p.l.traces[path.Base(name)]), name)
		}
		fmt.Fprintln(&out, "   99999 total")
	case "tail":
		text, n := p.l.traces[last], c.Argv[2]
		if from, fromStart := strings.CutPrefix(n, "+"); fromStart {
			first, err := strconv.Atoi(from)
			if err != nil {
				return admin.Result{}, err
			}
			text = text[min(first-1, len(text)):]
		}
		out.WriteString(text)
	default:
		return p.Transport.Run(ctx, c)
	}
	return admin.Result{Stdout: out.Bytes()}, nil
}

// withoutTimes returns the output of logs without times and blanks that align columns.
func withoutTimes(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		b.WriteString(strings.Join(words[min(1, len(words)):], " ") + "\n")
	}
	return b.String()
}

func TestLogsOfContainersAndTraceEventsAreMergedByTime(t *testing.T) {
	l := newLogged(t)
	pod := "sample-" + l.storage
	want := strings.NewReplacer("ID", l.storage, "POD", pod).Replace(`ID trace 10 ProcessMetrics Machine=10.1.0.5:4501
ID foundationdb started POD
ID foundationdb second line
ID trace 30 SlowTask Duration=1.5
ID trace <Event Severity="40" Ti
`)
	for _, line := range []string{"sample " + l.storage, l.storage, "sample pod/" + pod, "-c sample processgroup/" + l.storage} {
		if code := l.Run(append([]string{"logs", "--container", "foundationdb"}, strings.Fields(line)...)...); code != exit.ExitDone {
			t.Fatalf("%s: exit code %d: %s", line, code, &l.Err)
		}
		if diff := cmp.Diff(want, withoutTimes(l.Out.String())); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

func TestLogsAreFiltered(t *testing.T) {
	l := newLogged(t)
	pod := l.Cluster.Pods["sample-"+l.storage]
	zone := ""
	for _, g := range l.Cluster.Resource.Status.ProcessGroups {
		if string(g.ProcessGroupID) == l.storage {
			zone = string(g.FaultDomain)
		}
	}
	for line, want := range map[string]string{
		"--class storage,log":                              "trace container",
		"--class storage --origin trace":                   "trace",
		"--origin container":                               "container",
		"--container foundationdb-kubernetes-sidecar":      "container",
		"--origin trace --severity 30":                     "trace 30",
		"--zone " + zone + " --node " + pod.Spec.NodeName:  "trace container",
		"--origin trace --severity 10 --since 1m --tail 1": "trace 30",
		"--origin trace --since 1s":                        "trace 30",
	} {
		code := l.Run(append([]string{"logs", "sample", "-o", "json"}, strings.Fields(line)...)...)
		if code != exit.ExitDone {
			t.Errorf("%s: exit code %d: %s", line, code, &l.Err)
		}
		for _, e := range entriesOf(t, l.Out.Bytes()) {
			allowed := strings.Contains(want, string(e.Origin)) && (e.Severity == nil || !strings.Contains(want, "30") || *e.Severity == 30)
			if !allowed || strings.Contains(line, "--class") && e.Class != "storage" && e.Class != "log" || strings.Contains(line, "--zone") && (e.Zone != zone || e.Node != pod.Spec.NodeName) {
				t.Errorf("%s prints %+v", line, e)
			}
		}
	}
	if code := l.Run("logs", "sample", "--class", "test"); code != exit.ExitDone || l.Err.String() != "no matching pods found for cluster sample\n" {
		t.Errorf("exit code %d: %s", code, &l.Err)
	}
	if code := l.Run("logs", "sample", "storage-0"); code != exit.ExitUsage {
		t.Errorf("exit code %d: %s", code, &l.Err)
	}
}

func entriesOf(t *testing.T, text []byte) []inspectlogs.Entry {
	t.Helper()
	var all []inspectlogs.Entry
	for line := range bytes.Lines(text) {
		var e inspectlogs.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

func TestLogsPrintsOtherLogsIfOneCannotBeRead(t *testing.T) {
	l := newLogged(t)
	lines := l.lines
	l.lines = func(pod string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
		if pod == "sample-"+l.log {
			return nil, errors.New("no route to the node")
		}
		return lines(pod, o)
	}
	if code := l.Run("logs", "sample", "--container", "foundationdb"); code != exit.ExitPartly {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(l.Out.String(), "started sample-"+l.storage) || !strings.Contains(l.Err.String(), "warning: log of pod sample-"+l.log+", container foundationdb: no route to the node\n") {
		t.Errorf("%s%s", &l.Out, &l.Err)
	}
	l.lines = func(string, *corev1.PodLogOptions) (io.ReadCloser, error) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods/log"}, "", errors.New("RBAC"))
	}
	if code := l.Run("logs", "sample", "--origin", "container"); code != exit.ExitForbidden {
		t.Errorf("exit code %d if none may be read: %s", code, &l.Err)
	}
}

func TestLogsPrintsNothingForAContainerThatHasNotStarted(t *testing.T) {
	l := newLogged(t)
	pod := l.Cluster.Pods["sample-"+l.storage]
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
	if code := l.Run("logs", "sample", l.storage, "--container", "foundationdb"); code != exit.ExitDone || l.Out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &l.Out, &l.Err)
	}
}

func TestLogsReadNoMoreThanMaxBytes(t *testing.T) {
	l := newLogged(t)
	name := "trace.10.1.0.1.4501.1.xml"
	l.traces[name] = strings.Repeat("<Event Severity=\"10\" Time=\"1795176030.0\" Type=\"Old\" />\n", 1000) + l.traces[name]
	l.lines = func(string, *corev1.PodLogOptions) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Repeat("2026-11-20T12:00:00Z a line\n", 1000))), nil
	}
	if code := l.Run("logs", "sample", l.storage, "--container", "foundationdb", "--tail", "-1", "--max-bytes", "4Ki"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &l.Err)
	}
	if n := strings.Count(l.Out.String(), "\n"); n == 0 || n > 120 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"warning: log of pod sample-" + l.storage + ", container foundationdb: the beginning is omitted (--max-bytes 4Ki)\n", "warning: trace files of pod sample-" + l.storage + ": the beginning is omitted (--max-bytes 4Ki)\n"} {
		if !strings.Contains(l.Err.String(), want) {
			t.Errorf("no %q in %s", want, &l.Err)
		}
	}
	if l.Run("logs", "sample", l.storage, "--container", "foundationdb", "--tail", "2", "--max-bytes", "4Ki"); l.Err.Len() > 0 {
		t.Errorf("nothing that was requested is missing: %s", &l.Err)
	}
}

func TestLogsPreviousReadsOnlyRestartedContainers(t *testing.T) {
	l := newLogged(t)
	for name, pod := range l.Cluster.Pods {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain}}
		if name == "sample-"+l.storage {
			pod.Status.ContainerStatuses[0].RestartCount = 1
		}
	}
	if code := l.Run("logs", "sample", "--previous", "--container", "foundationdb"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &l.Err)
	}
	if len(l.requested) != 1 || !l.requested[0].Previous || strings.Contains(l.Out.String(), " trace ") {
		t.Errorf("%v\n%s", l.requested, &l.Out)
	}
}

func TestLogsCheckTheirFlagsBeforeTheyRead(t *testing.T) {
	for line, want := range map[string]string{
		"--severity 50":         "--severity must be from 0 to 40, not 50",
		"--since -1s":           "--since must not be negative",
		"--tail -2":             "--tail must be -1 or more, not -2",
		"--previous -f":         "--previous conflicts with --follow",
		"--origin audit":        `unknown origin "audit": must be one of container, trace`,
		"--class disk":          `unknown process class "disk"`,
		"--max-bytes many":      `invalid --max-bytes "many": must be a number of bytes such as 1048576, 64Mi or 1Gi`,
		"--max-bytes 0":         `invalid --max-bytes "0"`,
		"-o yaml":               `-o must be text or json, not "yaml"`,
		"--from missing -f":     "--from conflicts with --follow: a dump does not change",
		"--from missing --tail": "flag needs an argument",
	} {
		g := commandstest.NewGiven(t)
		if code := g.Run(append([]string{"logs", "sample"}, strings.Fields(line)...)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), want) {
			t.Errorf("%s: exit code %d, %s", line, code, &g.Err)
		}
	}
}

func TestLogsFromADumpMatchTheLiveCluster(t *testing.T) {
	l := newLogged(t)
	words := []string{"logs", "sample", l.storage}
	if code := l.Run(words...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &l.Err)
	}
	want := l.Out.String()
	whole, without := l.Dumped(), l.Dumped("--max-log-bytes", "0")
	l.Connect, l.Tool, l.Logs, l.Objects, l.Cluster.Resource = nil, nil, nil, nil, nil // nothing but the dump can answer
	if code := l.Run(append(words, "--from", whole)...); code != exit.ExitDone || l.Out.String() != want {
		t.Errorf("exit code %d: %s%s", code, &l.Err, cmp.Diff(want, l.Out.String()))
	}
	if code := l.Run(append(words, "--from", without)...); code == exit.ExitDone || !strings.Contains(l.Err.String(), "not in the dump") || l.Out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &l.Out, &l.Err)
	}
}

// syncedBuffer is written by a command while a test reads it.
type syncedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestLogsFollowIncludesNewTraceFiles(t *testing.T) {
	l := newLogged(t)
	clock := clocktesting.NewFakeClock(l.Cluster.Now())
	l.Now = clock
	stream, written := io.Pipe()
	l.lines = func(string, *corev1.PodLogOptions) (io.ReadCloser, error) { return stream, nil }
	ctx, cancel := context.WithCancelCause(t.Context())
	env := l.Environment()
	output := &syncedBuffer{}
	env.Out = output
	ended := make(chan int)
	go func() {
		ended <- commands.Run(ctx, env, []string{"logs", "sample", l.storage, "-f", "--container", "foundationdb"})
	}()
	until := func(text string) {
		t.Helper()
		for start := time.Now(); !strings.Contains(output.String(), text); time.Sleep(time.Millisecond) {
			if time.Since(start) > 10*time.Minute {
				t.Fatalf("%q is not printed: %s", text, output)
			}
			clock.Step(500 * time.Millisecond)
		}
	}
	until("SlowTask")
	fmt.Fprintln(written, l.Cluster.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)+" a new line")
	until("a new line")
	l.mu.Lock()
	l.traces["trace.10.1.0.1.4501.1.xml"] += "me=\"1\" Type=\"Completed\" />\n"
	l.traces["trace.10.1.0.1.4501.2.xml"] = "<Event Severity=\"10\" Type=\"InANewFile\" />\n<Event Severity=\"10\" Ty"
	l.mu.Unlock()
	until("InANewFile")
	until("Completed")
	cancel(&exit.InterruptedError{Signal: os.Interrupt})
	_ = stream.Close()
	if code := <-ended; code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, &l.Err)
	}
	for _, once := range []string{"SlowTask", "a new line", "InANewFile", "Completed"} {
		if n := strings.Count(output.String(), once); n != 1 {
			t.Errorf("%s is printed %d times: %s", once, n, output)
		}
	}
}
