package proposal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

var sample = types.NamespacedName{Namespace: "fdb", Name: "sample"}

func cluster() *v1beta2.FoundationDBCluster {
	return &v1beta2.FoundationDBCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBCluster"},
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "1", Generation: 3},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79", ProcessCounts: v1beta2.ProcessCounts{Storage: 3}},
	}
}

func api(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta2.AddToScheme(scheme), corev1.AddToScheme(scheme), storagev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().Build()
}

func edited(t *testing.T, c client.Client, set ...string) *Change {
	t.Helper()
	edits, err := Edits(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	change, err := Proposer{Client: c, Offline: true, FieldManager: "kubectl-fdb"}.Edits(t.Context(), "FoundationDBCluster", sample, edits, "--set")
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func TestAChangeIsStoredOnlyOverTheSpecThatWasPlanned(t *testing.T) {
	tests := map[string]struct {
		meanwhile func(ctx context.Context, c client.Client, o *v1beta2.FoundationDBCluster) error
		want      string
	}{
		"nothing happened": {meanwhile: func(context.Context, client.Client, *v1beta2.FoundationDBCluster) error { return nil }},
		"the status was written": {meanwhile: func(ctx context.Context, c client.Client, o *v1beta2.FoundationDBCluster) error {
			o.Status.RunningVersion = "7.3.79"
			return c.Update(ctx, o)
		}},
		"the spec was changed": {meanwhile: func(ctx context.Context, c client.Client, o *v1beta2.FoundationDBCluster) error {
			o.Spec.Skip, o.Generation = true, 4
			return c.Update(ctx, o)
		}, want: "generation 3, now 4"},
		"it was deleted": {meanwhile: func(ctx context.Context, c client.Client, o *v1beta2.FoundationDBCluster) error {
			return c.Delete(ctx, o)
		}, want: "it was deleted"},
		"it was created again": {meanwhile: func(ctx context.Context, c client.Client, o *v1beta2.FoundationDBCluster) error {
			if err := c.Delete(ctx, o); err != nil {
				return err
			}
			again := cluster()
			again.UID = "2"
			return c.Create(ctx, again)
		}, want: "it was deleted and created again"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := api(t, cluster())
			change := edited(t, c, "processCounts.storage=5")
			now := &v1beta2.FoundationDBCluster{}
			if err := c.Get(t.Context(), sample, now); err != nil {
				t.Fatal(err)
			}
			if err := tc.meanwhile(t.Context(), c, now); err != nil {
				t.Fatal(err)
			}
			err := change.Store(t.Context())
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if err := c.Get(t.Context(), sample, now); err == nil && (now.Spec.ProcessCounts.Storage == 5) != (tc.want == "") {
				t.Errorf("%d storage processes", now.Spec.ProcessCounts.Storage)
			}
		})
	}
}

func TestFieldsOfAnotherFieldManagerAreFound(t *testing.T) {
	tests := map[string]struct {
		manager, fields string
		set             string
		want            bool
	}{
		"the same field":           {"argocd", `{"f:spec":{"f:processCounts":{"f:storage":{}}}}`, "processCounts.storage=5", true},
		"another field":            {"argocd", `{"f:spec":{"f:processCounts":{"f:log":{}}}}`, "processCounts.storage=5", false},
		"the object that has it":   {"argocd", `{"f:spec":{"f:processCounts":{}}}`, "processCounts.storage=5", true},
		"a field in the object":    {"argocd", `{"f:spec":{"f:databaseConfiguration":{"f:logs":{}}}}`, "databaseConfiguration={logs: 4}", true},
		"the list of the item":     {"argocd", `{"f:spec":{"f:trustedCAs":{}}}`, "trustedCAs[0]=/ca", true},
		"kubectl":                  {"kubectl-edit", `{"f:spec":{"f:processCounts":{"f:storage":{}}}}`, "processCounts.storage=5", false},
		"the command itself":       {"kubectl-fdb", `{"f:spec":{"f:processCounts":{"f:storage":{}}}}`, "processCounts.storage=5", false},
		"the status of the object": {"argocd", `{"f:status":{"f:runningVersion":{}}}`, "processCounts.storage=5", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := cluster()
			o.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: tc.manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: o.APIVersion, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(tc.fields),
			}}
			err := edited(t, api(t, o), tc.set).MayStore()
			if (err != nil) != tc.want {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAPathLeadsToItsField(t *testing.T) {
	spec := func() map[string]any {
		return map[string]any{
			"version": "7.3.79", "mainContainer": map[string]any{"imageConfigs": []any{map[string]any{"version": "7.3.79", "tag": "a"}, map[string]any{"version": "7.4.6", "tag": "b"}}},
		}
	}
	tests := map[string]struct {
		path  string
		value any // nil removes
		want  func(map[string]any)
	}{
		"a text":        {"spec.version", "7.4.6", func(s map[string]any) { s["version"] = "7.4.6" }},
		"a number":      {"processCounts.storage", "5", func(s map[string]any) { s["processCounts"] = map[string]any{"storage": int64(5)} }},
		"true or false": {"skip", "true", func(s map[string]any) { s["skip"] = true }},
		"a quantity": {"processes.general.volumeClaimTemplate.spec.resources.requests.storage", "5Gi", func(s map[string]any) {
			s["processes"] = map[string]any{"general": map[string]any{"volumeClaimTemplate": map[string]any{"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": "5Gi"}}}}}}
		}},
		"a list in YAML":        {"trustedCAs", "[/a, /b]", func(s map[string]any) { s["trustedCAs"] = []any{"/a", "/b"} }},
		"an item by its number": {"mainContainer.imageConfigs[0].tag", "c", func(s map[string]any) { images(s)[0].(map[string]any)["tag"] = "c" }},
		"an item by a field":    {"mainContainer.imageConfigs[version=7.4.6].tag", "c", func(s map[string]any) { images(s)[1].(map[string]any)["tag"] = "c" }},
		"one more item": {"mainContainer.imageConfigs[2].tag", "c", func(s map[string]any) {
			s["mainContainer"].(map[string]any)["imageConfigs"] = append(images(s), map[string]any{"tag": "c"})
		}},
		"a key with dots": {"processes.general.podTemplate.metadata.labels[a.b/c]", "d", func(s map[string]any) {
			s["processes"] = map[string]any{"general": map[string]any{"podTemplate": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a.b/c": "d"}}}}}
		}},
		"the removal of a field": {"version", nil, func(s map[string]any) { delete(s, "version") }},
		"the removal of an item": {"mainContainer.imageConfigs[0]", nil, func(s map[string]any) { s["mainContainer"].(map[string]any)["imageConfigs"] = images(s)[1:] }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := spec(), spec()
			e := Edit{Path: tc.path}
			if text, is := tc.value.(string); is {
				e.Value = &text
			}
			if err := e.apply("FoundationDBCluster", got); err != nil {
				t.Fatal(err)
			}
			tc.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func images(spec map[string]any) []any {
	return spec["mainContainer"].(map[string]any)["imageConfigs"].([]any) //nolint:forcetypeassert // the test has made it
}

func TestPathsAreCompletedFieldByField(t *testing.T) {
	for typed, want := range map[string][]string{
		"vers":                    {"version="},
		"processC":                {"processCounts."},
		"spec.processCounts.stor": {"spec.processCounts.storage=", "spec.processCounts.storage_cache="},
		"processes.general.cust":  {"processes.general.customParameters="},
		"no.such":                 nil,
	} {
		if diff := cmp.Diff(want, Paths("FoundationDBCluster", typed)); diff != "" {
			t.Errorf("%s: %s", typed, diff)
		}
	}
}

func TestManifestsAreReadInTheOrderOfTheirFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml":      "# a comment\n---\napiVersion: apps.foundationdb.org/v1beta2\nkind: FoundationDBBackup\nmetadata: {name: b}\nspec: {clusterName: sample}\n---\n",
		"a.json":      `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "apps.foundationdb.org/v1beta2", "kind": "FoundationDBCluster", "metadata": {"name": "sample"}, "spec": {}}, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}]}`,
		"ignored.txt": "not yaml: [",
		"below/c.yml": "apiVersion: apps.foundationdb.org/v1beta2\nkind: FoundationDBRestore\nmetadata: {name: r}\nspec: {destinationClusterName: sample}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for recursive, want := range map[bool][]string{
		false: {"FoundationDBCluster sample", "FoundationDBBackup b"},
		true:  {"FoundationDBCluster sample", "FoundationDBBackup b", "FoundationDBRestore r"},
	} {
		found, others, err := Files{Names: []string{dir}, Recursive: recursive}.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Titles(found)) + cmp.Diff([]string{"Secret s"}, Titles(others)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAMessageNamesTheLineOfItsField(t *testing.T) {
	found, _, err := Files{Names: []string{"-"}}.Read(strings.NewReader(`---
apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata:
  name: sample
spec:
  version: 7.3.79
  mainContainer:
    imageConfigs:
    - version: 7.3.79
      tag: x
`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": "stdin:2", "metadata.name": "stdin:5", "spec.version": "stdin:7", "spec.mainContainer.imageConfigs[0].tag": "stdin:11",
		"spec.mainContainer.imageConfigs[4].tag": "stdin:9", "spec.absent": "stdin:6",
	} {
		if got := found[0].At(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// What a pass reads by its client is the resource as it would be, in lists too, until it is stored.
func TestAClientOverAChangeReadsWhatWouldBeStored(t *testing.T) {
	c := api(t, cluster())
	change := edited(t, c, "processCounts.storage=5")
	fresh := &Change{Stored: change.Stored.DeepCopy()}
	fresh.Stored.SetName("fresh")
	over := Over(c, []*Change{change, fresh})
	typed, list, untyped := &v1beta2.FoundationDBCluster{}, &v1beta2.FoundationDBClusterList{}, &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("FoundationDBClusterList"))
	if err := over.Get(t.Context(), sample, typed); err != nil || typed.Spec.ProcessCounts.Storage != 5 || typed.Generation != 4 || typed.UID != "1" {
		t.Errorf("error %v, %d storage processes, generation %d", err, typed.Spec.ProcessCounts.Storage, typed.Generation)
	}
	for _, into := range []client.ObjectList{list, untyped} {
		if err := over.List(t.Context(), into, client.InNamespace("fdb")); err != nil {
			t.Fatal(err)
		}
	}
	if len(list.Items) != 2 || list.Items[0].Spec.ProcessCounts.Storage != 5 || list.Items[1].Name != "fresh" || len(untyped.Items) != 2 {
		t.Errorf("typed %d, untyped %d: %+v", len(list.Items), len(untyped.Items), list.Items)
	}
	if err := over.List(t.Context(), list, client.InNamespace("other")); err != nil || len(list.Items) != 0 {
		t.Errorf("error %v, in another namespace %d", err, len(list.Items))
	}
	if err := change.Store(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), sample, typed); err != nil {
		t.Fatal(err)
	}
	typed.Spec.ProcessCounts.Storage = 7
	if err := c.Update(t.Context(), typed); err != nil {
		t.Fatal(err)
	}
	if err := over.Get(t.Context(), sample, typed); err != nil || typed.Spec.ProcessCounts.Storage != 7 {
		t.Errorf("after it is stored: error %v, %d storage processes", err, typed.Spec.ProcessCounts.Storage)
	}
}
