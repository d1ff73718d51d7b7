package run_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

var ciCommand = regexp.MustCompile(`(?m)^\s*(?:- )?kubectl fdb ([^|\n]*)`)

// commandsIn returns the command lines of ours in all texts of a pipeline, in its order.
func commandsIn(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			for _, m := range ciCommand.FindAllStringSubmatch(n.Value, -1) {
				lines = append(lines, m[1])
			}
		}
		for _, child := range n.Content {
			visit(child)
		}
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		visit(&document)
	}
}

// The commands of each pipeline plan a change, stop at the approval, and apply the plan with its digest.
func TestCIPipelinesPlanApproveAndApplyAChange(t *testing.T) {
	files, err := filepath.Glob("../../../docs/ci/*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d pipelines, want 4: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			lines := commandsIn(t, file)
			if len(lines) != 2 {
				t.Fatalf("%d commands, want 2: %q", len(lines), lines)
			}
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
			g.Cluster.Resource.Generation++
			dir := t.TempDir()
			run := func(line, digest string) int {
				here := strings.NewReplacer("$CLUSTER", "sample", "$DIGEST", digest, `"`, "", "run/", dir+"/")
				return g.Run(strings.Fields(here.Replace(line))...)
			}
			if code := run(lines[0], ""); code != exit.ExitUnconfirmed {
				t.Fatalf("plan: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if code := run(lines[1], stateOf(t, filepath.Join(dir, "state.json")).Steps[2].Digest); code != exit.ExitDone {
				t.Fatalf("apply: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if n := len(g.Cluster.Resource.Status.ProcessGroups); n != 10 {
				t.Errorf("%d process groups, want 10", n)
			}
			if _, err := os.Stat(filepath.Join(dir, "junit.xml")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "state.json.d", "plan")); err != nil {
				t.Error(err)
			}
		})
	}
}
