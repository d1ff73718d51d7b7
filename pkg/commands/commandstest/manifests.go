package commandstest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	shipped "github.com/kubectl-fdb/kubectl-fdb/manifests"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// secretShape is a form that a secret has in a cluster.
type secretShape struct {
	// Name is a variable that has such a value.
	Name string
	// layout has the secret itself at %s.
	layout string
	// plain are secrets that nothing but the name of their field shows.
	plain bool
}

// SecretShapes are 20 shapes; each is planted in an environment, in annotations and in arguments.
var SecretShapes = []secretShape{
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

// Planted returns a shape with its secret.
func (s secretShape) Planted(n int) string {
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

// PlantedText is what fields for text have: every sequence, and every secret that its form shows.
func PlantedText() string {
	words := []string{"planted"}
	for i, s := range SecretShapes {
		if !s.plain {
			words = append(words, s.Planted(i)+" ")
		}
	}
	return strings.Join(words, " ") + strings.Join(controlSequences, ".")
}

// Exposed returns where a text has a planted secret or a character that controls a terminal; empty for nowhere.
func Exposed(text string) string {
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

// PlantedPods adds secrets to the annotations, variables and arguments of a template or a pod.
func PlantedPods(meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	n := len(SecretShapes)
	sidecar := corev1.Container{Name: "planted", Image: "planted:1"}
	for i, s := range SecretShapes {
		meta.Annotations["example.com/"+strings.ToLower(s.Name)] = s.Planted(i)
		sidecar.Env = append(sidecar.Env, corev1.EnvVar{Name: s.Name, Value: s.Planted(n + i)})
		sidecar.Args = append(sidecar.Args, "--"+strings.ToLower(s.Name), s.Planted(2*n+i))
	}
	sidecar.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Auth", Value: secretNumber(3 * n)}}}}}
	spec.Containers = append(spec.Containers, sidecar)
}

// PlantTexts sets all fields of an object that are free text.
func PlantTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			PlantTexts(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case !field.IsExported():
			case field.Type.Kind() == reflect.String && slices.Contains([]string{"Message", "Note", "HolderIdentity"}, field.Name):
				v.Field(i).SetString(PlantedText())
			default:
				PlantTexts(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			PlantTexts(v.Index(i))
		}
	default:
	}
}

// PlantedSpec is the spec of a cluster with secrets in all places that have any.
func PlantedSpec(c *v1beta2.FoundationDBCluster) {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain}}}}
	PlantedPods(&template.ObjectMeta, &template.Spec)
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
		PodTemplate:      template,
		CustomParameters: v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter("knob_planted=" + SecretShapes[5].Planted(5))},
	}}
	applied, _ := json.Marshal(c)
	c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(applied)}
	for i, s := range SecretShapes {
		c.Annotations["example.com/"+strings.ToLower(s.Name)] = s.Planted(i)
	}
}

// PlantedLines are a command line for every command, for the outputs of all forms.
func PlantedLines(g *Given) []string {
	storage := g.GroupOf(v1beta2.ProcessClassStorage).ProcessGroupID
	lines := ViewsOfDumps(g)
	for _, line := range []string{
		"connection-string show sample", "recover collect sample", "recover plan sample", "gc sample", "operations follow sample", "metrics sample", "wait sample --for=healthy --timeout 1s",
		"wait sample --for=exclusions=safe --timeout 1s", "coordinators change sample --dry-run", "coordinators repair sample --dry-run", "connection-string sync sample --dry-run", "cordon " + g.Cluster.Nodes[0] + " --dry-run", "uncordon " + g.Cluster.Nodes[0] + " --dry-run",
		"drain " + g.Cluster.Nodes[0] + " -c sample --dry-run", "exclude %s -c sample --dry-run", "include %s -c sample --dry-run", "replace sample %s --dry-run", "restart sample %s --dry-run", "detect-failures sample --dry-run", "failover sample --dry-run",
		"reconcile sample --dry-run", "locks take sample --dry-run", "locks release sample --dry-run", "locks allow sample x --dry-run", "locks deny sample x --dry-run", "maintenance on sample z --dry-run", "maintenance off sample --dry-run",
		"pause sample --dry-run", "resume sample --dry-run", "operations abort sample --dry-run", "recover verify sample",
	} {
		lines = append(lines, strings.ReplaceAll(line, "%s", string(storage)))
	}
	return lines
}

// CommandOf returns the name of the command of a line.
func CommandOf[T any](all map[string]T, line string) string {
	words := strings.Fields(line)
	for n := len(words); n > 0; n-- {
		if _, is := all[strings.Join(words[:n], " ")]; is {
			return strings.Join(words[:n], " ")
		}
	}
	return line
}

// KeptNothing walks over the files that a run has kept.
func KeptNothing(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if found := Exposed(string(text)); found != "" {
			t.Errorf("%s has %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// PlantedAgents adds secrets to the deployment of agents, and to their pods.
func (v *Vault) PlantedAgents() {
	v.T.Helper()
	pods, deployments := &corev1.PodList{}, &appsv1.DeploymentList{}
	if err := v.API.List(v.T.Context(), pods); err != nil || len(pods.Items) == 0 {
		v.T.Fatalf("%d pods of agents: %v", len(pods.Items), err)
	}
	if err := v.API.List(v.T.Context(), deployments); err != nil || len(deployments.Items) == 0 {
		v.T.Fatalf("%d deployments: %v", len(deployments.Items), err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		PlantedPods(&pod.ObjectMeta, &pod.Spec)
		if err := v.API.Update(v.T.Context(), pod); err != nil {
			v.T.Fatal(err)
		}
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "Planted", Status: corev1.ConditionFalse})
		PlantTexts(reflect.ValueOf(&pod.Status))
		if err := v.API.Status().Update(v.T.Context(), pod); err != nil {
			v.T.Fatal(err)
		}
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse})
		PlantTexts(reflect.ValueOf(&d.Status))
		if err := v.API.Status().Update(v.T.Context(), d); err != nil {
			v.T.Fatal(err)
		}
	}
}

// ExposedNothing looks at what a command printed, and returns whether any of it was planted.
func (g *Given) ExposedNothing(line string) (reached bool) {
	g.T.Helper()
	for stream, text := range map[string]string{"stdout": g.Out.String(), "stderr": g.Err.String()} {
		if found := Exposed(text); found != "" {
			g.T.Errorf("%s: %s has %s", line, stream, found)
		}
	}
	return strings.Contains(g.Out.String()+g.Err.String(), "planted")
}

// KeepsNothing looks at Events and at the files of runs.
func (g *Given) KeepsNothing() {
	g.T.Helper()
	for _, e := range g.Events {
		if found := Exposed(e.Message); found != "" {
			g.T.Errorf("an Event has %s", found)
		}
	}
	KeptNothing(g.T, g.Env["XDG_STATE_HOME"])
}

// RulesOf reads the rules of the one role in a manifest; a ClusterRole reads the same.
func RulesOf(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := shipped.Files.ReadFile("rbac/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(role.Rules) == 0 {
		t.Fatalf("%s has no rules", name)
	}
	return role.Rules
}

// PermissionsOf returns the permissions that rules grant.
func PermissionsOf(rules []rbacv1.PolicyRule) []session.Permission {
	var powers []session.Permission
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, path := range r.Resources {
				resource, subresource, _ := strings.Cut(path, "/")
				for _, verb := range r.Verbs {
					powers = append(powers, session.Permission{Verb: verb, Group: group, Resource: resource, Subresource: subresource})
				}
			}
		}
	}
	return powers
}

// Manifests are all objects of a manifest file. A field that Kubernetes does not know,
// or one that is there twice, is an error.
func Manifests(t *testing.T, path string) []runtime.Object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []runtime.Object
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		o, _, err := decoder.Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, o)
	}
	return objects
}
