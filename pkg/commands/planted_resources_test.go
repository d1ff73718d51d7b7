package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// plantedNode adds secrets and control sequences to a node.
func plantedNode(n *corev1.Node) {
	plantedMeta(&n.ObjectMeta)
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.com/planted", Value: plantedText(), Effect: corev1.TaintEffectNoSchedule})
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: plantedText(), Message: plantedText()})
	n.Status.NodeInfo.KubeletVersion = plantedText()
}

// plantedVault is a backup that runs and a restore, with secrets and control sequences in all fields that can have them.
func plantedVault(t *testing.T) *vault {
	t.Helper()
	v := newVault(t)
	v.runs()
	v.nodes = plantedNode
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain}}}}
	plantedPods(&template.ObjectMeta, &template.Spec)
	v.edit(func(b *v1beta2.FoundationDBBackup) {
		plantedMeta(&b.ObjectMeta)
		b.Spec.PodTemplateSpec, b.Spec.BackupDeploymentMetadata = template, &metav1.ObjectMeta{}
		plantedMeta(b.Spec.BackupDeploymentMetadata)
		b.Spec.CustomParameters = v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter("knob_planted=" + secretShapes[5].planted(5))}
		applied, _ := json.Marshal(b)
		b.Annotations[corev1.LastAppliedConfigAnnotation] = string(applied)
	})
	v.editRestore(func(r *v1beta2.FoundationDBRestore) {
		plantedMeta(&r.ObjectMeta)
		r.Spec.CustomParameters = v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter("knob_planted=" + secretShapes[5].planted(5))}
	})
	v.plantedAgents()
	for kind, name := range map[string]string{"FoundationDBBackup": "nightly", "FoundationDBRestore": "again", "FoundationDBCluster": "sample"} {
		v.addEvent(kind, name, corev1.EventTypeWarning, time.Minute)
	}
	for _, o := range v.objects {
		plantTexts(reflect.ValueOf(o))
	}
	v.answer = plantedErrors
	return v
}

// plantedAgents adds secrets to the deployment of agents, and to their pods.
func (v *vault) plantedAgents() {
	v.t.Helper()
	pods, deployments := &corev1.PodList{}, &appsv1.DeploymentList{}
	if err := v.api.List(v.t.Context(), pods); err != nil || len(pods.Items) == 0 {
		v.t.Fatalf("%d pods of agents: %v", len(pods.Items), err)
	}
	if err := v.api.List(v.t.Context(), deployments); err != nil || len(deployments.Items) == 0 {
		v.t.Fatalf("%d deployments: %v", len(deployments.Items), err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		plantedPods(&pod.ObjectMeta, &pod.Spec)
		if err := v.api.Update(v.t.Context(), pod); err != nil {
			v.t.Fatal(err)
		}
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "Planted", Status: corev1.ConditionFalse})
		plantTexts(reflect.ValueOf(&pod.Status))
		if err := v.api.Status().Update(v.t.Context(), pod); err != nil {
			v.t.Fatal(err)
		}
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse})
		plantTexts(reflect.ValueOf(&d.Status))
		if err := v.api.Status().Update(v.t.Context(), d); err != nil {
			v.t.Fatal(err)
		}
	}
}

// plantedErrors are errors of agents in the text that a tool prints about a backup.
func plantedErrors(r admin.Result) admin.Result {
	if !json.Valid(r.Stdout) {
		r.Stdout = append(r.Stdout, "\nRecent Errors (since initialization)\n1.00 minute(s) ago : "+plantedText()+"\n"...)
	}
	return r
}

// plantedFailure is the end of a tool that fails.
func plantedFailure(admin.Result) admin.Result {
	return admin.Result{Stdout: []byte(plantedText()), Stderr: []byte("ERROR: " + plantedText()), ExitCode: 1}
}

// exposedNothing looks at what a command printed, and returns whether any of it was planted.
func (g *given) exposedNothing(line string) (reached bool) {
	g.t.Helper()
	for stream, text := range map[string]string{"stdout": g.out.String(), "stderr": g.err.String()} {
		if found := exposed(text); found != "" {
			g.t.Errorf("%s: %s has %s", line, stream, found)
		}
	}
	return strings.Contains(g.out.String()+g.err.String(), "planted")
}

func TestNoOutputAboutBackupsHasAPlantedSecret(t *testing.T) {
	for name, tc := range map[string]struct {
		answer  func(admin.Result) admin.Result
		reached []string // lines that print what was planted
	}{
		"tools print more than expected": {plantedErrors, []string{"restore status again", "why fdbrestore/again", "plan fdbrestore/again -o yaml", "events sample"}},
		"tools fail":                     {plantedFailure, []string{"backup status nightly", "restore status again -o json", "backup describe nightly", "backup list --store", "check sample -o junit", "check sample -o markdown", "check sample -o sarif", "reconcile fdbbackup/nightly --yes", "backup pause nightly --yes -o json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := plantedVault(t)
			v.answer = tc.answer
			var reached []string
			for _, words := range append(everyLook(), everyChange()...) {
				v.run(words...)
				if line := strings.Join(words, " "); v.exposedNothing(line) {
					reached = append(reached, line)
				}
			}
			for _, line := range tc.reached {
				if !slices.Contains(reached, line) {
					t.Errorf("%s prints nothing that was planted, so that it tests nothing", line)
				}
			}
			v.keepsNothing()
		})
	}
}

// keepsNothing looks at Events and at the files of runs.
func (g *given) keepsNothing() {
	g.t.Helper()
	for _, e := range g.events {
		if found := exposed(e.Message); found != "" {
			g.t.Errorf("an Event has %s", found)
		}
	}
	keptNothing(g.t, g.env["XDG_STATE_HOME"])
}

func TestNoReportOfARunbookHasAPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	dir := t.TempDir()
	text := book(t, "- {name: a, check: 'status ${cluster}'}\n- {name: b, check: 'why ${cluster}'}\n- {name: c, check: 'events ${cluster}'}\n- {name: d, check: 'check ${cluster}'}\n")
	g.run("run", text, "--state", filepath.Join(dir, "state.json"), "--report", "junit="+filepath.Join(dir, "junit.xml"), "--report", "json="+filepath.Join(dir, "report.json"))
	if !g.exposedNothing("run") {
		t.Errorf("nothing that was planted is printed, so that this tests nothing: %s%s", &g.out, &g.err)
	}
	for _, name := range []string{"state.json", "junit.xml", "report.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	keptNothing(t, dir)
}

func TestTheEvictionWebhookLogsNoPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	log := g.groupOf(v1beta2.ProcessClassLog)
	g.objects = slices.DeleteFunc(g.objects, func(o client.Object) bool { _, is := o.(*corev1.Pod); return is }) // evictions adds them
	g.evictor = plantedText()
	_, code := g.evictions(t, []string{log.PodName(g.cluster.Resource)}, `kubectl_fdb_eviction_answers_total{outcome="denied"} 1`, "--act", "--yes", "-v=2")
	if !g.exposedNothing("eviction-webhook") || code != exit.ExitDone {
		t.Errorf("exit code %d, or the user is not in the log, so that this tests nothing: %s", code, &g.err)
	}
	g.keepsNothing()
}

func TestARecoveryPrintsNoPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	tool := g.tool
	g.tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		opened, err := tool(pod, container)
		return plantedPod{opened, true}, err
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	for line, planted := range map[string]bool{
		"recover collect sample": true, "recover collect sample -o json": true, "recover plan sample": false, "recover plan sample -o json": false, "recover verify sample -o json": false,
		"recover apply sample --plan " + path + " --yes --reason test": false,
	} {
		ctx, end := context.WithTimeout(t.Context(), 3*time.Second)
		if strings.HasPrefix(line, "recover apply") {
			g.runIn(ctx, "recover", "plan", "sample", "-o", "json")
			if err := os.WriteFile(path, g.out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g.runIn(ctx, strings.Fields(line)...)
		end()
		if reached := g.exposedNothing(line); planted && !reached {
			t.Errorf("%s prints nothing that was planted, so that it tests nothing: %s%s", line, &g.out, &g.err)
		}
	}
	keptNothing(t, filepath.Dir(path))
}

// The ID of the connection string grants access to a database without TLS.
func TestDocumentsOfPlansAndChecksHaveNoConnectionID(t *testing.T) {
	const drifted = "drifted0123456789abcdefghijklmno"
	for name, plan := range map[string]func(*given){
		"a cluster that is reconciled": func(*given) {},
		"a cluster with changes":       func(g *given) { g.cluster.Resource.Spec.ProcessCounts.Storage = 5 },
		"a status that drifted": func(g *given) {
			s := &g.cluster.Resource.Status
			s.ConnectionString = strings.Replace(s.ConnectionString, connectionID(t, s.ConnectionString), drifted, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := readable(up(t))
			ids := []string{connectionID(t, g.cluster.Resource.Status.ConnectionString), drifted}
			plan(g)
			for _, line := range []string{"plan sample", "check sample", "reconcile sample --dry-run", "why sample", "status sample", "restart sample --dry-run"} {
				for _, form := range []string{"", "-o json"} {
					g.run(strings.Fields(line + " " + form)...)
					for _, id := range ids {
						if at := bytes.Index(append(g.out.Bytes(), g.err.Bytes()...), []byte(id)); at >= 0 {
							t.Errorf("%s %s has the ID: %s", line, form, append(g.out.Bytes(), g.err.Bytes()...)[max(0, at-80):])
						}
					}
				}
			}
		})
	}
}
