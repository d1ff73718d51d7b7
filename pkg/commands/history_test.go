package commands

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit/history"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// replacedOnce is a cluster in which one process group was just marked for removal, for a reason.
func replacedOnce(t *testing.T) *given {
	t.Helper()
	g := up(t)
	if err := os.Remove(g.auditFile()); err != nil {
		t.Fatal(err)
	}
	if code := g.run("replace", "sample", g.podsOf("storage")[0], "--yes", "--reason", "its disk fails"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	return g
}

func (g *given) history(args ...string) history.View {
	g.t.Helper()
	if code := g.run(append([]string{"history", "sample", "-o", "json"}, args...)...); code != exit.ExitDone {
		g.t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	var v history.View
	if err := json.Unmarshal(g.out.Bytes(), &v); err != nil {
		g.t.Fatal(err)
	}
	return v
}

// A user has the own runs from the file, and another user the same from Events.
func TestHistoryReadsOwnRunsFromTheFileAndOthersFromEvents(t *testing.T) {
	g := replacedOnce(t)
	own := g.history()
	g.keepEvents()
	g.env["XDG_STATE_HOME"] = t.TempDir() // another user
	others := g.history()
	if len(own.Items) != 1 || len(others.Items) == 0 {
		t.Fatalf("own %+v, of others %+v", own.Items, others.Items)
	}
	a, b := own.Items[0], others.Items[0]
	if a.Source != history.SourceFile || b.Source != history.SourceEvents {
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
	g.keepEvents()
	if v := g.history(); len(v.Items) != 1 || v.Items[0].UID != "1" {
		t.Fatalf("before: %+v", v.Items)
	}
	remake(g.cluster.Resource)
	if v := g.history(); len(v.Items) != 0 {
		t.Errorf("runs of the deleted cluster: %+v", v.Items)
	}
	g.withoutUIDs()
	if v := g.history(); len(v.Items) != 1 || v.Items[0].UID != "" || len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], "1 run without the UID of the cluster") {
		t.Errorf("a run of an earlier release: %+v, warnings %q", v.Items, v.Warnings)
	}
	g.run("history", "sample", "--run", "latest")
	if !strings.Contains(g.out.String(), "of this name, and may be another one") {
		t.Errorf("got %s", &g.out)
	}
}

func TestHistoryAsText(t *testing.T) {
	tests := map[string]struct {
		given func(*given)
		args  []string
		want  int
		out   []string
		err   string
	}{
		"a row per run":          {out: []string{"COMMAND", "replace sample ", "its disk fails", "done", "run1"}},
		"the actions of one run": {args: []string{"--run", "run1"}, out: []string{"MarkForRemoval", "ReplaceGroups", "reason:", "its disk fails"}},
		"those of the latest":    {args: []string{"--run", "latest"}, out: []string{"MarkForRemoval"}},
		"an unknown run":         {args: []string{"--run", "absent"}, want: exit.ExitUsage, err: `run "absent" not found among the 1 run`},
		"none in that time":      {given: func(g *given) { g.cluster.Tick(2 * time.Hour) }, args: []string{"--since", "1h"}, err: "no recorded changes of sample"},
		"no latest one":          {given: func(g *given) { g.cluster.Tick(2 * time.Hour) }, args: []string{"--since", "1h", "--run", "latest"}, err: "no recorded changes of sample"},
		"a negative time":        {args: []string{"--since", "-1h"}, want: exit.ExitUsage, err: "--since must not be negative"},
		"Events that may not be read": {
			given: func(g *given) { g.eventsHidden = forbidden }, out: []string{"replace sample "}, err: "runs of other users may be missing",
		},
		"lines that are damaged": {
			given: func(g *given) { g.appendAudit("{half") }, out: []string{"replace sample "}, err: "1 line of ",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := replacedOnce(t)
			if tc.given != nil {
				tc.given(g)
			}
			if code := g.run(append([]string{"history", "sample"}, tc.args...)...); code != tc.want {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.want, &g.out, &g.err)
			}
			for _, want := range tc.out {
				if !strings.Contains(g.out.String(), want) {
					t.Errorf("%q is missing in\n%s", want, &g.out)
				}
			}
			if !strings.Contains(g.err.String(), tc.err) {
				t.Errorf("%q is missing in %s", tc.err, &g.err)
			}
		})
	}
}

// appendAudit appends a line to the audit file.
func (g *given) appendAudit(line string) {
	g.t.Helper()
	file, err := os.OpenFile(g.auditFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		g.t.Fatal(err)
	}
	if _, err := file.WriteString(line + "\n"); err != nil {
		g.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		g.t.Fatal(err)
	}
}
