package operations_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// replacedOnce is a cluster in which one process group was just marked for removal, for a reason.
func replacedOnce(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	if err := os.Remove(g.AuditFile()); err != nil {
		t.Fatal(err)
	}
	if code := g.Run("replace", "sample", g.PodsOf("storage")[0], "--yes", "--reason", "its disk fails"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return g
}

// A user has the own runs from the file, and another user the same from Events.
func TestHistoryReadsOwnRunsFromTheFileAndOthersFromEvents(t *testing.T) {
	g := replacedOnce(t)
	own := g.History()
	g.KeepEvents()
	g.Env["XDG_STATE_HOME"] = t.TempDir() // another user
	others := g.History()
	if len(own.Items) != 1 || len(others.Items) == 0 {
		t.Fatalf("own %+v, of others %+v", own.Items, others.Items)
	}
	a, b := own.Items[0], others.Items[0]
	if a.Source != inspect.RunFromFile || b.Source != inspect.RunFromEvents {
		t.Errorf("sources: %s, %s", a.Source, b.Source)
	}
	last := b.Steps[len(b.Steps)-1] // in this test the creation is of the same run
	if a.Steps[0].Action != last.Action || !slices.Equal(a.Steps[0].Subjects, last.Subjects) || a.Steps[0].Stage != last.Stage || a.User != b.User {
		t.Errorf("own %+v, of another %+v", a, b)
	}
	if !strings.Contains(a.Command, "kubectl fdb replace sample ") || a.Reason != "its disk fails" || a.User != "me@here" || a.Actions != 1 || a.Failed != 0 {
		t.Errorf("got %+v", a)
	}
}

func TestHistoryOmitsRunsOnAnotherClusterOfTheSameName(t *testing.T) {
	g := replacedOnce(t)
	g.KeepEvents()
	if v := g.History(); len(v.Items) != 1 || v.Items[0].UID != "1" {
		t.Fatalf("before: %+v", v.Items)
	}
	commandstest.Remake(g.Cluster.Resource)
	if v := g.History(); len(v.Items) != 0 {
		t.Errorf("runs of the deleted cluster: %+v", v.Items)
	}
	g.WithoutUIDs()
	if v := g.History(); len(v.Items) != 1 || v.Items[0].UID != "" || len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], "1 run without the UID of the cluster") {
		t.Errorf("a run of an earlier release: %+v, warnings %q", v.Items, v.Warnings)
	}
	g.Run("history", "sample", "--run", "latest")
	if !strings.Contains(g.Out.String(), "of this name, and may be another one") {
		t.Errorf("got %s", &g.Out)
	}
}

func TestHistoryAsText(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		out   []string
		err   string
	}{
		"a row per run":          {out: []string{"COMMAND", "replace sample ", "its disk fails", "done", "run1"}},
		"the actions of one run": {args: []string{"--run", "run1"}, out: []string{"MarkForRemoval", "ReplaceGroups", "reason:", "its disk fails"}},
		"those of the latest":    {args: []string{"--run", "latest"}, out: []string{"MarkForRemoval"}},
		"an unknown run":         {args: []string{"--run", "absent"}, want: exit.ExitUsage, err: `run "absent" not found among the 1 run`},
		"none in that time":      {given: func(g *commandstest.Given) { g.Cluster.Tick(2 * time.Hour) }, args: []string{"--since", "1h"}, err: "no recorded changes of sample"},
		"no latest one":          {given: func(g *commandstest.Given) { g.Cluster.Tick(2 * time.Hour) }, args: []string{"--since", "1h", "--run", "latest"}, err: "no recorded changes of sample"},
		"a negative time":        {args: []string{"--since", "-1h"}, want: exit.ExitUsage, err: "--since must not be negative"},
		"Events that may not be read": {
			given: func(g *commandstest.Given) { g.EventsHidden = commandstest.ErrForbidden }, out: []string{"replace sample "}, err: "runs of other users may be missing",
		},
		"lines that are damaged": {
			given: func(g *commandstest.Given) { g.AppendAudit("{half") }, out: []string{"replace sample "}, err: "1 line of ",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := replacedOnce(t)
			if tc.given != nil {
				tc.given(g)
			}
			if code := g.Run(append([]string{"history", "sample"}, tc.args...)...); code != tc.want {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.want, &g.Out, &g.Err)
			}
			for _, want := range tc.out {
				if !strings.Contains(g.Out.String(), want) {
					t.Errorf("%q is missing in\n%s", want, &g.Out)
				}
			}
			if !strings.Contains(g.Err.String(), tc.err) {
				t.Errorf("%q is missing in %s", tc.err, &g.Err)
			}
		})
	}
}

func TestHistoryRowsOmitTheFlagsThatSelectTheCluster(t *testing.T) {
	g := replacedOnce(t)
	check := func(source string) {
		g.Run("history", "sample")
		if out := g.Out.String(); !strings.Contains(out, "kubectl fdb re") || strings.Contains(out, "--context") {
			t.Errorf("from %s: %s", source, out)
		}
		if v := g.History(); !strings.HasSuffix(v.Items[0].Command, " -n fdb --context test") {
			t.Errorf("JSON from %s: %+v", source, v.Items)
		}
		g.Run("history", "sample", "--run", "latest")
		if !strings.Contains(g.Out.String(), "--context test") {
			t.Errorf("one run from %s: %s", source, &g.Out)
		}
	}
	check("the file")
	g.KeepEvents()
	g.Env["XDG_STATE_HOME"] = t.TempDir() // another user
	check("Events")
}
