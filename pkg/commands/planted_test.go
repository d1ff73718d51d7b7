package commands

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// secretShape is a form that a secret has in a cluster.
type secretShape struct {
	// name is a variable that has such a value.
	name string
	// layout has the secret itself at %s.
	layout string
	// plain are secrets that nothing but the name of their field shows.
	plain bool
}

// secretShapes are 20 shapes; each is planted in an environment, in annotations and in arguments.
var secretShapes = []secretShape{
	{"DB_PASS", "%s", true},
	{"AUTH", "%s", true},
	{"ENCRYPTION_KEY", "%s", true},
	{"SIGNING_SEED", "%s", true},
	{"PGPASSWORD", "PGPASSWORD=%s", false},
	{"GITHUB_PAT", "ghp_%s0123456789", false},
	{"SLACK_BOT", "xoxb-0123456789-%s", false},
	{"AWS_ID", "AKIA0123456789%s", false},
	{"VAULT", "hvs.%s0123456789", false},
	{"ID_TOKEN", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.%s", false},
	{"TLS_KEY", "-----BEGIN RSA PRIVATE KEY-----\nMII%s\n-----END RSA PRIVATE KEY-----", false},
	{"DSN", "postgres://user:%s@db:5432/x", false},
	{"MONGO", "mongodb+srv://user:%s@db/x", false},
	{"PROXY", "socks5://user:%s@proxy:1080", false},
	{"AZURE", "AccountName=a;AccountKey=%s==;EndpointSuffix=x", false},
	{"HOOK", "https://hooks.slack.com/services/T0/%s", false},
	{"JSON", `{"db":{"password":"%s"}}`, false},
	{"FLAGS", "run --password %s --now", false},
	{"HEADER", "Authorization: Bearer %s", false},
	{"DATA", "base64", true},
}

// secretNumber is a secret: six characters that no other text has.
func secretNumber(n int) string { return fmt.Sprintf("PLNT%02d", n) }

// planted returns a shape with its secret.
func (s secretShape) planted(n int) string {
	if s.layout == "base64" {
		return base64.StdEncoding.EncodeToString([]byte("secret " + secretNumber(n)))
	}
	return fmt.Sprintf(s.layout, secretNumber(n))
}

// controlSequences are sequences that a terminal obeys, or that change the order of text.
var controlSequences = []string{
	"\x1b[2J", "\x1b[31m", "\x1b]8;;http://evil\x1b\\", "\x1b]52;c;cm0=\a", "\x1b]0;title\a", "\x1b[21t",
	"\r::error::", "\a", "\u202e", "\u2066", "\u009b2J", "\x7f",
}

// plantedText is what fields for text have: every sequence, and every secret that its form shows.
func plantedText() string {
	text := "planted"
	for i, s := range secretShapes {
		if !s.plain {
			text += " " + s.planted(i) + " "
		}
	}
	return text + strings.Join(controlSequences, ".")
}

// exposed returns where a text has a planted secret or a character that controls a terminal; empty for nowhere.
func exposed(text string) string {
	around := func(at int) string { return fmt.Sprintf("%q", text[max(0, at-60):min(len(text), at+30)]) }
	if at := strings.Index(text, "PLNT"); at >= 0 {
		return "a secret: " + around(at)
	}
	if at := strings.Index(text, "UExOV"); at >= 0 { // PLNT in base64, after "secret "
		return "a secret: " + around(at)
	}
	for at, r := range text {
		if r == utf8.RuneError || r != '\n' && r != '\t' && phrase.IsControl(r) {
			return "a control character: " + around(at)
		}
	}
	return ""
}

// plantedPods adds secrets to the annotations, variables and arguments of a template or a pod.
func plantedPods(meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	n := len(secretShapes)
	sidecar := corev1.Container{Name: "planted", Image: "planted:1"}
	for i, s := range secretShapes {
		meta.Annotations["example.com/"+strings.ToLower(s.name)] = s.planted(i)
		sidecar.Env = append(sidecar.Env, corev1.EnvVar{Name: s.name, Value: s.planted(n + i)})
		sidecar.Args = append(sidecar.Args, "--"+strings.ToLower(s.name), s.planted(2*n+i))
	}
	sidecar.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Auth", Value: secretNumber(3 * n)}}}}}
	spec.Containers = append(spec.Containers, sidecar)
}

// plantTexts sets all fields of an object that are free text.
func plantTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			plantTexts(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case !field.IsExported():
			case field.Type.Kind() == reflect.String && slices.Contains([]string{"Message", "Note", "HolderIdentity"}, field.Name):
				v.Field(i).SetString(plantedText())
			default:
				plantTexts(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			plantTexts(v.Index(i))
		}
	default:
	}
}

// plantedSpec is the spec of a cluster with secrets in all places that have any.
func plantedSpec(c *v1beta2.FoundationDBCluster) {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain}}}}
	plantedPods(&template.ObjectMeta, &template.Spec)
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
		PodTemplate:      template,
		CustomParameters: v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter("knob_planted=" + secretShapes[5].planted(5))},
	}}
	applied, _ := json.Marshal(c)
	c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(applied)}
	for i, s := range secretShapes {
		c.Annotations["example.com/"+strings.ToLower(s.name)] = s.planted(i)
	}
}

// plantedMeta adds secrets and control sequences to the annotations of an object.
func plantedMeta(meta *metav1.ObjectMeta) {
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	for i, s := range secretShapes {
		meta.Annotations["example.com/"+strings.ToLower(s.name)] = s.planted(i)
	}
	meta.Annotations["example.com/text"] = plantedText()
}

// plantedObjects adds secrets to all objects around the pods.
func plantedObjects(g *given) {
	for _, claim := range g.cluster.Volumes {
		plantedMeta(&claim.ObjectMeta)
		claim.Status.Conditions = append(claim.Status.Conditions, corev1.PersistentVolumeClaimCondition{Type: "Planted", Status: corev1.ConditionFalse})
		plantTexts(reflect.ValueOf(&claim.Status))
		g.addEvent("PersistentVolumeClaim", claim.Name, corev1.EventTypeWarning, time.Minute)
	}
	for _, service := range g.cluster.Services {
		plantedMeta(&service.ObjectMeta)
	}
	plantedMeta(&g.cluster.ConfigMap.ObjectMeta)
	g.cluster.ConfigMap.Data["planted"] = plantedText()
}

// plantedDocument sets texts of a status document that processes and clients choose.
func plantedDocument(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			if _, is := child.(string); is && slices.Contains([]string{"description", "log_group", "command_line", "messages", "reason"}, key) {
				v[key] = plantedText()
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
		return admin.Result{Stdout: []byte(plantedText()), Stderr: []byte(plantedText()), ExitCode: 1}, err
	}
	var document map[string]any
	if json.Unmarshal(r.Stdout, &document) == nil {
		plantedDocument(document)
		r.Stdout, _ = json.Marshal(document)
	}
	return r, err
}

// plantedCluster is a cluster with secrets and control sequences in all fields that can have them.
func plantedCluster(t *testing.T) *given {
	t.Helper()
	g := up(t)
	plantedSpec(g.cluster.Resource)
	for _, pod := range g.cluster.Pods {
		plantedPods(&pod.ObjectMeta, &pod.Spec)
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "Planted", Status: corev1.ConditionFalse, Reason: "Planted"})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "planted", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}})
		plantTexts(reflect.ValueOf(&pod.Status))
		g.addEvent("Pod", pod.Name, corev1.EventTypeWarning, time.Minute)
	}
	plantedObjects(g)
	g.nodes = plantedNode
	g.addEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, time.Minute)
	readable(g)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "kubectl-fdb-sample", Namespace: "fdb"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new(plantedText()), LeaseDurationSeconds: new(int32(2_000_000_000)),
		AcquireTime: new(metav1.NewMicroTime(g.cluster.Now())), RenewTime: new(metav1.NewMicroTime(g.cluster.Now())),
	}}
	g.objects = append(g.objects, lease)
	for _, o := range g.objects {
		if _, is := o.(*corev1.Event); is {
			plantTexts(reflect.ValueOf(o))
		}
	}
	tool := g.tool
	g.tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		opened, err := tool(pod, container)
		return plantedPod{Transport: opened}, err
	}
	return g
}

// plantedLines are a command line for every command, for the outputs of all forms.
func plantedLines(g *given) []string {
	storage := g.groupOf(v1beta2.ProcessClassStorage).ProcessGroupID
	lines := viewsOfDumps(g)
	for _, line := range []string{
		"connection-string show sample", "recover collect sample", "recover plan sample", "gc sample", "operations follow sample", "metrics sample", "wait sample --for=healthy --timeout 1s",
		"wait sample --for=exclusions=safe --timeout 1s", "coordinators change sample --dry-run", "coordinators repair sample --dry-run", "connection-string sync sample --dry-run", "cordon " + g.cluster.Nodes[0] + " --dry-run", "uncordon " + g.cluster.Nodes[0] + " --dry-run",
		"drain " + g.cluster.Nodes[0] + " -c sample --dry-run", "exclude %s -c sample --dry-run", "include %s -c sample --dry-run", "replace sample %s --dry-run", "restart sample %s --dry-run", "detect-failures sample --dry-run", "failover sample --dry-run",
		"reconcile sample --dry-run", "locks take sample --dry-run", "locks release sample --dry-run", "locks allow sample x --dry-run", "locks deny sample x --dry-run", "maintenance on sample z --dry-run", "maintenance off sample --dry-run",
		"pause sample --dry-run", "resume sample --dry-run", "operations abort sample --dry-run", "recover verify sample",
	} {
		lines = append(lines, strings.ReplaceAll(line, "%s", string(storage)))
	}
	return lines
}

// notPlanted are commands that the test does not run, with the reason.
var notPlanted = map[string]string{
	"exec": "prints the output of a program that the user has named, as kubectl exec", "cli": "prints the output of fdbcli that the user has asked for",
	"recover manifest": "prints a manifest to apply, as kubectl get -o yaml",
	"logs":             "prints the log that the user has asked for, as kubectl logs", "dump diff": "compares two redacted dumps; dumps have a test of their own",
	"dump": "runs below, and has a test of its own", "watch": "runs below", "eviction-webhook": "TestTheEvictionWebhookLogsNoPlantedSecret",
	"run": "TestNoReportOfARunbookHasAPlantedSecret", "recover apply": "TestARecoveryPrintsNoPlantedSecret", "auth can-i": "reads no object", "auth role": "reads no object",
	"completion": "reads no object", "completion install": "reads no object", "docs": "reads no object", "schema": "reads no object", "create": "prints what its flags say", "install": "reads no object", "install crds": "reads no object", "install rbac": "reads no object", "help": "reads no object",
	"backup delete": "backup_secrets_test.go", "backup expire": "backup_secrets_test.go", "backup pause": "backup_secrets_test.go", "backup resume": "backup_secrets_test.go", "backup start": "backup_secrets_test.go", "backup stop": "backup_secrets_test.go",
	"backup status": "backup_secrets_test.go", "backup describe": "backup_secrets_test.go", "restore start": "backup_secrets_test.go", "restore abort": "backup_secrets_test.go", "restore status": "backup_secrets_test.go",
}

func TestNoOutputHasAPlantedSecretOrControlCharacter(t *testing.T) {
	g := plantedCluster(t)
	ran := map[string]bool{}
	all := leaves(newRoot(g.environment()))
	for _, line := range plantedLines(g) {
		name := commandOf(all, line)
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
			g.runIn(ctx, strings.Fields(line+" "+form)...)
			end()
			for stream, text := range map[string]string{"stdout": g.out.String(), "stderr": g.err.String()} {
				if found := exposed(text); found != "" {
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

// commandOf returns the name of the command of a line.
func commandOf[T any](all map[string]T, line string) string {
	words := strings.Fields(line)
	for n := len(words); n > 0; n-- {
		if _, is := all[strings.Join(words[:n], " ")]; is {
			return strings.Join(words[:n], " ")
		}
	}
	return line
}

func TestErrorsOfToolsExposeNeitherSecretsNorControlCharacters(t *testing.T) {
	g := plantedCluster(t)
	tool := g.tool
	g.tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		opened, err := tool(pod, container)
		return plantedPod{opened, true}, err
	}
	for _, line := range []string{"status sample", "why sample", "check sample", "plan sample", "reconcile sample --yes", "get processes sample", "recover collect sample"} {
		for _, form := range []string{"", "-o json"} {
			g.run(strings.Fields(line + " " + form)...)
			if found := exposed(g.out.String() + g.err.String()); found != "" {
				t.Errorf("%s %s: %s", line, form, found)
			}
		}
	}
}

// What a run writes elsewhere has no secrets either: Events, the audit, the dump.
func TestNothingThatARunKeepsHasAPlantedSecret(t *testing.T) {
	g := newGiven(t)
	plantedSpec(g.cluster.Resource)
	for _, line := range []string{"reconcile sample --yes --wait", "reconcile sample --yes -o json", "history sample"} {
		g.run(strings.Fields(line)...)
		if found := exposed(g.out.String() + g.err.String()); found != "" {
			t.Errorf("%s: %s", line, found)
		}
	}
	if len(g.events) == 0 || len(g.audited()) == 0 {
		t.Error("no Event or no audit was written, so that this tests nothing")
	}
	for _, e := range g.events {
		if found := exposed(e.Message); found != "" {
			t.Errorf("an Event has %s", found)
		}
	}
	keptNothing(t, g.env["XDG_STATE_HOME"])
}

func TestADumpHasNoPlantedSecret(t *testing.T) {
	g := plantedCluster(t)
	g.logs = func(context.Context, string, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(plantedText())), nil
	}
	text, err := json.Marshal(dumpAt(t, g.dumped()))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"PLNT", "UExOV"} {
		if at := strings.Index(string(text), secret); at >= 0 {
			t.Errorf("the dump has %q", text[max(0, at-80):min(len(text), at+30)])
		}
	}
}

// keptNothing walks over the files that a run has kept.
func keptNothing(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if found := exposed(string(text)); found != "" {
			t.Errorf("%s has %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestARecordingHasNoPlantedSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := up(t)
		plantedSpec(g.cluster.Resource)
		g.addEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, time.Minute)
		for _, o := range g.objects {
			plantTexts(reflect.ValueOf(o))
		}
		g.now = clock.RealClock{}
		ctx, end := context.WithTimeout(t.Context(), 25*time.Second)
		defer end()
		g.runIn(ctx, "watch", "sample", "--plain", "--record", filepath.Join(g.env["XDG_STATE_HOME"], "night.ndjson"))
		if !strings.Contains(g.out.String(), "planted") {
			t.Errorf("no event is in the output, so that this tests nothing: %s%s", &g.out, &g.err)
		}
		if found := exposed(g.out.String() + g.err.String()); found != "" {
			t.Error(found)
		}
		keptNothing(t, g.env["XDG_STATE_HOME"])
	})
}
