package commands

import (
	"context"
	"errors"
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// labeledAs is the head of an object with the labels of a cluster.
func labeledAs(cluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "fdb", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{v1beta2.LabelClusterName: cluster}, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0))}
}

// littered is a reconciled cluster beside a pod, a service and a PVC without a process group, and an
// exclusion of nothing.
func littered(t *testing.T) *given {
	t.Helper()
	g := rested(t)
	pod := &corev1.Pod{ObjectMeta: labeledAs("sample", "stray"), Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.99.0.1"}}
	service := &corev1.Service{ObjectMeta: labeledAs("sample", "stray")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: labeledAs("sample", "stray-data")}
	g.objects = append(g.objects, pod, service, claim)
	g.exclude("10.99.0.9")
	g.cluster.Tick(20 * time.Minute) // since the last recovery
	g.cluster.Services["stray"], g.cluster.Volumes["stray-data"] = service, claim
	return g
}

// removing lets the simulated cluster follow what is deleted in the API server.
func (g *given) removing(fails error) func(e *session.Env) {
	return func(e *session.Env) {
		api := g.client()
		watched, is := api.(client.WithWatch)
		if !is {
			g.t.Fatal("no watch")
		}
		api = interceptor.NewClient(watched, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if fails != nil {
				return fails
			}
			var options client.DeleteOptions
			options.ApplyOptions(opts)
			if p := options.Preconditions; p == nil || p.UID == nil || p.ResourceVersion == nil {
				g.t.Errorf("%T %s is deleted without preconditions", o, o.GetName())
			}
			return c.Delete(ctx, o)
		}})
		e.Client = func() (client.Client, error) { return api, nil }
	}
}

func (g *given) gc(change func(*session.Env), args ...string) int {
	g.t.Helper()
	g.out.Reset()
	g.err.Reset()
	env := g.environment()
	change(env)
	code := Run(g.t.Context(), env, append([]string{"gc"}, args...))
	if jsonRequested(args) {
		valid(g.t, strings.Join(args, " "), g.out.Bytes())
	}
	return code
}

func TestGCRemovesItemsWithoutAnOwnerAfterApproval(t *testing.T) {
	g := littered(t)
	change := g.removing(nil)
	if code := g.gc(change, "sample", "--dry-run"); code != exit.ExitNo || !strings.Contains(g.out.String(), "10.99.0.9") || !strings.Contains(g.out.String(), "3 items without an owner, 2 to remove, 1 kept") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if code := g.gc(change, "sample"); code != exit.ExitUnconfirmed || !strings.Contains(g.fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if code := g.gc(change, "sample", "--yes", "--reason", "test", "-o", "json"); code != exit.ExitDone || strings.Count(g.out.String(), `"outcome": "removed"`) != 2 {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if strings.Contains(g.fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("the exclusion has not ended: %s", g.fdbcli("exclude"))
	}
	subjects := []string{}
	for _, e := range g.audited() {
		if e.Stage == "GC" && e.Result == "done" && e.Reason == "test" {
			subjects = append(subjects, e.Subject)
		}
	}
	if len(subjects) != 2 {
		t.Errorf("audited: %v", subjects)
	}
	delete(g.cluster.Services, "stray")
	if code := g.gc(change, "sample", "--yes"); code != exit.ExitDone || !strings.Contains(g.out.String(), "0 to remove") {
		t.Errorf("again, exit code %d: %s%s", code, &g.out, &g.err)
	}
}

func TestGCRemovesNothingIfTheAuditFileCannotBeContinued(t *testing.T) {
	g := littered(t)
	g.unwritable()
	if code := g.gc(g.removing(nil), "sample", "--yes"); code != exit.ExitRefused || !strings.Contains(g.err.String(), "G-AUDIT") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if g.cluster.Services["stray"] == nil || !strings.Contains(g.fdbcli("exclude"), "10.99.0.9") {
		t.Error("something was removed")
	}
}

func TestAPVCWithoutAnOwnerIsRemovedOnlyIfNamed(t *testing.T) {
	g := littered(t)
	if code := g.gc(g.removing(nil), "sample", "--dry-run", "--pvc", "other"); code != exit.ExitUsage || !strings.Contains(g.err.String(), "--pvc other") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if code := g.gc(g.removing(nil), "sample", "--yes", "--pvc", "stray-data", "-o", "json"); code != exit.ExitDone || strings.Count(g.out.String(), `"outcome": "removed"`) != 3 {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}

// A volume whose data nothing else has is never removed, not even by name.
func TestGCNeverRemovesAPVCThatMayHaveTheLastCopy(t *testing.T) {
	g := littered(t)
	g.cluster.KillServers(g.podsOf("storage")[0])
	g.cluster.Tick(3 * time.Minute)
	for _, name := range []string{g.podsOf("storage")[0]} {
		g.cluster.Broken = map[string]bool{name: true}
	}
	g.cluster.KillServers(g.podsOf("storage")[0])
	g.cluster.Tick(3 * time.Minute)
	if code := g.gc(g.removing(nil), "sample", "--yes", "--pvc", "stray-data"); code != exit.ExitRefused || !strings.Contains(g.err.String(), "may have the last copy") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}

func TestGCReportsAFailedDeletion(t *testing.T) {
	g := littered(t)
	if code := g.gc(g.removing(errors.New("the object was modified")), "sample", "--yes", "-o", "json"); code != exit.ExitPartly || !strings.Contains(g.out.String(), `"outcome": "failed"`) || !strings.Contains(g.out.String(), "the object was modified") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}

// An exclusion ends by the rules of include: not soon after a recovery.
func TestGCWaitsAfterARecoveryBeforeEndingExclusions(t *testing.T) {
	g := littered(t)
	delete(g.cluster.Services, "stray")
	g.cluster.FDB.Databases()[0].Recover()
	g.cluster.Tick(time.Minute)
	if code := g.gc(g.removing(nil), "sample", "--yes"); code != exit.ExitWaiting || !strings.Contains(g.err.String(), "exclusions cannot end yet") || !strings.Contains(g.fdbcli("exclude"), "10.99.0.9") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}

// Of a resource that does not exist, what cannot be needed for a recovery is removed.
func TestGCRemovesLeftoversOfADeletedCluster(t *testing.T) {
	g := newGiven(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "kubectl-fdb-gone", UID: "lease"}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: labeledAs("gone", "gone-storage-1-data")}
	config := &corev1.ConfigMap{ObjectMeta: labeledAs("gone", "gone-config")}
	foreign := &corev1.ConfigMap{ObjectMeta: labeledAs("sample", "sample-config")}
	g.objects = append(g.objects, lease, config, foreign)
	before := len(g.objects)
	g.objects = append(g.objects, claim)
	if code := g.gc(g.removing(nil), "gone", "--yes", "-o", "json"); code != exit.ExitDone || strings.Count(g.out.String(), `"outcome": "removed"`) != 1 || !strings.Contains(g.out.String(), `"code": "may-hold-data"`) {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	g.objects = g.objects[:before]
	if code := g.gc(g.removing(nil), "gone", "--yes", "-o", "json"); code != exit.ExitDone || strings.Count(g.out.String(), `"outcome": "removed"`) != 2 || strings.Contains(g.out.String(), "sample-config") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if code := g.gc(g.removing(nil), "never", "--yes"); code != exit.ExitUsage || !strings.Contains(g.err.String(), "never not found") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}
