package commands_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// scriptCommand is a command of ours in the script of pipelines, with its arguments.
var scriptCommand = regexp.MustCompile(`(?m)kubectl-fdb ((?:check|reconcile) .*?)(?: >.*)?$`)

// The script checks, plans and applies. How it is run, and its comments, are tested by make test-pipelines.
func TestThePipelineScriptRollsOutAChange(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../manifests/pipelines/pipeline.sh")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range scriptCommand.FindAllStringSubmatch(string(script), -1) {
		lines = append(lines, m[1])
	}
	want := []string{
		`check "$cluster" -o markdown "$@"`,
		`reconcile "$cluster" --wait --dry-run -o json "$@"`,
		`reconcile "$cluster" --plan "$plan" --yes --wait --timeout "${TIMEOUT:-1h}" --reason "${REASON:-pipeline ${RUN_URL:-}}" "$@"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Fatal(diff)
	}
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
	g.Cluster.Resource.Generation++
	plan := filepath.Join(t.TempDir(), "plan.json")
	for i, code := range []int{exit.ExitDone, exit.ExitNo, exit.ExitDone} {
		line := strings.NewReplacer(`"$cluster"`, "sample", `"$plan"`, plan, `"${TIMEOUT:-1h}"`, "1h", `"${REASON:-pipeline ${RUN_URL:-}}"`, "pipeline", `"$@"`, "-n fdb").Replace(lines[i])
		g.Out.Reset()
		if got := g.Run(strings.Fields(line)...); got != code {
			t.Fatalf("%s: exit code %d, want %d: %s%s", line, got, code, &g.Out, &g.Err)
		}
		if i == 1 {
			if err := os.WriteFile(plan, g.Out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(g.Cluster.Resource.Status.ProcessGroups); n != 10 {
		t.Errorf("%d process groups, want 10", n)
	}
}
