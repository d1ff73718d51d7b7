package v1beta2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// crdFolder holds the CRDs that controller-gen made of the types.
const crdFolder = "../../manifests/crd"

// builtins are where the schema of a Kubernetes type begins, which is no part
// of our wire format.
var builtins = map[string]string{
	"FoundationDBCluster spec.configMap":                                                       "corev1.ConfigMap",
	"FoundationDBCluster spec.processes.{}.podTemplate":                                        "corev1.PodTemplateSpec",
	"FoundationDBCluster spec.processes.{}.volumeClaimTemplate":                                "corev1.PersistentVolumeClaim",
	"FoundationDBCluster spec.automationOptions.replacements.failureDetectionCronJob.template": "batchv1.CronJobSpec",
	"FoundationDBBackup spec.backupDeploymentMetadata":                                         "metav1.ObjectMeta",
	"FoundationDBBackup spec.podTemplateSpec":                                                  "corev1.PodTemplateSpec",
}

// TestCRDsHaveTheWireFormatOfTheOperator compares the generated CRDs with
// testdata/wire-format.txt: one line for every path of the operator's own CRDs,
// release 2.33.0, with the schema of each field. The fields that only our CRD has
// are those of testdata/wire-format-extensions.txt.
func TestCRDsHaveTheWireFormatOfTheOperator(t *testing.T) {
	want, extensions := wireFormat(t, "testdata/wire-format.txt"), wireFormat(t, "testdata/wire-format-extensions.txt")
	var got, added []string
	for _, kind := range []string{"FoundationDBBackup", "FoundationDBCluster", "FoundationDBRestore"} {
		for _, line := range describeCRD(t, kind) {
			if slices.Contains(extensions, line) {
				added = append(added, line)
			} else {
				got = append(got, line)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wire format (-operator +ours):\n%s", diff)
	}
	if diff := cmp.Diff(extensions, added); diff != "" {
		t.Errorf("fields that the operator does not have (-allowed +ours):\n%s", diff)
	}
}

// wireFormat reads one of the lists of paths.
func wireFormat(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func readCRD(t *testing.T, kind string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(crdFolder, "apps.foundationdb.org_"+strings.ToLower(kind)+"s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func describeCRD(t *testing.T, kind string) []string {
	t.Helper()
	crd := readCRD(t, kind)
	spec := crd["spec"].(map[string]any)
	release := crd["metadata"].(map[string]any)["annotations"].(map[string]any)["foundationdb.org/release"]
	lines := []string{
		kind + " group " + text(t, spec["group"]),
		kind + " names " + text(t, spec["names"]),
		kind + " scope " + text(t, spec["scope"]),
		kind + " release " + text(t, release),
	}
	for _, v := range spec["versions"].([]any) {
		lines = append(lines, describeVersion(t, kind, v.(map[string]any))...)
	}
	return lines
}

func describeVersion(t *testing.T, kind string, version map[string]any) []string {
	t.Helper()
	var lines []string
	for _, column := range version["additionalPrinterColumns"].([]any) {
		lines = append(lines, fmt.Sprintf("%s %s column %s", kind, version["name"], text(t, column)))
	}
	for _, key := range []string{"served", "storage", "subresources"} {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", kind, version["name"], key, text(t, version[key])))
	}
	top := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	if top["required"] != nil {
		t.Errorf("%s requires %v at the top, want nothing", kind, top["required"])
	}
	properties := top["properties"].(map[string]any)
	for _, part := range []string{"spec", "status"} {
		lines = append(lines, describePath(t, kind+" "+part, properties[part].(map[string]any), nil)...)
	}
	return lines
}

// describePath describes a schema and all below it. Containers are descended
// into; every other keyword of the schema is part of the line.
func describePath(t *testing.T, path string, schema map[string]any, more map[string]any) []string {
	t.Helper()
	facts := map[string]any{}
	maps.Copy(facts, more)
	if builtin, stop := builtins[path]; stop {
		facts["builtin"] = builtin
		return []string{path + " " + text(t, facts)}
	}
	for keyword, value := range schema {
		switch keyword {
		case "properties", "items", "additionalProperties", "description":
		case "x-kubernetes-validations":
			facts[keyword] = withoutMessages(value.([]any))
		default:
			facts[keyword] = value
		}
	}
	lines := []string{path + " " + text(t, facts)}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		lines = append(lines, describePath(t, path+"."+name, properties[name].(map[string]any), requirement(schema, name))...)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		lines = append(lines, describePath(t, path+"[]", items, nil)...)
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		lines = append(lines, describePath(t, path+".{}", values, nil)...)
	}
	return lines
}

func requirement(schema map[string]any, name string) map[string]any {
	required, _ := schema["required"].([]any)
	if slices.Contains(required, any(name)) {
		return map[string]any{"requiredByParent": true}
	}
	return nil
}

// withoutMessages drops the words of error messages, which are not part of
// any interface.
func withoutMessages(rules []any) []any {
	var kept []any
	for _, rule := range rules {
		r := maps.Clone(rule.(map[string]any))
		delete(r, "message")
		kept = append(kept, r)
	}
	return kept
}

func text(t *testing.T, value any) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
