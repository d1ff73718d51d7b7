package commands_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// refusedBefore is a cluster of which a pod is missing, because a rule refused it in the pass before.
func refusedBefore(t *testing.T, kind plan.RefusalKind) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	var pod string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStateless {
			pod = group.PodName(g.Cluster.Resource)
		}
	}
	g.Cluster.KillPod(pod)
	g.Cluster.Tick(time.Minute)
	r := plan.NewRefusal(plan.WrittenPod, pod, kind, "pods", "exceeded quota: pods, requested: pods=1, used: pods=7, limited: pods=7")
	r.Verb, r.Since = "create", g.Cluster.Now().Add(-5*time.Minute)
	text, err := json.Marshal([]plan.Refusal{r})
	if err != nil {
		t.Fatal(err)
	}
	g.Objects = append(g.Objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fdb", Name: live.LeaseName("sample"), Annotations: map[string]string{live.AnnotationRefusals: string(text)},
	}})
	return g
}

func TestEveryViewReportsWhatTheLastPassWasRefused(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"status"}, {"plan"}, {"check"}, {"describe"}} {
		for kind, rule := range map[plan.RefusalKind]string{plan.RefusedByQuota: "ResourceQuota pods", plan.RefusedByPolicy: "an admission policy or webhook pods"} {
			t.Run(args[0]+" after "+string(kind), func(t *testing.T) {
				g := refusedBefore(t, kind)
				g.Run(append(args, "sample")...)
				flat := strings.Join(strings.Fields(g.Out.String()), " ")
				if !strings.Contains(flat, rule) || !strings.Contains(flat, "used: pods=7") {
					t.Errorf("%s does not report the refusal:\n%s%s", args[0], &g.Out, &g.Err)
				}
				if first, _, _ := strings.Cut(g.Out.String(), "\n"); args[0] == "why" && !strings.Contains(first, rule) {
					t.Errorf("the first line does not have the cause: %s", first)
				}
				if strings.Contains(flat, "nothing blocks the next pass") {
					t.Errorf("%s reports that nothing blocks the next pass:\n%s", args[0], &g.Out)
				}
				g.Run(append(args, "sample", "-o", "json")...) // validated against its schema
			})
		}
	}
}

func TestNoViewReportsTheRefusalsOfAnotherClusterOfTheSameName(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"status"}, {"plan"}, {"check"}, {"describe"}} {
		for uid, reports := range map[string]bool{"another": false, string(commandstest.Up(t).Cluster.Resource.UID): true} {
			g := refusedBefore(t, plan.RefusedByQuota)
			g.Objects[len(g.Objects)-1].GetAnnotations()[live.AnnotationRefusalsUID] = uid
			g.Run(append(args, "sample")...)
			flat := strings.Join(strings.Fields(g.Out.String()), " ")
			if strings.Contains(flat, "ResourceQuota pods") != reports {
				t.Errorf("%s of UID %q, want it reported: %t\n%s%s", args[0], uid, reports, &g.Out, &g.Err)
			}
		}
	}
}

// The Lease of a backup outlives it, as that of a cluster does.
func TestTheRefusalsOfABackupAreReportedForItAlone(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"plan"}} {
		for uid, reports := range map[string]bool{"b": true, "another": false} {
			v := commandstest.NewVault(t)
			r := plan.NewRefusal(plan.WrittenDeployment, "nightly-backup-agents", plan.RefusedByQuota, "pods", "exceeded quota: pods, used: pods=7")
			r.Verb, r.Since = "create", v.Cluster.Now().Add(-5*time.Minute)
			text, err := json.Marshal([]plan.Refusal{r})
			if err != nil {
				t.Fatal(err)
			}
			annotations := map[string]string{live.AnnotationRefusals: string(text), live.AnnotationRefusalsUID: uid}
			v.Objects = append(v.Objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: live.BackupLeaseName("nightly"), Annotations: annotations}})
			v.Run(append(args, "fdbbackup/nightly")...)
			if flat := strings.Join(strings.Fields(v.Out.String()), " "); strings.Contains(flat, "ResourceQuota pods") != reports {
				t.Errorf("%s with refusals of UID %q, want them reported: %t\n%s%s", args[0], uid, reports, &v.Out, &v.Err)
			}
		}
	}
}

func TestAViewDoesNotReportTheRefusalOfAnObjectThatExists(t *testing.T) {
	for _, args := range [][]string{{"why"}, {"status"}, {"plan"}, {"check"}} {
		g := refusedBefore(t, plan.RefusedByQuota)
		if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != 0 {
			t.Fatalf("%d: %s", code, &g.Err)
		}
		g.Run(append(args, "sample")...)
		if strings.Contains(g.Out.String(), "ResourceQuota pods") {
			t.Errorf("%s still reports it:\n%s", args[0], &g.Out)
		}
	}
}

func TestCanReplaceAsksWhetherTheSuccessorIsAccepted(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Tick(time.Hour)
	var id string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage {
			id = string(group.ProcessGroupID)
		}
	}
	if code := g.Run("can", "replace", "sample", id); code != exit.ExitDone {
		t.Fatalf("%d: %s%s", code, &g.Out, &g.Err)
	}
	full := plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByQuota, "pods", "exceeded")
	g.Cluster.Reject = func(v1beta2.ProcessClass) *plan.Refusal { return &full }
	if code := g.Run("can", "replace", "sample", id); code != exit.ExitNo || !strings.Contains(g.Out.String(), "G-ADMISSION") {
		t.Errorf("%d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("replace", "sample", id, "--yes"); code != exit.ExitWaiting || g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).IsMarkedForRemoval() {
		t.Errorf("%d: marked although the successor is refused: %s%s", code, &g.Out, &g.Err)
	}
}
