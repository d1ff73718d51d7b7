package groups_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// markedForRemoval is a cluster with an excluded storage group that is to be removed.
func markedForRemoval(t *testing.T) (g *commandstest.Given, id string) {
	t.Helper()
	g = commandstest.Up(t)
	g.Cluster.Tick(2 * time.Minute) // until the recovery is over
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage {
			group.MarkForRemoval(g.Cluster.Now())
			g.Exclude(group.ExclusionString())
			return g, string(group.ProcessGroupID)
		}
	}
	t.Fatal("no storage group")
	return nil, ""
}

func TestAWaitEndsWhenTheGroupIsSafeToRemove(t *testing.T) {
	g, id := markedForRemoval(t)
	if code := g.Run("exclusion", "status", "sample"); code != exit.ExitNo || !strings.Contains(g.Out.String(), "moving") || !strings.Contains(g.Out.String(), id) {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("wait", "sample", "--for=exclusions=safe,pg="+id+":safe", "--timeout", "1h"); code != exit.ExitDone || !strings.Contains(g.Out.String(), "exclusions=safe") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if !strings.Contains(g.Err.String(), "waiting: exclusions=safe: 1 of 1 is not safe to remove") {
		t.Errorf("stderr: %s", &g.Err)
	}
	if code := g.Run("exclusion", "status", "sample", "-o", "jsonpath={.safe} {.items[0].state}"); code != exit.ExitDone || g.Out.String() != "true safe" {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	t.Log(g.Out.String(), g.Err.String())
}

func TestExclusionStatusExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(g *commandstest.Given, id string)
		args  []string
		input string
		want  int
		out   string
		err   string
	}{
		"one that moves":          {args: []string{"exclusion", "status", "sample"}, want: exit.ExitNo, out: "moving"},
		"in JSON":                 {args: []string{"exclusion", "status", "sample", "-o", "json"}, want: exit.ExitNo, out: `"kind": "ExclusionStatus"`},
		"its name":                {args: []string{"exclusion", "status", "sample", "-o", "name"}, want: exit.ExitNo, out: "processgroup/storage-"},
		"nothing of the class":    {args: []string{"exclusion", "status", "sample", "--class", "log"}, want: exit.ExitDone, err: "no matching process group of sample is excluded or to be excluded"},
		"an unknown group":        {args: []string{"exclusion", "status", "sample", "storage-0"}, want: exit.ExitUsage},
		"a group on stdin":        {args: []string{"exclusion", "status", "sample", "-"}, input: "ID\n", want: exit.ExitNo, out: "moving"},
		"nothing on stdin":        {args: []string{"exclusion", "status", "sample", "-"}, want: exit.ExitUsage, err: "stdin is empty: process groups expected"},
		"too short an interval":   {args: []string{"exclusion", "status", "sample", "--interval", "1ms"}, want: exit.ExitUsage},
		"a wait that takes long":  {given: func(g *commandstest.Given, _ string) { g.Include() }, args: []string{"wait", "sample", "--for=exclusions=safe", "--timeout", "31s"}, want: exit.ExitWaiting, err: "timed out after 31s: exclusions=safe: 1 of 1 is not safe to remove"},
		"a command that is none":  {args: []string{"exclusion", "sattus"}, want: exit.ExitUsage, err: "must be one of status"},
		"marked and not excluded": {given: func(g *commandstest.Given, _ string) { g.Include() }, args: []string{"exclusion", "status", "sample"}, want: exit.ExitNo, out: "pending"},
		"named and not excluded": {given: func(g *commandstest.Given, id string) {
			g.Include()
			g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).RemovalTimestamp = nil
		}, args: []string{"exclusion", "status", "sample", "ID"}, want: exit.ExitNo, out: "none"},
		"excluded by no process group": {given: func(g *commandstest.Given, _ string) { g.Exclude("10.9.9.9:4501") }, args: []string{"exclusion", "status", "sample", "--all"}, want: exit.ExitNo, out: "10.9.9.9:4501"},
		"others are counted":           {given: func(g *commandstest.Given, _ string) { g.Exclude("10.9.9.9:4501") }, args: []string{"exclusion", "status", "sample"}, want: exit.ExitNo, out: "1 more exclusion covers no process group of this resource; --all lists it"},
		"no answer from the database": {
			given: func(g *commandstest.Given, _ string) {
				g.Connect = func() (session.Session, error) {
					return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
				}
			},
			args: []string{"exclusion", "status", "sample"}, want: exit.ExitUnreachable, out: "unverified: no database status: timed out", err: "unknown: timed out",
		},
		"exclusions that cannot be read": {
			given: func(g *commandstest.Given, _ string) {
				g.Connect = func() (session.Session, error) { return blind{commandstest.Simulated{Cluster: g.Cluster, G: g}}, nil }
			},
			args: []string{"exclusion", "status", "sample"}, want: exit.ExitUnreachable, err: "cannot read exclusions: no fdbcli",
		},
		"the list": {args: []string{"get", "exclusions", "sample"}, want: exit.ExitDone, out: "locality_instance_id:storage-"},
		"the list without the database": {given: func(g *commandstest.Given, _ string) {
			g.Connect = func() (session.Session, error) {
				return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
			}
		}, args: []string{"get", "exclusions", "sample"}, want: exit.ExitUnreachable, err: "cannot determine the exclusions: timed out"},
		"an empty list": {given: func(g *commandstest.Given, _ string) { g.Include() }, args: []string{"get", "exclusions", "sample"}, want: exit.ExitDone, err: "no exclusions in the database of sample"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, id := markedForRemoval(t)
			if tc.given != nil {
				tc.given(g, id)
			}
			env := g.Environment()
			env.In = strings.NewReader(strings.ReplaceAll(tc.input, "ID", id))
			var args []string
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "ID", id))
			}
			if code := commands.Run(t.Context(), env, args); code != tc.want || !strings.Contains(g.Out.String(), tc.out) || !strings.Contains(g.Err.String(), tc.err) {
				t.Errorf("exit code %d, want %d, with %q on stdout and %q on stderr\nstdout: %s\nstderr: %s", code, tc.want, tc.out, tc.err, &g.Out, &g.Err)
			}
		})
	}
}

// blind is a cluster whose exclusions cannot be read.
type blind struct{ commandstest.Simulated }

func (b blind) ReadExclusions(context.Context) (plan.CoordinationFacts, error) {
	return plan.CoordinationFacts{}, errors.New("no fdbcli")
}

// counting counts the queries of the database.
type counting struct {
	commandstest.Simulated
	statuses, lists *int
}

func (c counting) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		*c.statuses++
	}
	return c.Simulated.Observe(ctx, into, facets)
}

func (c counting) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	*c.lists++
	return c.Simulated.ReadExclusions(ctx)
}

func TestExclusionStatusReadsOneStatusAndOneListPerObservation(t *testing.T) {
	g, _ := markedForRemoval(t)
	statuses, lists, shown := 0, 0, 0
	g.Connect = func() (session.Session, error) {
		return counting{commandstest.Simulated{Cluster: g.Cluster, G: g}, &statuses, &lists}, nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	env := g.Environment()
	var last inspect.ExclusionStatusView
	began := g.Cluster.Now()
	env.Out = commandstest.OnWrite(func(line string) {
		last = inspect.ExclusionStatusView{}
		if err := json.Unmarshal([]byte(line), &last); err != nil || strings.Count(line, "\n") != 1 || last.Kind != "ExclusionStatus" {
			t.Errorf("no object in one line: %v: %s", err, line)
		}
		if shown++; statuses != shown || lists != shown {
			t.Errorf("%d status documents and %d reads of exclusions for %d looks", statuses, lists, shown)
		}
		if shown == 4 {
			cancel(&exit.InterruptedError{Signal: os.Interrupt})
		}
	})
	if code := commands.Run(ctx, env, []string{"exclusion", "status", "sample", "-w", "-o", "json"}); code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if took := g.Cluster.Now().Sub(began); took < 3*groups.ExclusionInterval || took > 5*groups.ExclusionInterval {
		t.Errorf("4 looks in %s", took)
	}
	if len(last.Items) != 1 || last.Items[0].RateBytesPerSecond == nil {
		t.Errorf("no rate after 4 looks: %+v", last.Items)
	}
	for _, a := range g.Cluster.Acted {
		if _, is := a.(plan.Exclude); is {
			t.Errorf("looking excluded something: %s", a.Describe())
		}
	}
}

// What is waited for, or shown repeatedly, is read as soon as the database shows a change, by a cluster that is
// opened once. One that is read once keeps nothing open.
func TestRepeatedReadsComeFromOneOpenClusterAndFollowTheDatabase(t *testing.T) {
	run := func(t *testing.T, answers bool, args ...string) (took time.Duration, opened int, polls int) {
		t.Helper()
		g, _ := markedForRemoval(t)
		open := 0
		g.Connect = func() (session.Session, error) {
			opened++
			return commandstest.Polled{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Answers: answers, Open: &open, Polls: &polls}, nil
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		env, began := g.Environment(), g.Cluster.Now()
		env.Out = commandstest.OnWrite(func(text string) {
			if strings.Contains(text, `"safe":true`) {
				cancel(&exit.InterruptedError{Signal: os.Interrupt})
			}
		})
		code := commands.Run(ctx, env, args)
		if code != exit.ExitDone && code != exit.ExitInterrupted && code != exit.ExitNo {
			t.Fatalf("exit code %d: %s", code, &g.Err)
		}
		if open != 0 {
			t.Errorf("%d fdbcli are left open", open)
		}
		return g.Cluster.Now().Sub(began), opened, polls
	}
	for _, args := range [][]string{
		{"wait", "sample", "--for=exclusions=safe", "--interval", "30s"},
		{"exclusion", "status", "sample", "-w", "-o", "json", "--interval", "30s"},
	} {
		seen, opened, _ := run(t, true, args...)
		unseen, _, _ := run(t, false, args...)
		if t.Logf("%v: %s with polls, %s without an answer", args, seen, unseen); seen > unseen*3/4 || opened != 1 {
			t.Errorf("%v: it took %s with polls, %s without, and opened the cluster %d times", args, seen, unseen, opened)
		}
	}
	if _, _, polls := run(t, true, "exclusion", "status", "sample"); polls > 0 {
		t.Errorf("a single read polls %d times", polls)
	}
}
