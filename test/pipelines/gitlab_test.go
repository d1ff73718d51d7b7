package pipelines

import (
	"os"
	"strings"
	"testing"
)

// GitLab executes lines of a note that begin with a slash, as /merge does: the text of a cluster is none.
func TestTextOfAClusterIsNoActionInAMergeRequest(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	j := given(t, g, "check", nil)
	fake(t, j.program, "/merge\n  /close\npath /data\n", "1")
	onGitLab(t, j)
	if body := strings.Join(g.written(), ""); !strings.Contains(body, "\n\\/merge\n  \\/close\npath /data\n") {
		t.Errorf("note %q", body)
	}
}

// A merge request of a fork has no protected variables, and its job has no other exit code.
func TestAMergeRequestWithoutATokenGetsNoComment(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	j := given(t, g, "check", map[string]string{"token": ""})
	fake(t, j.program, "## sample: passed", "0")
	got := onGitLab(t, j)
	if got.code != 0 || len(g.requests) > 0 || !strings.Contains(got.log, "warning: merge request 12 gets no comment: KUBECTL_FDB_TOKEN is not set") {
		t.Errorf("exit code %d, %d requests: %s", got.code, len(g.requests), got.log)
	}
}

// The jobs of the page extend the hidden job, and set variables that the script has.
func TestTheJobsOfThePipelinesPageSetVariablesThatExist(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- gitlab -->\n```yaml\n")
	text, _, found := strings.Cut(rest, "\n```")
	if !found {
		t.Fatal("the page has no pipeline of GitLab")
	}
	var jobs map[string]any
	unmarshal(t, text, &jobs)
	script, err := os.ReadFile(manifests + "pipeline.sh")
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]bool{}
	for name, content := range jobs {
		one, is := content.(map[string]any)
		if !is || one["extends"] == nil {
			continue
		}
		if one["extends"] != ".kubectl-fdb" {
			t.Errorf("%s extends %v", name, one["extends"])
		}
		variables, _ := one["variables"].(map[string]any)
		for variable, value := range variables {
			if !strings.Contains(string(script), "${"+variable+":-") {
				t.Errorf("%s: the script has no variable %s", name, variable)
			}
			if variable == "MODE" {
				modes[value.(string)] = true
			}
		}
	}
	if len(modes) != 3 {
		t.Errorf("the jobs have the modes %v, want check, plan and apply", modes)
	}
}
