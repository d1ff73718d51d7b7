package commandstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Rested is a cluster whose last recovery is so long ago that exclusions may end.
func Rested(t *testing.T) *Given {
	t.Helper()
	g := Up(t)
	g.Cluster.Tick(11 * time.Minute)
	g.Cluster.Acted = nil
	return g
}

// Did are what was done of a kind.
func (g *Given) Did(kind string) []string {
	var words []string
	for _, a := range g.Cluster.Acted {
		if plan.KindOf(a) == kind {
			words = append(words, a.Describe())
		}
	}
	return words
}

// Fdbcli runs a command of fdbcli like a user.
func (g *Given) Fdbcli(script string) string {
	g.T.Helper()
	out, err := simtest.Type(g.Cluster, script)
	if err != nil {
		g.T.Fatal(err)
	}
	return out
}

// ExclusionOf returns how a process group is excluded.
func (g *Given) ExclusionOf(id string) string {
	return g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).ExclusionString()
}

// Exclude excludes a target as a user would.
func (g *Given) Exclude(target string) {
	g.T.Helper()
	if out, err := simtest.Type(g.Cluster, "exclude no_wait "+target); err != nil {
		g.T.Fatalf("%v: %s", err, out)
	}
}

// Include ends all exclusions.
func (g *Given) Include() {
	g.T.Helper()
	if out, err := simtest.Type(g.Cluster, "include all"); err != nil {
		g.T.Fatalf("%v: %s", err, out)
	}
}

// Keeps makes the spec keep process groups from being replaced.
func (g *Given) Keeps(ids ...string) {
	for _, id := range ids {
		g.Cluster.Resource.Spec.CancelReplacementsForInstance = append(g.Cluster.Resource.Spec.CancelReplacementsForInstance, v1beta2.ProcessGroupID(id))
	}
	g.Cluster.Resource.Generation++
}

// Storage are the storage groups of a cluster that is up.
func (g *Given) Storage() []string {
	var ids []string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage {
			ids = append(ids, string(group.ProcessGroupID))
		}
	}
	return ids
}

// Marked returns the process groups that are marked for removal.
func (g *Given) Marked() []string {
	var ids []string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.IsMarkedForRemoval() {
			ids = append(ids, string(group.ProcessGroupID))
		}
	}
	return ids
}

// KeepEvents makes the Events that were written readable.
func (g *Given) KeepEvents() {
	for _, e := range g.Events {
		e.Name = fmt.Sprintf("%s-%d", e.Name, len(g.Objects)) // here all runs have the same ID
		g.Objects = append(g.Objects, e)
	}
	g.Events = nil
}

// WithoutUIDs makes the audit file one of an earlier release.
func (g *Given) WithoutUIDs() {
	g.T.Helper()
	text, err := os.ReadFile(g.AuditFile())
	if err != nil {
		g.T.Fatal(err)
	}
	if err := os.WriteFile(g.AuditFile(), bytes.ReplaceAll(text, []byte(`"uid":"1",`), nil), 0o600); err != nil {
		g.T.Fatal(err)
	}
}

// Kills are the process groups of each restart that was done.
func (g *Given) Kills() [][]string {
	var waves [][]string
	for _, a := range g.Cluster.Acted {
		if kill, ok := a.(plan.RestartProcesses); ok {
			waves = append(waves, phrase.Strings(kill.Groups))
		}
	}
	return waves
}

// ServedMetrics runs `metrics --metrics-addr`. At each pause it takes the next step, with what the page has then; the
// signal comes after the last one.
func (g *Given) ServedMetrics(signal os.Signal, args []string, steps ...func(code int, page string)) int {
	g.T.Helper()
	defer goleak.VerifyNone(g.T, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(g.T.Context())
	defer cancel(nil)
	address, next := regexp.MustCompile(`metrics on (http://\S+/metrics)`), 0
	g.Clock.OnTimer = func(d time.Duration) bool {
		if d != 30*time.Second {
			return false
		}
		if next == len(steps) {
			cancel(&exit.InterruptedError{Signal: signal})
			return true
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Get(address.FindStringSubmatch(g.Err.String())[1])
		if err != nil {
			g.T.Error(err)
			return false
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		next++
		steps[next-1](answer.StatusCode, string(text))
		return false
	}
	code := g.RunIn(ctx, args...)
	if next < len(steps) {
		g.T.Errorf("ended after %d of %d steps: %s", next, len(steps), &g.Err)
	}
	return code
}

// Together is one of several control-plane instances that share a database.
func Together(t *testing.T) *Given {
	t.Helper()
	g := NewGiven(t)
	g.Cluster.Resource.Spec.ProcessGroupIDPrefix = "dc1"
	g.Cluster.Resource.Spec.LockOptions.DisableLocks = new(bool)
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return g
}

// LockOf makes an owner hold the lock for a time, manually if a user is named.
func LockOf(owner, user string, left time.Duration) func(*Given) {
	return func(g *Given) {
		l := fdb.Lock{Owner: owner, Start: g.Cluster.Now().Add(-time.Minute), End: g.Cluster.Now().Add(left), Nonce: owner}
		if user != "" {
			l.Nonce = fdb.NonceByHand(user, "n")
		}
		g.Cluster.Shared.Lock = &l
	}
}

// ZoneOf is the zone of the n-th storage group.
func (g *Given) ZoneOf(n int) string {
	return string(g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[n])).FaultDomain)
}

// Settled is a cluster that has been up for a while: a new database does not know yet how
// often its data is there.
func Settled(t *testing.T) *Given {
	t.Helper()
	g := Up(t)
	g.Cluster.Tick(2 * time.Minute)
	return g
}

// Tool is what programs meet in a pod.
type Tool struct {
	g      *Given
	pod    string
	result admin.Result
	err    error
}

// Run implements admin.Transport.
func (p *Tool) Run(_ context.Context, c admin.Command) (admin.Result, error) {
	p.g.Ran = append(p.g.Ran, p.pod+": "+strings.Join(c.Argv, " "))
	return p.result, p.err
}

// Open implements admin.Transport.
func (p *Tool) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	r, err := p.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	read := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(reader)
		read <- string(text)
	}()
	return &admin.Session{
		Stdin: writer, Stdout: strings.NewReader(string(r.Stdout)), Stderr: strings.NewReader(string(r.Stderr)),
		Wait: func() (int, error) {
			p.g.Read = <-read
			return r.ExitCode, nil
		},
		Close: func() {},
	}, nil
}

// Answers makes programs in pods end so.
func (g *Given) Answers(r admin.Result, err error) {
	g.Tool = func(pod *corev1.Pod, _ string) (admin.Transport, error) {
		return &Tool{g: g, pod: pod.Name, result: r, err: err}, nil
	}
}

// OnTerminal runs a command on a terminal of a width, and returns all lines that are too long.
func (g *Given) OnTerminal(ctx context.Context, width int, args ...string) (code int, tooLong []string) {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	e := g.Environment()
	in := e.In
	e.IsTerminal = func(stream any) bool { return stream != any(in) }
	e.Columns = func(any) int { return width }
	code = commands.Run(ctx, e, args)
	for line := range strings.Lines(g.Out.String() + g.Err.String()) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > width {
			tooLong = append(tooLong, line)
		}
	}
	return code, tooLong
}

// ShowsWithin runs a command, whatever its answer, and fails where a line is wider than the terminal.
func (g *Given) ShowsWithin(width int, args ...string) {
	g.T.Helper()
	ctx, stop := g.Following(g.T.Context(), 20, time.Second)
	defer stop()
	code, tooLong := g.OnTerminal(ctx, width, args...)
	if code == exit.ExitInternal || g.Out.Len()+g.Err.Len() == 0 {
		g.T.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, &g.Err)
	}
	if len(tooLong) > 0 {
		g.T.Errorf("%s: %d lines are wider than %d cells: %s", strings.Join(args, " "), len(tooLong), width, tooLong[0])
	}
	if os.Getenv("KFDB_SHOW") == strconv.Itoa(width) {
		g.T.Logf("%s\n%s%s", strings.Join(args, " "), &g.Out, &g.Err)
	}
}
