package commands_test

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// plantedMeta adds secrets and control sequences to the annotations of an object.
func plantedMeta(meta *metav1.ObjectMeta) {
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	for i, s := range commandstest.SecretShapes {
		meta.Annotations["example.com/"+strings.ToLower(s.Name)] = s.Planted(i)
	}
	meta.Annotations["example.com/text"] = commandstest.PlantedText()
}

// plantedObjects adds secrets to all objects around the pods.
func plantedObjects(g *commandstest.Given) {
	for _, claim := range g.Cluster.Volumes {
		plantedMeta(&claim.ObjectMeta)
		claim.Status.Conditions = append(claim.Status.Conditions, corev1.PersistentVolumeClaimCondition{Type: "Planted", Status: corev1.ConditionFalse})
		commandstest.PlantTexts(reflect.ValueOf(&claim.Status))
		g.AddEvent("PersistentVolumeClaim", claim.Name, corev1.EventTypeWarning, time.Minute)
	}
	for _, service := range g.Cluster.Services {
		plantedMeta(&service.ObjectMeta)
	}
	plantedMeta(&g.Cluster.ConfigMap.ObjectMeta)
	g.Cluster.ConfigMap.Data["planted"] = commandstest.PlantedText()
}

// plantedDocument sets texts of a status document that processes and clients choose.
func plantedDocument(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			if _, is := child.(string); is && slices.Contains([]string{"description", "log_group", "command_line", "messages", "reason"}, key) {
				v[key] = commandstest.PlantedText()
			}
			plantedDocument(child)
		}
	case []any:
		for _, child := range v {
			plantedDocument(child)
		}
	}
}

// plantedPod is a pod whose programs print what others have planted.
type plantedPod struct {
	admin.Transport
	fails bool
}

func (p plantedPod) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	r, err := p.Transport.Run(ctx, c)
	if p.fails {
		return admin.Result{Stdout: []byte(commandstest.PlantedText()), Stderr: []byte(commandstest.PlantedText()), ExitCode: 1}, err
	}
	var document map[string]any
	if json.Unmarshal(r.Stdout, &document) == nil {
		plantedDocument(document)
		r.Stdout, _ = json.Marshal(document)
	}
	return r, err
}

// plantedCluster is a cluster with secrets and control sequences in all fields that can have them.
func plantedCluster(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	commandstest.PlantedSpec(g.Cluster.Resource)
	for _, pod := range g.Cluster.Pods {
		commandstest.PlantedPods(&pod.ObjectMeta, &pod.Spec)
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "Planted", Status: corev1.ConditionFalse, Reason: "Planted"})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "planted", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}})
		commandstest.PlantTexts(reflect.ValueOf(&pod.Status))
		g.AddEvent("Pod", pod.Name, corev1.EventTypeWarning, time.Minute)
	}
	plantedObjects(g)
	g.Nodes = plantedNode
	g.AddEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, time.Minute)
	commandstest.Readable(g)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "kubectl-fdb-sample", Namespace: "fdb"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new(commandstest.PlantedText()), LeaseDurationSeconds: new(int32(2_000_000_000)),
		AcquireTime: new(metav1.NewMicroTime(g.Cluster.Now())), RenewTime: new(metav1.NewMicroTime(g.Cluster.Now())),
	}}
	g.Objects = append(g.Objects, lease)
	for _, o := range g.Objects {
		if _, is := o.(*corev1.Event); is {
			commandstest.PlantTexts(reflect.ValueOf(o))
		}
	}
	tool := g.Tool
	g.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		opened, err := tool(pod, container)
		return plantedPod{Transport: opened}, err
	}
	return g
}

// notPlanted are commands that the test does not run, with the reason.
var notPlanted = map[string]string{
	"exec": "prints the output of a program that the user has named, as kubectl exec", "cli": "prints the output of fdbcli that the user has asked for",
	"recover manifest": "prints a manifest to apply, as kubectl get -o yaml",
	"logs":             "prints the log that the user has asked for, as kubectl logs", "dump diff": "compares two redacted dumps; dumps have a test of their own",
	"dump": "runs below, and has a test of its own", "watch": "runs below", "eviction-webhook": "TestTheEvictionWebhookLogsNoPlantedSecret",
	"run": "TestNoReportOfARunbookHasAPlantedSecret", "recover apply": "TestARecoveryPrintsNoPlantedSecret", "auth can-i": "reads no object", "auth role": "reads no object",
	"completion": "reads no object", "completion install": "reads no object", "docs": "reads no object", "options": "reads no object", "schema": "reads no object", "create": "prints what its flags say", "install": "reads no object", "install crds": "reads no object", "install rbac": "reads no object", "help": "reads no object",
	"backup delete": "backup_secrets_test.go", "backup expire": "backup_secrets_test.go", "backup pause": "backup_secrets_test.go", "backup resume": "backup_secrets_test.go", "backup start": "backup_secrets_test.go", "backup stop": "backup_secrets_test.go",
	"backup status": "backup_secrets_test.go", "backup describe": "backup_secrets_test.go", "restore start": "backup_secrets_test.go", "restore abort": "backup_secrets_test.go", "restore status": "backup_secrets_test.go",
}

func TestNoOutputHasAPlantedSecretOrControlCharacter(t *testing.T) {
	g := plantedCluster(t)
	ran := map[string]bool{}
	all := commandstest.Leaves(commands.NewRoot(g.Environment()))
	for _, line := range commandstest.PlantedLines(g) {
		name := commandstest.CommandOf(all, line)
		ran[name] = true
		forms := []string{"", "-o json"}
		if name == "status" || name == "events" || name == "get process-groups" { // the others are made of the same
			forms = append(forms, "-o wide", "-o yaml")
		}
		if all[name].Flags().Lookup("output") == nil {
			forms = forms[:1]
		}
		if name == "check" {
			forms = append(forms, "-o markdown", "-o junit", "-o sarif")
		}
		for _, form := range forms {
			ctx, end := context.WithTimeout(t.Context(), 3*time.Second)
			g.RunIn(ctx, strings.Fields(line+" "+form)...)
			end()
			for stream, text := range map[string]string{"stdout": g.Out.String(), "stderr": g.Err.String()} {
				if found := commandstest.Exposed(text); found != "" {
					t.Errorf("%s %s: %s has %s", line, form, stream, found)
				}
			}
		}
	}
	for name, cmd := range all {
		if !ran[name] && !cmd.HasSubCommands() && notPlanted[name] == "" {
			t.Errorf("command %q is not run, and has no reason", name)
		}
	}
}

func TestErrorsOfToolsExposeNeitherSecretsNorControlCharacters(t *testing.T) {
	g := plantedCluster(t)
	tool := g.Tool
	g.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		opened, err := tool(pod, container)
		return plantedPod{opened, true}, err
	}
	for _, line := range []string{"status sample", "why sample", "check sample", "plan sample", "reconcile sample --yes", "get processes sample", "recover collect sample"} {
		for _, form := range []string{"", "-o json"} {
			g.Run(strings.Fields(line + " " + form)...)
			if found := commandstest.Exposed(g.Out.String() + g.Err.String()); found != "" {
				t.Errorf("%s %s: %s", line, form, found)
			}
		}
	}
}

// What a run writes elsewhere has no secrets either: Events, the audit, the dump.
func TestNothingThatARunKeepsHasAPlantedSecret(t *testing.T) {
	g := commandstest.NewGiven(t)
	commandstest.PlantedSpec(g.Cluster.Resource)
	for _, line := range []string{"reconcile sample --yes --wait", "reconcile sample --yes -o json", "history sample"} {
		g.Run(strings.Fields(line)...)
		if found := commandstest.Exposed(g.Out.String() + g.Err.String()); found != "" {
			t.Errorf("%s: %s", line, found)
		}
	}
	if len(g.Events) == 0 || len(g.Audited()) == 0 {
		t.Error("no Event or no audit was written, so that this tests nothing")
	}
	for _, e := range g.Events {
		if found := commandstest.Exposed(e.Message); found != "" {
			t.Errorf("an Event has %s", found)
		}
	}
	commandstest.KeptNothing(t, g.Env["XDG_STATE_HOME"])
}

func TestADumpHasNoPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	g.Logs = func(context.Context, string, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(commandstest.PlantedText())), nil
	}
	text, err := json.Marshal(commandstest.DumpAt(t, g.Dumped()))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"PLNT", "UExOV"} {
		if at := strings.Index(string(text), secret); at >= 0 {
			t.Errorf("the dump has %q", text[max(0, at-80):min(len(text), at+30)])
		}
	}
}

func TestARecordingHasNoPlantedSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := commandstest.Up(t)
		commandstest.PlantedSpec(g.Cluster.Resource)
		g.AddEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, time.Minute)
		for _, o := range g.Objects {
			commandstest.PlantTexts(reflect.ValueOf(o))
		}
		g.Now = clock.RealClock{}
		ctx, end := context.WithTimeout(t.Context(), 25*time.Second)
		defer end()
		g.RunIn(ctx, "watch", "sample", "--plain", "--record", filepath.Join(g.Env["XDG_STATE_HOME"], "night.ndjson"))
		if !strings.Contains(g.Out.String(), "planted") {
			t.Errorf("no event is in the output, so that this tests nothing: %s%s", &g.Out, &g.Err)
		}
		if found := commandstest.Exposed(g.Out.String() + g.Err.String()); found != "" {
			t.Error(found)
		}
		commandstest.KeptNothing(t, g.Env["XDG_STATE_HOME"])
	})
}
