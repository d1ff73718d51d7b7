package gc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// labeledAs is the head of an object with the labels of a cluster.
func labeledAs(cluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "fdb", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{v1beta2.LabelClusterName: cluster}, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0))}
}

// littered is a reconciled cluster beside a pod, a service and a PVC without a process group, and an
// exclusion of nothing.
func littered(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Rested(t)
	pod := &corev1.Pod{ObjectMeta: labeledAs("sample", "stray"), Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.99.0.1"}}
	service := &corev1.Service{ObjectMeta: labeledAs("sample", "stray")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: labeledAs("sample", "stray-data")}
	g.Objects = append(g.Objects, pod, service, claim)
	g.Exclude("10.99.0.9")
	g.Cluster.Tick(20 * time.Minute) // since the last recovery
	g.Cluster.Services["stray"], g.Cluster.Volumes["stray-data"] = service, claim
	return g
}

func TestGCRemovesItemsWithoutAnOwnerAfterApproval(t *testing.T) {
	g := littered(t)
	change := g.Removing(nil)
	if code := g.GC(change, "sample", "--dry-run"); code != exit.ExitNo || !strings.Contains(g.Out.String(), "10.99.0.9") || !strings.Contains(g.Out.String(), "3 items without an owner, 2 to remove, 1 kept") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.GC(change, "sample"); code != exit.ExitUnconfirmed || !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.GC(change, "sample", "--yes", "--reason", "test", "-o", "json"); code != exit.ExitDone || strings.Count(g.Out.String(), `"outcome": "removed"`) != 2 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("the exclusion has not ended: %s", g.Fdbcli("exclude"))
	}
	subjects := []string{}
	for _, e := range g.Audited() {
		if e.Stage == "GC" && e.Result == "done" && e.Reason == "test" {
			subjects = append(subjects, e.Subject)
		}
	}
	if len(subjects) != 2 {
		t.Errorf("audited: %v", subjects)
	}
	delete(g.Cluster.Services, "stray")
	if code := g.GC(change, "sample", "--yes"); code != exit.ExitDone || !strings.Contains(g.Out.String(), "0 to remove") {
		t.Errorf("again, exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestGCRemovesNothingIfTheAuditFileCannotBeContinued(t *testing.T) {
	g := littered(t)
	g.Unwritable()
	if code := g.GC(g.Removing(nil), "sample", "--yes"); code != exit.ExitRefused || !strings.Contains(g.Err.String(), "G-AUDIT") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if g.Cluster.Services["stray"] == nil || !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Error("something was removed")
	}
}

// A prompt can wait for hours: what held before it is no proof.
func TestGCRemovesNothingOnceAnOperatorRunsThatStartedDuringThePrompt(t *testing.T) {
	g := littered(t)
	s := g.Sharing(&commandstest.Contended{RefuseAt: 2})
	g.Input = new("y\n")
	code := g.GC(g.Removing(nil), "sample")
	if code != exit.ExitRefused || !strings.Contains(g.Err.String(), "G-OPERATOR") || s.Evaluated != 2 {
		t.Errorf("exit code %d after %d evaluations: %s%s", code, s.Evaluated, &g.Out, &g.Err)
	}
	if g.Cluster.Services["stray"] == nil || !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Error("something was removed")
	}
}

// Ending exclusions is a pass of its own, which can begin long after the Lease was taken.
func TestGCEndsNoExclusionOnceAnOperatorRunsThatStartedAfterTheLease(t *testing.T) {
	g := littered(t)
	s := g.Sharing(&commandstest.Contended{RefuseAt: 2})
	code := g.GC(g.Removing(nil), "sample", "--yes")
	if code != exit.ExitRefused || !strings.Contains(g.Err.String(), "G-OPERATOR") || s.Evaluated != 2 {
		t.Errorf("exit code %d after %d evaluations: %s%s", code, s.Evaluated, &g.Out, &g.Err)
	}
	if !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Error("the exclusion has ended")
	}
}

func TestGCRemovesNothingBesideTheOperationOfAnotherRun(t *testing.T) {
	g := littered(t)
	g.Sharing(&commandstest.Contended{Other: &reconcile.Operation{ID: "run7", Command: "replace sample storage-1 --wait", User: "ann@laptop"}})
	if code := g.GC(g.Removing(nil), "sample", "--yes"); code != exit.ExitConflict || !strings.Contains(g.Err.String(), "another operation is active: run7") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Error("something was removed")
	}
	if code := g.GC(g.Removing(nil), "sample", "--yes", "--join"); code != exit.ExitDone || strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("with --join, exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestGCIsAnOperationWithEvents(t *testing.T) {
	g := littered(t)
	s := g.Sharing(&commandstest.Contended{})
	if code := g.GC(g.Removing(nil), "sample", "--yes", "--reason", "CHG-42"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if len(s.Own) != 1 || s.Own[0].ID != "run1" || s.Own[0].Command != "gc sample" || s.Own[0].Reason != "CHG-42" || s.Ends != 1 {
		t.Errorf("operations %+v, %d ended", s.Own, s.Ends)
	}
	var reasons []string
	for _, e := range g.Events {
		if e.InvolvedObject.UID == "1" && e.ReportingInstance == "run1" {
			reasons = append(reasons, e.Reason)
		}
	}
	if !slices.Contains(reasons, "RemoveService") || !slices.Contains(reasons, "RemoveExclusion") {
		t.Errorf("Events %q", reasons)
	}
}

func TestGCWithAPlanRemovesExactlyWhatWasSaved(t *testing.T) {
	save := func(t *testing.T, g *commandstest.Given, args ...string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "plan.json")
		if code := g.GC(g.Removing(nil), append([]string{"sample", "--dry-run", "-o", "json"}, args...)...); code != exit.ExitNo {
			t.Fatalf("exit code %d: %s", code, &g.Err)
		}
		if err := os.WriteFile(path, g.Out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		saved  []string
		change func(t *testing.T, g *commandstest.Given, path string)
		args   []string
		want   int
		says   string
	}{
		"as it was saved":                 {want: exit.ExitDone, says: "removed"},
		"a PVC that it names":             {saved: []string{"--pvc", "stray-data"}, want: exit.ExitDone, says: "stray-data"},
		"one item more":                   {change: func(_ *testing.T, g *commandstest.Given, _ string) { g.Exclude("10.99.0.8") }, want: exit.ExitConflict, says: "to be removed now, and not approved: Exclusion/10.99.0.8"},
		"one item less":                   {change: func(_ *testing.T, g *commandstest.Given, _ string) { delete(g.Cluster.Services, "stray") }, want: exit.ExitConflict, says: "approved, and not to be removed any more: Service/stray"},
		"another cluster of that name":    {change: func(_ *testing.T, g *commandstest.Given, _ string) { g.Cluster.Resource.UID = "2" }, want: exit.ExitConflict, says: "the FoundationDBCluster is another one"},
		"a file that was edited":          {change: replacesIn(`"10.99.0.9"`, `"10.99.0.7"`), want: exit.ExitUsage, says: "it was modified: items"},
		"a list of another cluster":       {change: replacesIn(`"cluster": "sample"`, `"cluster": "other"`), want: exit.ExitUsage, says: "it was modified: metadata"},
		"a document of another kind":      {change: replacesIn(`"kind": "OrphanList"`, `"kind": "Plan"`), want: exit.ExitUsage, says: `unsupported kind "Plan"`},
		"a list of another version":       {change: replacesIn("cli.kubectl-fdb/v2", "cli.kubectl-fdb/v9"), want: exit.ExitUsage, says: "must be cli.kubectl-fdb/v2"},
		"together with a dry run":         {args: []string{"--dry-run"}, want: exit.ExitUsage, says: "--dry-run conflicts with --plan"},
		"a dry run of an unknown kind":    {args: []string{"--dry-run=maybe"}, want: exit.ExitUsage, says: "--dry-run must be none, client or server"},
		"an override that does not exist": {args: []string{"--override", "G-GC=x"}, want: exit.ExitUsage, says: "gate cannot be overridden"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := littered(t)
			path := save(t, g, tc.saved...)
			if tc.change != nil {
				tc.change(t, g, path)
			}
			code := g.GC(g.Removing(nil), append([]string{"sample", "--plan", path, "--yes"}, tc.args...)...)
			if output := g.Out.String() + g.Err.String(); code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
			if gone := !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9"); gone != (tc.want == exit.ExitDone) {
				t.Errorf("removed: %t", gone)
			}
		})
	}
}

// replacesIn changes a part of a file.
func replacesIn(from, to string) func(*testing.T, *commandstest.Given, string) {
	return func(t *testing.T, _ *commandstest.Given, path string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), from) {
			t.Fatalf("%s has no %s: %v", text, from, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServerDryRunOfGCAsksTheAPIServerAndRemovesNothing(t *testing.T) {
	g := littered(t)
	deleted := 0
	asking := func(answer error) func(*session.Env) {
		return func(e *session.Env) {
			watched, is := g.Client().(client.WithWatch)
			if !is {
				t.Fatal("no watch")
			}
			api := interceptor.NewClient(watched, interceptor.Funcs{Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, opts ...client.DeleteOption) error {
				var options client.DeleteOptions
				options.ApplyOptions(opts)
				if !slices.Equal(options.DryRun, []string{metav1.DryRunAll}) || options.Preconditions == nil {
					t.Errorf("it is no dry run with preconditions: %+v", options)
				}
				deleted++
				return answer
			}})
			e.Client = func() (client.Client, error) { return api, nil }
		}
	}
	if code := g.GC(asking(nil), "sample", "--dry-run=server"); code != exit.ExitNo || deleted != 1 || !strings.Contains(g.Err.String(), "the API server accepts 1 of 2 actions; not checked: exclusions") {
		t.Errorf("exit code %d, asked %d times: %s%s", code, deleted, &g.Out, &g.Err)
	}
	if code := g.GC(asking(errors.New("a webhook objects")), "sample", "--dry-run=server"); code != exit.ExitRefused || !strings.Contains(g.Err.String(), "a webhook objects") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Error("the exclusion was removed")
	}
}

func TestAPVCWithoutAnOwnerIsRemovedOnlyIfNamed(t *testing.T) {
	g := littered(t)
	if code := g.GC(g.Removing(nil), "sample", "--dry-run", "--pvc", "other"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "--pvc other") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.GC(g.Removing(nil), "sample", "--yes", "--pvc", "stray-data", "-o", "json"); code != exit.ExitDone || strings.Count(g.Out.String(), `"outcome": "removed"`) != 3 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// A volume whose data nothing else has is never removed, not even by name.
func TestGCNeverRemovesAPVCThatMayHaveTheLastCopy(t *testing.T) {
	g := littered(t)
	g.Cluster.KillServers(g.PodsOf("storage")[0])
	g.Cluster.Tick(3 * time.Minute)
	for _, name := range []string{g.PodsOf("storage")[0]} {
		g.Cluster.Broken = map[string]bool{name: true}
	}
	g.Cluster.KillServers(g.PodsOf("storage")[0])
	g.Cluster.Tick(3 * time.Minute)
	if code := g.GC(g.Removing(nil), "sample", "--yes", "--pvc", "stray-data"); code != exit.ExitRefused || !strings.Contains(g.Err.String(), "may have the last copy") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestGCReportsAFailedDeletion(t *testing.T) {
	g := littered(t)
	if code := g.GC(g.Removing(errors.New("the object was modified")), "sample", "--yes", "-o", "json"); code != exit.ExitPartly || !strings.Contains(g.Out.String(), `"outcome": "failed"`) || !strings.Contains(g.Out.String(), "the object was modified") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// An exclusion ends by the rules of include: not soon after a recovery.
func TestGCWaitsAfterARecoveryBeforeEndingExclusions(t *testing.T) {
	g := littered(t)
	delete(g.Cluster.Services, "stray")
	g.Cluster.FDB.Databases()[0].Recover()
	g.Cluster.Tick(time.Minute)
	if code := g.GC(g.Removing(nil), "sample", "--yes"); code != exit.ExitWaiting || !strings.Contains(g.Err.String(), "exclusions cannot end yet") || !strings.Contains(g.Fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// Of a resource that does not exist, what cannot be needed for a recovery is removed.
func TestGCRemovesLeftoversOfADeletedCluster(t *testing.T) {
	g := commandstest.NewGiven(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "kubectl-fdb-gone", UID: "lease"}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: labeledAs("gone", "gone-storage-1-data")}
	config := &corev1.ConfigMap{ObjectMeta: labeledAs("gone", "gone-config")}
	foreign := &corev1.ConfigMap{ObjectMeta: labeledAs("sample", "sample-config")}
	g.Objects = append(g.Objects, lease, config, foreign)
	before := len(g.Objects)
	g.Objects = append(g.Objects, claim)
	if code := g.GC(g.Removing(nil), "gone", "--yes", "-o", "json"); code != exit.ExitDone || strings.Count(g.Out.String(), `"outcome": "removed"`) != 1 || !strings.Contains(g.Out.String(), `"code": "may-hold-data"`) {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Objects = g.Objects[:before]
	if code := g.GC(g.Removing(nil), "gone", "--yes", "-o", "json"); code != exit.ExitDone || strings.Count(g.Out.String(), `"outcome": "removed"`) != 2 || strings.Contains(g.Out.String(), "sample-config") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.GC(g.Removing(nil), "never", "--yes"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "never not found") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
