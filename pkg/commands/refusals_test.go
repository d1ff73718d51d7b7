package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// refusedBefore is a cluster of which a pod is missing, because a rule refused it in the pass before.
func refusedBefore(t *testing.T, kind plan.RefusalKind) *given {
	t.Helper()
	g := up(t)
	var pod string
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStateless {
			pod = group.PodName(g.cluster.Resource)
		}
	}
	g.cluster.KillPod(pod)
	g.cluster.Tick(time.Minute)
	r := plan.NewRefusal(plan.WrittenPod, pod, kind, "pods", "exceeded quota: pods, requested: pods=1, used: pods=7, limited: pods=7")
	r.Verb, r.Since = "create", g.cluster.Now().Add(-5*time.Minute)
	text, err := json.Marshal([]plan.Refusal{r})
	if err != nil {
		t.Fatal(err)
	}
	g.objects = append(g.objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fdb", Name: live.LeaseName("sample"), Annotations: map[string]string{live.AnnotationRefusals: string(text)},
	}})
	return g
}

func TestEveryViewReportsWhatTheLastPassWasRefused(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"status"}, {"plan"}, {"check"}, {"describe"}} {
		for kind, rule := range map[plan.RefusalKind]string{plan.RefusedByQuota: "ResourceQuota pods", plan.RefusedByPolicy: "an admission policy or webhook pods"} {
			t.Run(args[0]+" after "+string(kind), func(t *testing.T) {
				g := refusedBefore(t, kind)
				g.run(append(args, "sample")...)
				flat := strings.Join(strings.Fields(g.out.String()), " ")
				if !strings.Contains(flat, rule) || !strings.Contains(flat, "used: pods=7") {
					t.Errorf("%s does not report the refusal:\n%s%s", args[0], &g.out, &g.err)
				}
				if first, _, _ := strings.Cut(g.out.String(), "\n"); args[0] == "why" && !strings.Contains(first, rule) {
					t.Errorf("the first line does not have the cause: %s", first)
				}
				if strings.Contains(flat, "nothing blocks the next pass") {
					t.Errorf("%s reports that nothing blocks the next pass:\n%s", args[0], &g.out)
				}
				g.run(append(args, "sample", "-o", "json")...) // validated against its schema
			})
		}
	}
}

func TestNoViewReportsTheRefusalsOfAnotherClusterOfTheSameName(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"status"}, {"plan"}, {"check"}, {"describe"}} {
		for uid, reports := range map[string]bool{"another": false, string(up(t).cluster.Resource.UID): true} {
			g := refusedBefore(t, plan.RefusedByQuota)
			g.objects[len(g.objects)-1].GetAnnotations()[live.AnnotationRefusalsUID] = uid
			g.run(append(args, "sample")...)
			flat := strings.Join(strings.Fields(g.out.String()), " ")
			if strings.Contains(flat, "ResourceQuota pods") != reports {
				t.Errorf("%s of UID %q, want it reported: %t\n%s%s", args[0], uid, reports, &g.out, &g.err)
			}
		}
	}
}

// The Lease of a backup outlives it, as that of a cluster does.
func TestTheRefusalsOfABackupAreReportedForItAlone(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"plan"}} {
		for uid, reports := range map[string]bool{"b": true, "another": false} {
			v := newVault(t)
			r := plan.NewRefusal(plan.WrittenDeployment, "nightly-backup-agents", plan.RefusedByQuota, "pods", "exceeded quota: pods, used: pods=7")
			r.Verb, r.Since = "create", v.cluster.Now().Add(-5*time.Minute)
			text, err := json.Marshal([]plan.Refusal{r})
			if err != nil {
				t.Fatal(err)
			}
			annotations := map[string]string{live.AnnotationRefusals: string(text), live.AnnotationRefusalsUID: uid}
			v.objects = append(v.objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: live.BackupLeaseName("nightly"), Annotations: annotations}})
			v.run(append(args, "fdbbackup/nightly")...)
			if flat := strings.Join(strings.Fields(v.out.String()), " "); strings.Contains(flat, "ResourceQuota pods") != reports {
				t.Errorf("%s with refusals of UID %q, want them reported: %t\n%s%s", args[0], uid, reports, &v.out, &v.err)
			}
		}
	}
}

func TestAViewDoesNotReportTheRefusalOfAnObjectThatExists(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"status"}, {"plan"}, {"check"}} {
		g := refusedBefore(t, plan.RefusedByQuota)
		if code := g.run("reconcile", "sample", "--yes", "--wait"); code != 0 {
			t.Fatalf("%d: %s", code, &g.err)
		}
		g.run(append(args, "sample")...)
		if strings.Contains(g.out.String(), "ResourceQuota pods") {
			t.Errorf("%s still reports it:\n%s", args[0], &g.out)
		}
	}
}

func TestCanReplaceAsksWhetherTheSuccessorIsAccepted(t *testing.T) {
	g := up(t)
	g.cluster.Tick(time.Hour)
	var id string
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage {
			id = string(group.ProcessGroupID)
		}
	}
	if code := g.run("can", "replace", "sample", id); code != exit.ExitDone {
		t.Fatalf("%d: %s%s", code, &g.out, &g.err)
	}
	full := plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByQuota, "pods", "exceeded")
	g.cluster.Reject = func(v1beta2.ProcessClass) *plan.Refusal { return &full }
	if code := g.run("can", "replace", "sample", id); code != exit.ExitNo || !strings.Contains(g.out.String(), "G-ADMISSION") {
		t.Errorf("%d: %s%s", code, &g.out, &g.err)
	}
	if code := g.run("replace", "sample", id, "--yes"); code != exit.ExitWaiting || g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).IsMarkedForRemoval() {
		t.Errorf("%d: marked although the successor is refused: %s%s", code, &g.out, &g.err)
	}
}
