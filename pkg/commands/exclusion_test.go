package commands

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// markedForRemoval is a cluster with an excluded storage group that is to be removed.
func markedForRemoval(t *testing.T) (g *given, id string) {
	t.Helper()
	g = up(t)
	g.cluster.Tick(2 * time.Minute) // until the recovery is over
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage {
			group.MarkForRemoval(g.cluster.Now())
			g.exclude(group.ExclusionString())
			return g, string(group.ProcessGroupID)
		}
	}
	t.Fatal("no storage group")
	return nil, ""
}

func (g *given) exclude(target string) {
	g.t.Helper()
	if out, err := simtest.Type(g.cluster, "exclude no_wait "+target); err != nil {
		g.t.Fatalf("%v: %s", err, out)
	}
}

func TestAWaitEndsWhenTheGroupIsSafeToRemove(t *testing.T) {
	g, id := markedForRemoval(t)
	if code := g.run("exclusion", "status", "sample"); code != exit.ExitNo || !strings.Contains(g.out.String(), "moving") || !strings.Contains(g.out.String(), id) {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if code := g.run("wait", "sample", "--for=exclusions=safe,pg="+id+":safe", "--timeout", "1h"); code != exit.ExitDone || !strings.Contains(g.out.String(), "exclusions=safe") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if !strings.Contains(g.err.String(), "waiting: exclusions=safe: 1 of 1 is not safe to remove") {
		t.Errorf("stderr: %s", &g.err)
	}
	if code := g.run("exclusion", "status", "sample", "-o", "jsonpath={.safe} {.items[0].state}"); code != exit.ExitDone || g.out.String() != "true safe" {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	t.Log(g.out.String(), g.err.String())
}

func TestExclusionStatusExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(g *given, id string)
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
		"a wait that takes long":  {given: func(g *given, _ string) { g.include() }, args: []string{"wait", "sample", "--for=exclusions=safe", "--timeout", "31s"}, want: exit.ExitWaiting, err: "timed out after 31s: exclusions=safe: 1 of 1 is not safe to remove"},
		"a command that is none":  {args: []string{"exclusion", "sattus"}, want: exit.ExitUsage, err: "must be one of status"},
		"marked and not excluded": {given: func(g *given, _ string) { g.include() }, args: []string{"exclusion", "status", "sample"}, want: exit.ExitNo, out: "pending"},
		"named and not excluded": {given: func(g *given, id string) {
			g.include()
			g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).RemovalTimestamp = nil
		}, args: []string{"exclusion", "status", "sample", "ID"}, want: exit.ExitNo, out: "none"},
		"excluded by no process group": {given: func(g *given, _ string) { g.exclude("10.9.9.9:4501") }, args: []string{"exclusion", "status", "sample", "--all"}, want: exit.ExitNo, out: "10.9.9.9:4501"},
		"others are counted":           {given: func(g *given, _ string) { g.exclude("10.9.9.9:4501") }, args: []string{"exclusion", "status", "sample"}, want: exit.ExitNo, out: "1 more exclusion covers no process group of this resource; --all lists it"},
		"no answer from the database": {
			given: func(g *given, _ string) {
				g.connect = func() (session.Session, error) { return mute{simulated{g.cluster, g}, nil}, nil }
			},
			args: []string{"exclusion", "status", "sample"}, want: exit.ExitUnreachable, out: "unverified: no database status: timed out", err: "unknown: timed out",
		},
		"exclusions that cannot be read": {
			given: func(g *given, _ string) {
				g.connect = func() (session.Session, error) { return blind{simulated{g.cluster, g}}, nil }
			},
			args: []string{"exclusion", "status", "sample"}, want: exit.ExitUnreachable, err: "cannot read exclusions: no fdbcli",
		},
		"the list": {args: []string{"get", "exclusions", "sample"}, want: exit.ExitDone, out: "locality_instance_id:storage-"},
		"the list without the database": {given: func(g *given, _ string) {
			g.connect = func() (session.Session, error) { return mute{simulated{g.cluster, g}, nil}, nil }
		}, args: []string{"get", "exclusions", "sample"}, want: exit.ExitUnreachable, err: "cannot determine the exclusions: timed out"},
		"an empty list": {given: func(g *given, _ string) { g.include() }, args: []string{"get", "exclusions", "sample"}, want: exit.ExitDone, err: "no exclusions in the database of sample"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, id := markedForRemoval(t)
			if tc.given != nil {
				tc.given(g, id)
			}
			env := g.environment()
			env.In = strings.NewReader(strings.ReplaceAll(tc.input, "ID", id))
			var args []string
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "ID", id))
			}
			if code := Run(t.Context(), env, args); code != tc.want || !strings.Contains(g.out.String(), tc.out) || !strings.Contains(g.err.String(), tc.err) {
				t.Errorf("exit code %d, want %d, with %q on stdout and %q on stderr\nstdout: %s\nstderr: %s", code, tc.want, tc.out, tc.err, &g.out, &g.err)
			}
		})
	}
}

func (g *given) include() {
	g.t.Helper()
	if out, err := simtest.Type(g.cluster, "include all"); err != nil {
		g.t.Fatalf("%v: %s", err, out)
	}
}

// blind is a cluster whose exclusions cannot be read.
type blind struct{ simulated }

func (b blind) ReadExclusions(context.Context) (plan.CoordinationFacts, error) {
	return plan.CoordinationFacts{}, errors.New("no fdbcli")
}

// counting counts the queries of the database.
type counting struct {
	simulated
	statuses, lists *int
}

func (c counting) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		*c.statuses++
	}
	return c.simulated.Observe(ctx, into, facets)
}

func (c counting) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	*c.lists++
	return c.simulated.ReadExclusions(ctx)
}

func TestExclusionStatusReadsOneStatusAndOneListPerObservation(t *testing.T) {
	g, _ := markedForRemoval(t)
	statuses, lists, shown := 0, 0, 0
	g.connect = func() (session.Session, error) { return counting{simulated{g.cluster, g}, &statuses, &lists}, nil }
	ctx, cancel := context.WithCancelCause(t.Context())
	env := g.environment()
	var last inspect.ExclusionStatusView
	began := g.cluster.Now()
	env.Out = onWrite(func(line string) {
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
	if code := Run(ctx, env, []string{"exclusion", "status", "sample", "-w", "-o", "json"}); code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	if took := g.cluster.Now().Sub(began); took < 3*groups.ExclusionInterval || took > 5*groups.ExclusionInterval {
		t.Errorf("4 looks in %s", took)
	}
	if len(last.Items) != 1 || last.Items[0].RateBytesPerSecond == nil {
		t.Errorf("no rate after 4 looks: %+v", last.Items)
	}
	for _, a := range g.cluster.Acted {
		if _, is := a.(plan.Exclude); is {
			t.Errorf("looking excluded something: %s", a.Describe())
		}
	}
}
