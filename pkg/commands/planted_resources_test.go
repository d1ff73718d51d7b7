package commands_test

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// plantedNode adds secrets and control sequences to a node.
func plantedNode(n *corev1.Node) {
	plantedMeta(&n.ObjectMeta)
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.com/planted", Value: commandstest.PlantedText(), Effect: corev1.TaintEffectNoSchedule})
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: commandstest.PlantedText(), Message: commandstest.PlantedText()})
	n.Status.NodeInfo.KubeletVersion = commandstest.PlantedText()
}

// plantedVault is a backup that runs and a restore, with secrets and control sequences in all fields that can have them.
func plantedVault(t *testing.T) *commandstest.Vault {
	t.Helper()
	v := commandstest.NewVault(t)
	v.Runs()
	v.Nodes = plantedNode
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain}}}}
	commandstest.PlantedPods(&template.ObjectMeta, &template.Spec)
	v.Edit(func(b *v1beta2.FoundationDBBackup) {
		plantedMeta(&b.ObjectMeta)
		b.Spec.PodTemplateSpec, b.Spec.BackupDeploymentMetadata = template, &metav1.ObjectMeta{}
		plantedMeta(b.Spec.BackupDeploymentMetadata)
		b.Spec.CustomParameters = v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter("knob_planted=" + commandstest.SecretShapes[5].Planted(5))}
		applied, _ := json.Marshal(b)
		b.Annotations[corev1.LastAppliedConfigAnnotation] = string(applied)
	})
	v.EditRestore(func(r *v1beta2.FoundationDBRestore) {
		plantedMeta(&r.ObjectMeta)
		r.Spec.CustomParameters = v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter("knob_planted=" + commandstest.SecretShapes[5].Planted(5))}
	})
	v.PlantedAgents()
	for kind, name := range map[string]string{"FoundationDBBackup": "nightly", "FoundationDBRestore": "again", "FoundationDBCluster": "sample"} {
		v.AddEvent(kind, name, corev1.EventTypeWarning, time.Minute)
	}
	for _, o := range v.Objects {
		commandstest.PlantTexts(reflect.ValueOf(o))
	}
	v.Answer = plantedErrors
	return v
}

// plantedErrors are errors of agents in the text that a tool prints about a backup.
func plantedErrors(r admin.Result) admin.Result {
	if !json.Valid(r.Stdout) {
		r.Stdout = append(r.Stdout, "\nRecent Errors (since initialization)\n1.00 minute(s) ago : "+commandstest.PlantedText()+"\n"...)
	}
	return r
}

// plantedFailure is the end of a tool that fails.
func plantedFailure(admin.Result) admin.Result {
	return admin.Result{Stdout: []byte(commandstest.PlantedText()), Stderr: []byte("ERROR: " + commandstest.PlantedText()), ExitCode: 1}
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
			v.Answer = tc.answer
			var reached []string
			for _, words := range append(commandstest.EveryLook(), commandstest.EveryChange()...) {
				v.Run(words...)
				if line := strings.Join(words, " "); v.ExposedNothing(line) {
					reached = append(reached, line)
				}
			}
			for _, line := range tc.reached {
				if !slices.Contains(reached, line) {
					t.Errorf("%s prints nothing that was planted, so that it tests nothing", line)
				}
			}
			v.KeepsNothing()
		})
	}
}

func TestNoReportOfARunbookHasAPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	dir := t.TempDir()
	text := commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n- {name: b, check: 'why ${cluster}'}\n- {name: c, check: 'events ${cluster}'}\n- {name: d, check: 'check ${cluster}'}\n")
	g.Run("run", text, "--state", filepath.Join(dir, "state.json"), "--report", "junit="+filepath.Join(dir, "junit.xml"), "--report", "json="+filepath.Join(dir, "report.json"))
	if !g.ExposedNothing("run") {
		t.Errorf("nothing that was planted is printed, so that this tests nothing: %s%s", &g.Out, &g.Err)
	}
	for _, name := range []string{"state.json", "junit.xml", "report.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	commandstest.KeptNothing(t, dir)
}

func TestTheEvictionWebhookLogsNoPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	log := g.GroupOf(v1beta2.ProcessClassLog)
	g.Objects = slices.DeleteFunc(g.Objects, func(o client.Object) bool { _, is := o.(*corev1.Pod); return is }) // evictions adds them
	g.Evictor = commandstest.PlantedText()
	_, code := g.Evictions(t, []string{log.PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_answers_total{outcome="denied"} 1`, "--act", "--yes", "-v=2")
	if !g.ExposedNothing("eviction-webhook") || code != exit.ExitDone {
		t.Errorf("exit code %d, or the user is not in the log, so that this tests nothing: %s", code, &g.Err)
	}
	g.KeepsNothing()
}

func TestARecoveryPrintsNoPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	tool := g.Tool
	g.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
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
			g.RunIn(ctx, "recover", "plan", "sample", "-o", "json")
			if err := os.WriteFile(path, g.Out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g.RunIn(ctx, strings.Fields(line)...)
		end()
		if reached := g.ExposedNothing(line); planted && !reached {
			t.Errorf("%s prints nothing that was planted, so that it tests nothing: %s%s", line, &g.Out, &g.Err)
		}
	}
	commandstest.KeptNothing(t, filepath.Dir(path))
}

// The ID of the connection string grants access to a database without TLS.
func TestDocumentsOfPlansAndChecksHaveNoConnectionID(t *testing.T) {
	const drifted = "drifted0123456789abcdefghijklmno"
	for name, plan := range map[string]func(*commandstest.Given){
		"a cluster that is reconciled": func(*commandstest.Given) {},
		"a cluster with changes":       func(g *commandstest.Given) { g.Cluster.Resource.Spec.ProcessCounts.Storage = 5 },
		"a status that drifted": func(g *commandstest.Given) {
			s := &g.Cluster.Resource.Status
			s.ConnectionString = strings.Replace(s.ConnectionString, commandstest.ConnectionID(t, s.ConnectionString), drifted, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Readable(commandstest.Up(t))
			ids := []string{commandstest.ConnectionID(t, g.Cluster.Resource.Status.ConnectionString), drifted}
			plan(g)
			for _, line := range []string{"plan sample", "check sample", "reconcile sample --dry-run", "why sample", "status sample", "restart sample --dry-run"} {
				for _, form := range []string{"", "-o json"} {
					g.Run(strings.Fields(line + " " + form)...)
					for _, id := range ids {
						if at := bytes.Index(append(g.Out.Bytes(), g.Err.Bytes()...), []byte(id)); at >= 0 {
							t.Errorf("%s %s has the ID: %s", line, form, append(g.Out.Bytes(), g.Err.Bytes()...)[max(0, at-80):])
						}
					}
				}
			}
		})
	}
}
