package pipelines

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two runs of one mode leave one comment, behind a page of others, and one of another user as it was.
func TestAPipelineCommentIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		stranger := comment{ID: 1, Body: "<!-- kubectl-fdb check orders-fdb/sample -->\nmine", User: user{"mallory"}}
		g.comments = append(g.comments, stranger)
		for i := range 100 {
			g.comments = append(g.comments, comment{ID: 100 + i, Body: "looks good", User: user{"ann"}})
		}
		j := given(t, g, "check", map[string]string{"namespace": "orders-fdb"})
		for code, verdict := range map[string]string{"0": "passed", "1": "has findings"} {
			fake(t, j.program, "## orders-fdb/sample: "+verdict, code)
			run(t, j)
			want := []string{"<!-- kubectl-fdb check orders-fdb/sample -->\n\n### kubectl fdb check sample: " + verdict + "\n\n## orders-fdb/sample: " + verdict +
				"\n\nSee [the log of the job](https://github.example.com/orders/infrastructure/actions/runs/4711)."}
			if diff := cmp.Diff(want, g.written()); diff != "" {
				t.Error(diff)
			}
		}
		j.inputs["mode"] = "plan"
		fake(t, j.program, samplePlan(t), "1")
		run(t, j)
		if n := len(g.written()); n != 2 {
			t.Errorf("%d comments after a check and a plan, want 2", n)
		}
		if diff := cmp.Diff(stranger.Body, g.comments[0].Body); diff != "" {
			t.Error(diff)
		}
	})
}

// A token whose user cannot be read is no reason to write into a comment of anyone.
func TestAPipelineWithoutAKnownUserChangesNoComment(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		g.unnamed = true
		stranger := comment{ID: 1, Body: "<!-- kubectl-fdb check /sample -->\nmine", User: user{"mallory"}}
		g.comments = append(g.comments, stranger)
		j := given(t, g, "check", nil)
		fake(t, j.program, "## sample: passed", "0")
		got := run(t, j)
		if n := len(g.written()); n != 1 || g.comments[0] != stranger {
			t.Errorf("%d comments written, the first is %+v", n, g.comments[0])
		}
		if !strings.Contains(got.log, "warning: the user of the token cannot be read: comments of earlier runs are not updated") {
			t.Error(got.log)
		}
	})
}

func TestAPipelineAppliesASavedPlan(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		j := given(t, g, "plan", map[string]string{"changes": "succeed", "arguments": "--context * --with-backups", "namespace": "orders-fdb", "timeout": "2h"})
		fake(t, j.program, samplePlan(t), "1")
		planned := run(t, j)
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(samplePlan(t))))
		if diff := cmp.Diff(map[string]string{"exit-code": "1", "plan-sha256": sum}, planned.results); diff != "" || planned.code != 0 {
			t.Fatalf("exit code %d, results %s\n%s", planned.code, diff, planned.log)
		}
		want := []string{"reconcile", "sample", "--wait", "--dry-run", "-o", "json", "-n", "orders-fdb", "--context", "*", "--with-backups"}
		if diff := cmp.Diff(want, arguments(t, j.program)); diff != "" {
			t.Error(diff)
		}
		body := g.written()[0]
		for _, line := range []string{"sample: 5 actions", "processCounts.storage: 3, desired 4\n1. UpdateStatus: ", "\nforecast: complete after 38 s, in 6 passes with 4 actions\nin all: recoveries 0 (commits pause for 0 s), processes restarted 0 (0 at once), process groups removed 0, pods 9, at most 10, data to move 0 KiB\n- ", "`" + sum + "`"} {
			if !strings.Contains(body, line) {
				t.Errorf("the comment has no %q: %s", line, body)
			}
		}

		j.inputs["mode"], j.inputs["plan-sha256"] = "apply", sum
		fake(t, j.program, "12:00:33Z  AddPods  did  create pod\n", "0")
		applied := run(t, j)
		want = []string{
			"reconcile", "sample", "--plan", "plan.json", "--yes", "--wait", "--timeout", "2h", "--reason",
			"pipeline https://github.example.com/orders/infrastructure/actions/runs/4711", "-n", "orders-fdb", "--context", "*", "--with-backups",
		}
		if diff := cmp.Diff(want, arguments(t, j.program)); diff != "" || applied.code != 0 {
			t.Errorf("exit code %d, arguments %s\n%s", applied.code, diff, applied.log)
		}
		if bodies := g.written(); len(bodies) != 2 || !strings.Contains(bodies[1], "````text\n12:00:33Z  AddPods  did  create pod\n````") {
			t.Errorf("comments %q", bodies)
		}
	})
}

// A file that another job replaced, or none, is never applied.
func TestApplyRefusesAPlanThatWasNotApproved(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		j := given(t, g, "apply", map[string]string{"plan-sha256": strings.Repeat("0", 64)})
		fake(t, j.program, "", "0")
		if missing := run(t, j); missing.code != 2 {
			t.Errorf("exit code %d without a plan, want 2: %s", missing.code, missing.log)
		}
		if err := os.WriteFile(filepath.Join(j.dir, "plan.json"), []byte(samplePlan(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		if other := run(t, j); other.code != 6 || other.results["exit-code"] != "6" {
			t.Errorf("exit code %d with another plan, want 6: %s", other.code, other.log)
		}
		if _, err := os.Stat(filepath.Join(j.program, "arguments")); err == nil {
			t.Errorf("kubectl-fdb was started: %q", arguments(t, j.program))
		}
	})
}

// A comment changes no exit code, whether it is written or not.
func TestPipelineExitCodesAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		for _, mode := range []string{"check", "plan", "apply"} {
			for _, code := range []string{"0", "1", "3", "4", "8", "143"} {
				for _, refuse := range []bool{false, true} {
					g := newGitHub(t)
					g.refuse = refuse
					j := given(t, g, mode, map[string]string{"changes": "fail"})
					if err := os.WriteFile(filepath.Join(j.dir, "plan.json"), []byte(samplePlan(t)), 0o600); err != nil {
						t.Fatal(err)
					}
					fake(t, j.program, samplePlan(t), code)
					got := run(t, j)
					wantCode := code
					if strings.HasSuffix(t.Name(), "Argo_Workflows") && mode == "plan" && code == "1" {
						wantCode = "0" // the step after it decides by the output
					}
					if fmt.Sprint(got.code) != wantCode || got.results["exit-code"] != code {
						t.Errorf("%s with exit code %s: %d, %v\n%s", mode, code, got.code, got.results, got.log)
					}
					if warned := strings.Contains(got.log, "warning: pull request 12 has no comment"); warned != refuse {
						t.Errorf("%s with exit code %s: a warning %v\n%s", mode, code, warned, got.log)
					}
				}
			}
		}
	})
}

func TestAPipelineCommentTruncatesLongOutputAndLinksTheLog(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		j := given(t, g, "apply", nil)
		if err := os.WriteFile(filepath.Join(j.dir, "plan.json"), []byte(samplePlan(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("12:00:33Z  AddPods  did  create pod ü with ````` in its name\n", 2000)
		fake(t, j.program, long, "0")
		got := run(t, j)
		bodies := g.written()
		if got.code != 0 || len(bodies) != 1 {
			t.Fatalf("exit code %d, %d comments: %s", got.code, len(bodies), got.log[max(0, len(got.log)-500):])
		}
		if strings.Count(bodies[0], "````") != 2 || !strings.Contains(bodies[0], "in its name\n````\n\n**Cut after 1016 of 2000 lines.** The whole text is in [the log of the job](https://") {
			t.Errorf("the comment ends with %q", bodies[0][len(bodies[0])-400:])
		}
		// What the command writes to stderr can be anywhere in between.
		if !strings.Contains(strings.ReplaceAll(got.log, failure+"\n", ""), long) {
			t.Error("the log has not the whole text")
		}
	})
}

// Neither what the command prints, nor the log, nor an argument of a process has the token.
func TestPipelineCommentsAndArgumentsContainNoToken(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		j := given(t, g, "check", nil)
		fake(t, j.program, "a line with "+token, "1")
		real, err := exec.LookPath("curl")
		if err != nil {
			t.Fatal(err)
		}
		spy := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>'" + j.dir + "/curl-arguments'\nexec " + real + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(j.program, "curl"), []byte(spy), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		run(t, j)
		seen, err := os.ReadFile(filepath.Join(j.dir, "curl-arguments"))
		if err != nil || strings.Contains(string(seen), token) {
			t.Errorf("arguments of curl: %s, %v", seen, err)
		}
		if body := strings.Join(g.written(), ""); !strings.Contains(body, "a line with ***") || strings.Contains(body, token) || strings.Contains(body, "10.0.0.1") {
			t.Errorf("comment %s", body)
		}
	})
}

// Values that would be flags, paths or shell code are refused before anything runs.
func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]map[string]string{
		"a mode that does not exist":       {"mode": "delete"},
		"a cluster that is a flag":         {"cluster": "--from=x"},
		"a cluster that is code":           {"cluster": "$(touch x)"},
		"no cluster":                       {"cluster": ""},
		"a namespace that is a flag":       {"namespace": "-A"},
		"a pull request that is no number": {"pull-request": "12/../13"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
				g := newGitHub(t)
				j := given(t, g, "check", more)
				fake(t, j.program, "", "0")
				if got := run(t, j); got.code != 2 || !strings.Contains(got.log, "error: invalid ") || len(g.requests) != 0 {
					t.Errorf("exit code %d, %d requests: %s", got.code, len(g.requests), got.log)
				}
			})
		})
	}
}

// The plugin itself, without a Kubernetes cluster.
func TestPipelineChecksADumpWithTheBuiltPlugin(t *testing.T) {
	t.Parallel()
	program := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(program, "kubectl-fdb"), "./cmd/kubectl-fdb")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if log, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	dump, err := filepath.Abs("testdata/sample.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	onEach(t, func(t *testing.T, run func(*testing.T, job) ended) {
		g := newGitHub(t)
		j := given(t, g, "check", map[string]string{"arguments": "--from " + dump})
		j.program = program
		got := run(t, j)
		if body := strings.Join(g.written(), ""); got.code != 1 || !strings.Contains(body, "| TOPO-002 | warning | class/storage | 1 |") {
			t.Errorf("exit code %d, comment %s\n%s", got.code, body, got.log)
		}
	})
}
