package commands_test

import (
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
			g := commandstest.NewGiven(t)
			if tc.args[0] == "replace" {
				g = commandstest.Up(t)
				if err := os.Remove(g.AuditFile()); err != nil {
					t.Fatal(err)
				}
			}
			if code := g.Run(tc.args...); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			counts := map[string]int{}
			for _, e := range g.Audited() {
				counts[e.Action]++
				want := audit.Run{RunID: "run1", Who: "me@here pid 1", Context: "test", Namespace: "fdb", Cluster: "sample", UID: "1", Command: tc.command, Typed: strings.TrimSuffix(tc.command, " -n fdb --context test"), Reason: tc.reason}
				if e.Run != want || e.Result != inspect.ActionDone || e.Words == "" || e.Time.IsZero() {
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
	g := commandstest.NewGiven(t)
	for _, args := range [][]string{{"plan", "sample"}, {"reconcile", "sample", "--dry-run"}, {"status", "sample"}} {
		g.Run(args...)
	}
	if _, err := os.Stat(g.AuditFile()); !os.IsNotExist(err) {
		t.Errorf("there is an audit file: %v", err)
	}
	if len(g.Events) > 0 {
		t.Errorf("there are Events: %v", g.Events)
	}
}

func TestSimilarActionsOfAPassAreOneEventOnTheCluster(t *testing.T) {
	g := commandstest.NewGiven(t)
	if code := g.Run("reconcile", "sample", "--yes"); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	var pods []*corev1.Event
	for _, e := range g.Events {
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

func TestNothingIsChangedIfTheAuditFileCannotBeContinued(t *testing.T) {
	for _, line := range []string{"reconcile sample --yes", "reconcile sample --yes --wait", "replace sample storage-71671 --yes", "restart sample --class storage --yes", "pause sample", "cordon node-1 -c sample --evacuate=none"} {
		t.Run(line, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.ProcessCounts.Storage++
			g.Cluster.Resource.Generation++
			g.Unwritable()
			before, err := json.Marshal([]any{g.Cluster.Resource, g.Cluster.Pods})
			if err != nil {
				t.Fatal(err)
			}
			if code := g.Run(strings.Fields(line)...); code != exit.ExitRefused {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			for _, want := range []string{"G-AUDIT: can the audit file be continued? ", "free space, or set XDG_STATE_HOME to another directory"} {
				if !strings.Contains(g.Out.String()+g.Err.String(), want) {
					t.Errorf("%q is not printed: %s%s", want, &g.Out, &g.Err)
				}
			}
			after, err := json.Marshal([]any{g.Cluster.Resource, g.Cluster.Pods})
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
	g := commandstest.Up(t)
	g.Unwritable()
	for _, line := range []string{"status sample", "reconcile sample --dry-run", "reconcile sample --yes"} { // the last has nothing to do
		if code := g.Run(strings.Fields(line)...); code != exit.ExitDone {
			t.Errorf("%s: exit code %d: %s", line, code, &g.Err)
		}
	}
}

// What is half done is completed: a disk that fills up in between is reported once.
func TestARunThatHasBegunContinuesWithoutTheAuditFile(t *testing.T) {
	g := commandstest.NewGiven(t)
	broken := false
	g.Clock.OnTimer = func(time.Duration) bool {
		if !broken && len(g.Cluster.Pods) > 0 {
			broken = true
			g.Unwritable()
		}
		return false
	}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone || !broken {
		t.Errorf("exit code %d, without a file since some time: %t: %s", code, broken, &g.Err)
	}
	if n := strings.Count(g.Err.String(), "warning: no audit file is written: "); n != 1 {
		t.Errorf("printed %d times, want once: %s", n, &g.Err)
	}
}

// Where no file is possible, Events remain: that is reported once, and the command does all its work.
func TestCommandsContinueWhereNoAuditFileIsPossible(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		says  string
	}{
		"the folder cannot be made": {
			given: func(g *commandstest.Given) {
				file := filepath.Join(g.T.TempDir(), "file")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					g.T.Fatal(err)
				}
				g.Env["XDG_STATE_HOME"] = file
			},
			says: "warning: no audit file is written: create the directory of the audit file: ",
		},
		"there is no home": {
			given: func(g *commandstest.Given) { delete(g.Env, "XDG_STATE_HOME") },
			says:  "warning: no audit file is written: cannot determine the path of the audit file: set XDG_STATE_HOME or HOME",
		},
		"Events are not allowed": {
			given: func(g *commandstest.Given) { g.Denied = []string{"create events"} },
			says:  `required permissions: "create events" and "patch events" in namespace fdb`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			tc.given(g)
			if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			if got := strings.Count(g.Err.String(), tc.says); got != 1 {
				t.Errorf("%q is printed %d times, want once: %s", tc.says, got, &g.Err)
			}
		})
	}
}

// Objects have secrets in them: variables of pods, for example.
func TestAuditEntriesAndEventsContainNoObjectContent(t *testing.T) {
	g := commandstest.NewGiven(t)
	const secret = "correct horse battery staple"
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "PASSPHRASE", Value: secret}}},
	}}}
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: template}}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	found := false
	for _, pod := range g.Cluster.Pods {
		for _, c := range pod.Spec.Containers {
			for _, v := range c.Env {
				found = found || v.Value == secret
			}
		}
	}
	text, err := os.ReadFile(g.AuditFile())
	if err != nil || !found {
		t.Fatalf("%v, and some pod has the variable: %t", err, found)
	}
	for _, e := range g.Events {
		text = append(text, e.Message...)
	}
	if strings.Contains(string(text), secret) {
		t.Error("the audit has a secret")
	}
}
