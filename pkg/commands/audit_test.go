package commands

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// auditFile is where the lines of a run are.
func (g *given) auditFile() string {
	return filepath.Join(g.env["XDG_STATE_HOME"], "kubectl-fdb", "audit.jsonl")
}

// audited are the lines of the audit file.
func (g *given) audited() []audit.Entry {
	g.t.Helper()
	file, err := os.Open(g.auditFile())
	if err != nil {
		g.t.Fatal(err)
	}
	defer file.Close()
	var entries []audit.Entry
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e audit.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			g.t.Fatalf("%s: %v", lines.Text(), err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestEveryActionOfAChangingCommandHasAnAuditLine(t *testing.T) {
	tests := map[string]struct {
		args []string
		// command and reason are in each line, actions is the number of lines of some kinds.
		command, reason string
		actions         map[string]int
	}{
		"a reconcile that creates a cluster": {
			args:    []string{"reconcile", "sample", "--yes", "--wait"},
			command: "kubectl fdb reconcile sample --wait --yes -n fdb --context test",
			actions: map[string]int{"CreatePod": 9, "Configure": 1},
		},
		"a replacement with a reason": {
			args:    []string{"replace", "sample", "storage-71671", "--yes", "--reason", "its disk fails"},
			command: "kubectl fdb replace sample storage-71671 --yes -n fdb --context test", reason: "its disk fails",
			actions: map[string]int{"MarkForRemoval": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			if tc.args[0] == "replace" {
				g = up(t)
				if err := os.Remove(g.auditFile()); err != nil {
					t.Fatal(err)
				}
			}
			if code := g.run(tc.args...); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
			}
			counts := map[string]int{}
			for _, e := range g.audited() {
				counts[e.Action]++
				want := audit.Run{RunID: "run1", Who: "me@here pid 1", Context: "test", Namespace: "fdb", Cluster: "sample", UID: "1", Command: tc.command, Reason: tc.reason}
				if e.Run != want || e.Result != audit.Done || e.Words == "" || e.Time.IsZero() {
					t.Fatalf("line %+v", e)
				}
			}
			for kind, want := range tc.actions {
				if counts[kind] != want {
					t.Errorf("%d lines of %s, want %d: %v", counts[kind], kind, want, counts)
				}
			}
		})
	}
}

func TestReadOnlyCommandsAndDryRunsAreNotAudited(t *testing.T) {
	g := newGiven(t)
	for _, args := range [][]string{{"plan", "sample"}, {"reconcile", "sample", "--dry-run"}, {"status", "sample"}} {
		g.run(args...)
	}
	if _, err := os.Stat(g.auditFile()); !os.IsNotExist(err) {
		t.Errorf("there is an audit file: %v", err)
	}
	if len(g.events) > 0 {
		t.Errorf("there are Events: %v", g.events)
	}
}

func TestSimilarActionsOfAPassAreOneEventOnTheCluster(t *testing.T) {
	g := newGiven(t)
	if code := g.run("reconcile", "sample", "--yes"); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	var pods []*corev1.Event
	for _, e := range g.events {
		if e.InvolvedObject.Kind != "FoundationDBCluster" || e.InvolvedObject.Name != "sample" || e.InvolvedObject.UID != "1" {
			t.Errorf("an Event is about %+v", e.InvolvedObject)
		}
		if e.Reason == "CreatePod" {
			pods = append(pods, e)
		}
	}
	if len(pods) != 1 {
		t.Fatalf("%d Events tell that pods were created, want 1", len(pods))
	}
	for _, want := range []string{"create pod sample-", "and 8 more like it", "kubectl fdb reconcile sample --yes", "me@here pid 1", "run run1"} {
		if !strings.Contains(pods[0].Message, want) {
			t.Errorf("the Event does not say %q: %s", want, pods[0].Message)
		}
	}
}

// unwritable makes the audit file one that exists and takes no line.
func (g *given) unwritable() {
	g.t.Helper()
	if err := os.RemoveAll(g.auditFile()); err != nil {
		g.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(g.auditFile(), "in the way"), 0o700); err != nil {
		g.t.Fatal(err)
	}
}

func TestNothingIsChangedIfTheAuditFileCannotBeContinued(t *testing.T) {
	for _, line := range []string{"reconcile sample --yes", "reconcile sample --yes --wait", "replace sample storage-71671 --yes", "restart sample --class storage --yes", "pause sample", "cordon node-1 -c sample --evacuate=none"} {
		t.Run(line, func(t *testing.T) {
			g := up(t)
			g.cluster.Resource.Spec.ProcessCounts.Storage++
			g.cluster.Resource.Generation++
			g.unwritable()
			before, err := json.Marshal([]any{g.cluster.Resource, g.cluster.Pods})
			if err != nil {
				t.Fatal(err)
			}
			if code := g.run(strings.Fields(line)...); code != exit.ExitRefused {
				t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
			}
			for _, want := range []string{"G-AUDIT: can the audit file be continued? ", "free space, or set XDG_STATE_HOME to another directory"} {
				if !strings.Contains(g.out.String()+g.err.String(), want) {
					t.Errorf("%q is not printed: %s%s", want, &g.out, &g.err)
				}
			}
			after, err := json.Marshal([]any{g.cluster.Resource, g.cluster.Pods})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(before), string(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadingNeedsNoAuditFile(t *testing.T) {
	g := up(t)
	g.unwritable()
	for _, line := range []string{"status sample", "reconcile sample --dry-run", "reconcile sample --yes"} { // the last has nothing to do
		if code := g.run(strings.Fields(line)...); code != exit.ExitDone {
			t.Errorf("%s: exit code %d: %s", line, code, &g.err)
		}
	}
}

// What is half done is completed: a disk that fills up in between is reported once.
func TestARunThatHasBegunContinuesWithoutTheAuditFile(t *testing.T) {
	g := newGiven(t)
	broken := false
	g.clock.onTimer = func(time.Duration) bool {
		if !broken && len(g.cluster.Pods) > 0 {
			broken = true
			g.unwritable()
		}
		return false
	}
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone || !broken {
		t.Errorf("exit code %d, without a file since some time: %t: %s", code, broken, &g.err)
	}
	if n := strings.Count(g.err.String(), "warning: no audit file is written: "); n != 1 {
		t.Errorf("printed %d times, want once: %s", n, &g.err)
	}
}

// Where no file is possible, Events remain: that is reported once, and the command does all its work.
func TestCommandsContinueWhereNoAuditFileIsPossible(t *testing.T) {
	tests := map[string]struct {
		given func(*given)
		says  string
	}{
		"the folder cannot be made": {
			given: func(g *given) {
				file := filepath.Join(g.t.TempDir(), "file")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					g.t.Fatal(err)
				}
				g.env["XDG_STATE_HOME"] = file
			},
			says: "warning: no audit file is written: create the directory of the audit file: ",
		},
		"there is no home": {
			given: func(g *given) { delete(g.env, "XDG_STATE_HOME") },
			says:  "warning: no audit file is written: cannot determine the path of the audit file: set XDG_STATE_HOME or HOME",
		},
		"Events are not allowed": {
			given: func(g *given) { g.denied = []string{"create events"} },
			says:  `required permissions: "create events" and "patch events" in namespace fdb`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			tc.given(g)
			if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
				t.Errorf("exit code %d: %s", code, &g.err)
			}
			if got := strings.Count(g.err.String(), tc.says); got != 1 {
				t.Errorf("%q is printed %d times, want once: %s", tc.says, got, &g.err)
			}
		})
	}
}

// Objects have secrets in them: variables of pods, for example.
func TestAuditEntriesAndEventsContainNoObjectContent(t *testing.T) {
	g := newGiven(t)
	const secret = "correct horse battery staple"
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "PASSPHRASE", Value: secret}}},
	}}}
	g.cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: template}}
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	found := false
	for _, pod := range g.cluster.Pods {
		for _, c := range pod.Spec.Containers {
			for _, v := range c.Env {
				found = found || v.Value == secret
			}
		}
	}
	text, err := os.ReadFile(g.auditFile())
	if err != nil || !found {
		t.Fatalf("%v, and some pod has the variable: %t", err, found)
	}
	for _, e := range g.events {
		text = append(text, e.Message...)
	}
	if strings.Contains(string(text), secret) {
		t.Error("the audit has a secret")
	}
}
