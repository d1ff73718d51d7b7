package helm_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const chart = "../../manifests/helm/kubectl-fdb"

var update = flag.Bool("update", false, "copy the manifests that the chart wraps, and write the golden files")

// The chart has no roles, pods or alerts of its own: its files are those of manifests/.
func TestChartFilesMatchTheManifests(t *testing.T) {
	files, err := filepath.Glob(chart + "/files/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		var want []byte
		for _, dir := range []string{"rbac", "in-cluster", "observe"} {
			if text, err := os.ReadFile(filepath.Join("../../manifests", dir, filepath.Base(file))); err == nil {
				want = text
			}
		}
		if *update && want != nil {
			if err := os.WriteFile(file, want, 0o644); err != nil { //nolint:gosec // a file of the repository
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil || !bytes.Equal(want, got) {
			t.Errorf("%s differs from the manifest; go test -update copies it", file)
		}
	}
}

// given are values of an installation, over the required ones.
func given(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{"cluster": "sample-cluster", "image": map[string]any{"repository": "registry.example.com/kubectl-fdb", "tag": "placeholder"}}
	if text == "" {
		return values
	}
	more, err := loader.LoadValues(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return loader.MergeMaps(values, more)
}

// rendered renders the chart as `helm template` does, values checked by the schema.
func rendered(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	c, err := loader.LoadDir(chart)
	if err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(c, values, common.ReleaseOptions{Name: "kubectl-fdb", Namespace: "fdb", Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

type object = map[string]any

// objectsOf returns the objects of rendered templates, by kind and name.
func objectsOf(t *testing.T, texts map[string]string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for name, text := range texts {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for _, document := range strings.Split(text, "\n---") {
			add(t, all, []byte(document))
		}
	}
	return all
}

func add(t *testing.T, to map[string]object, document []byte) {
	t.Helper()
	o := object{}
	if err := yaml.UnmarshalStrict(document, &o); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	if len(o) == 0 {
		return
	}
	key := o["kind"].(string) + "/" + o["metadata"].(object)["name"].(string)
	if to[key] != nil {
		t.Fatalf("%s is there twice", key)
	}
	to[key] = o
}

// overlay returns the objects of a Kustomize overlay.
func overlay(t *testing.T, name string) map[string]object {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../manifests/overlays/"+name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]object{}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		add(t, all, text)
	}
	return all
}

// asOverlay returns the objects without what Helm adds, and with the ClusterRole named as in the
// overlay: the name in the chart has the namespace in it, since several releases must not share one.
func asOverlay(chart map[string]object) map[string]object {
	all := map[string]object{}
	for key, o := range chart {
		withoutHelm(o)
		if o["kind"] == "ClusterRole" {
			o["metadata"].(object)["name"] = "kubectl-fdb-find-operators"
			key = "ClusterRole/kubectl-fdb-find-operators"
		}
		if ref, is := o["roleRef"].(object); is && ref["kind"] == "ClusterRole" {
			ref["name"] = "kubectl-fdb-find-operators"
		}
		all[key] = o
	}
	return all
}

// withoutHelm removes the labels and defaults that only the chart has.
func withoutHelm(v any) {
	switch v := v.(type) {
	case object:
		maps.DeleteFunc(v, func(key string, _ any) bool {
			recommended := strings.HasPrefix(key, "app.kubernetes.io/") && key != "app.kubernetes.io/name"
			return recommended || strings.HasPrefix(key, "helm.sh/") || key == "imagePullPolicy"
		})
		for _, child := range v {
			withoutHelm(child)
		}
		if labels, is := v["labels"].(object); is && (len(labels) == 0 || v["name"] != nil && labels["app.kubernetes.io/name"] != nil) {
			delete(v, "labels")
		}
	case []any:
		for _, child := range v {
			withoutHelm(child)
		}
	}
}

// With default values a release named kubectl-fdb is what the overlay is.
func TestTheDefaultChartMatchesTheOverlay(t *testing.T) {
	for mode, unused := range map[string][]string{
		"watch": nil, "scheduled": {"Role/kubectl-fdb-watch", "RoleBinding/kubectl-fdb-watch"}, // a CronJob needs none
	} {
		t.Run(mode, func(t *testing.T) {
			texts, err := rendered(t, given(t, "mode: "+mode))
			if err != nil {
				t.Fatal(err)
			}
			want, got := overlay(t, mode), asOverlay(objectsOf(t, texts))
			for _, o := range want {
				withoutHelm(o)
			}
			for _, key := range unused {
				if want[key] == nil {
					t.Errorf("the overlay has no %s", key)
				}
				delete(want, key)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("overlay (-) and chart (+):\n%s", diff)
			}
		})
	}
}

// What the values change, and nothing else, as golden files.
func TestChartValuesRenderTheExpectedObjects(t *testing.T) {
	for name, values := range map[string]string{
		"watch": "",
		"all": `
namespace: orders
image: {digest: "sha256:` + strings.Repeat("ab", 32) + `", pullPolicy: Always}
imagePullSecrets: [{name: registry}]
args: [--with-backups, --respect-pdb]
coexist: true
resources: {requests: {cpu: 1, memory: 1Gi}}
nodeSelector: {pool: system}
tolerations: [{key: dedicated, operator: Exists}]
podAnnotations: {team: db}
podLabels: {team: db}
serviceAccount: {annotations: {role: arn}}
rbac: {readNodes: true, backups: true, disruptionBudgets: true, detectFailures: true, evictPods: true}
metrics: {port: 9090}
podMonitor: {enabled: true, interval: 15s, labels: {release: prometheus}}
prometheusRule: {enabled: true, labels: {release: prometheus}}`,
		"scheduled": "{mode: scheduled, schedule: '@hourly', timeout: 1h30m}",
		"namespace": "{coexist: true, rbac: {scope: namespace}, serviceAccount: {create: false, name: fdb-admin}}",
		"no-rbac":   "{rbac: {create: false, scope: namespace}, serviceAccount: {create: false, name: fdb-admin}}",
	} {
		t.Run(name, func(t *testing.T) {
			texts, err := rendered(t, given(t, values))
			if err != nil {
				t.Fatal(err)
			}
			objects := objectsOf(t, texts)
			var got bytes.Buffer
			for _, key := range slices.Sorted(maps.Keys(objects)) {
				o := objects[key]
				if o["rules"] != nil && name != "watch" { // the same as those of manifests/rbac
					o["rules"] = "(as in manifests/rbac)"
				}
				if o["kind"] == "PrometheusRule" {
					o["spec"] = "(as in manifests/observe)"
				}
				text, err := yaml.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				got.WriteString("---\n" + string(text))
			}
			golden(t, name, got.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Rules are copied whole, with the templates of alerts in them.
func TestChartRolesAndAlertsMatchTheManifests(t *testing.T) {
	texts, err := rendered(t, given(t, "{prometheusRule: {enabled: true}, rbac: {readNodes: true, backups: true, disruptionBudgets: true, detectFailures: true, evictPods: true}}"))
	if err != nil {
		t.Fatal(err)
	}
	objects := objectsOf(t, texts)
	for key, file := range map[string]string{
		"Role/kubectl-fdb-reconcile": "rbac/reconcile", "Role/kubectl-fdb-watch": "rbac/watch", "Role/kubectl-fdb-backups": "rbac/backups",
		"Role/kubectl-fdb-disruption-budgets": "rbac/disruption-budgets", "Role/kubectl-fdb-detect-failures": "rbac/detect-failures",
		"Role/kubectl-fdb-evict-pods": "rbac/evict-pods", "ClusterRole/kubectl-fdb-find-operators-fdb": "rbac/find-operators",
		"ClusterRole/kubectl-fdb-read-nodes-fdb": "rbac/read-nodes", "PrometheusRule/kubectl-fdb": "observe/prometheus-rule",
	} {
		text, err := os.ReadFile("../../manifests/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		want := object{}
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"rules", "spec"} {
			if diff := cmp.Diff(want[field], objects[key][field]); diff != "" {
				t.Errorf("%s: %s", key, diff)
			}
		}
	}
}

func TestInvalidChartValuesAreRefused(t *testing.T) {
	for name, tc := range map[string]struct{ values, want string }{
		"no cluster":                       {`cluster: ""`, "/cluster"},
		"a cluster that is no name":        {"cluster: Sample_Cluster", "/cluster"},
		"a misspelled value":               {"podmonitor: {enabled: true}", "podmonitor"},
		"a misspelled value in a group":    {"rbac: {readnodes: true}", "readnodes"},
		"no tag and no digest":             {`image: {tag: ""}`, "/image"},
		"a digest that is none":            {"image: {digest: latest}", "/image/digest"},
		"an unknown mode":                  {"mode: sometimes", "/mode"},
		"a flag that the chart sets":       {"args: [--namespace=other]", "/args/0"},
		"an argument that is no flag":      {"args: [other-cluster]", "/args/0"},
		"a schedule of four fields":        {"schedule: '* * * *'", "/schedule"},
		"a timeout without a unit":         {"timeout: '30'", "/timeout"},
		"a privileged port":                {"metrics: {port: 80}", "/metrics/port"},
		"a port that is text":              {"metrics: {port: http}", "/metrics/port"},
		"an operator that cannot be found": {"rbac: {scope: namespace}", "/coexist"},
		"nodes without a ClusterRole":      {"{coexist: true, rbac: {scope: namespace, readNodes: true}}", "/rbac/readNodes"},
		"an account without a name":        {"serviceAccount: {create: false}", "/serviceAccount/name"},
		"metrics of a CronJob":             {"{mode: scheduled, podMonitor: {enabled: true}}", "/podMonitor/enabled"},
		"a label that is no text":          {"podLabels: {on: true}", "/podLabels"},
		"backups without their role":       {"args: [--with-backups]", "/rbac/backups"},
		"evictions without their role":     {"args: [--respect-pdb=true]", "/rbac/evictPods"},
		"a flag in another spelling":       {"args: [--respect-pdb=1]", "/rbac/evictPods"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rendered(t, given(t, tc.values))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error about %s", err, tc.want)
			}
		})
	}
}

// Without roles of the chart its flags are the concern of whoever creates them.
func TestChartFlagsRequireTheirRolesOnlyWhereTheChartCreatesThem(t *testing.T) {
	for _, values := range []string{
		"{args: [--with-backups, --respect-pdb], rbac: {create: false}}", "{args: [--with-backups=false]}", "{args: [--respect-pdb], rbac: {evictPods: true}}",
	} {
		if _, err := rendered(t, given(t, values)); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// What `helm lint --strict` reports.
func TestHelmLintFindsNothing(t *testing.T) {
	l := lint.RunAll(chart, given(t, "{podMonitor: {enabled: true}, prometheusRule: {enabled: true}}"), "fdb")
	for _, m := range l.Messages {
		t.Errorf("%s", m)
	}
}

// The defaults in values.yaml are complete: only cluster and image.tag are required.
func TestChartDefaultsRequireOnlyClusterAndImageTag(t *testing.T) {
	if _, err := rendered(t, map[string]any{}); err == nil {
		t.Error("the chart renders without a cluster")
	}
	if _, err := rendered(t, map[string]any{"cluster": "sample", "image": map[string]any{"tag": "v1"}}); err != nil {
		t.Error(err)
	}
}
