package commands

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// kustomized are the objects of a directory with a Kustomization, as "Kind namespace/name".
func kustomized(t *testing.T, files filesys.FileSystem, dir string) (names []string, text string) {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects.Resources() {
		names = append(names, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())
	}
	all, err := objects.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return names, string(all)
}

// Each overlay runs passes in one way, with the account and its roles.
func TestEachOverlayDeploysOneWorkloadForPasses(t *testing.T) {
	account := func(run string) []string {
		return []string{
			"Role fdb/kubectl-fdb-reconcile", "Role fdb/kubectl-fdb-watch", "ClusterRole /kubectl-fdb-find-operators",
			"ServiceAccount fdb/kubectl-fdb", "RoleBinding fdb/kubectl-fdb-reconcile", "RoleBinding fdb/kubectl-fdb-watch",
			"ClusterRoleBinding /kubectl-fdb-find-operators-fdb", run,
		}
	}
	for overlay, run := range map[string]string{"watch": "Deployment fdb/kubectl-fdb", "scheduled": "CronJob fdb/kubectl-fdb"} {
		names, _ := kustomized(t, filesys.MakeFsOnDisk(), "../../manifests/overlays/"+overlay)
		if diff := cmp.Diff(account(run), names); diff != "" {
			t.Errorf("%s: %s", overlay, diff)
		}
	}
}

// The files that the Helm chart wraps. Its templates are rendered by make test-helm, which has Helm's own packages.
func TestHelmChartFilesAreCopiesOfTheManifests(t *testing.T) {
	files, err := filepath.Glob("../../manifests/helm/kubectl-fdb/files/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		originals, err := filepath.Glob("../../manifests/*/" + filepath.Base(file))
		if err != nil || len(originals) != 1 {
			t.Fatalf("%s is the copy of %q: %v", file, originals, err)
		}
		want, err := os.ReadFile(originals[0])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s differs from %s: cd test/helm && go test -update copies it", file, originals[0])
		}
	}
}

// What docs/gitops.md describes: an overlay of one's own with another namespace, image and cluster.
func TestTheDocumentedOverlayChangesNamespaceImageAndCluster(t *testing.T) {
	page, err := os.ReadFile("../../docs/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- overlay -->\n```yaml\n")
	overlay, _, found := strings.Cut(rest, "\n```")
	if !found {
		t.Fatal("the page has no overlay")
	}
	base, err := filepath.Abs("../../manifests/overlays/watch")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	relative, err := filepath.Rel(dir, base)
	if err != nil {
		t.Fatal(err)
	}
	remote := "https://github.com/kubectl-fdb/kubectl-fdb//manifests/overlays/watch?ref=v0.1.0"
	if !strings.Contains(overlay, remote) {
		t.Fatalf("the overlay has another base: %s", overlay)
	}
	overlay = strings.Replace(overlay, remote, relative, 1)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	_, text := kustomized(t, filesys.MakeFsOnDisk(), dir)
	for _, want := range []string{"image: ghcr.io/kubectl-fdb/kubectl-fdb:v0.1.0\n", "- orders\n", "namespace: orders-fdb\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, old := range []string{"placeholder", "sample-cluster", "namespace: fdb\n"} {
		if strings.Contains(text, old) {
			t.Errorf("%q is left in\n%s", old, text)
		}
	}
}

// Health checks are tested with these resources, which must be what the resource definitions allow.
func TestResourcesOfHealthChecksAreValid(t *testing.T) {
	text, err := os.ReadFile("../../test/release/testdata/health.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name     string          `json:"name"`
		Resource json.RawMessage `json:"resource"`
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]any{"FoundationDBCluster": v1beta2.FoundationDBCluster{}, "FoundationDBBackup": v1beta2.FoundationDBBackup{}, "FoundationDBRestore": v1beta2.FoundationDBRestore{}}
	for _, r := range all {
		var about struct{ Kind, APIVersion string }
		if err := json.Unmarshal(r.Resource, &about); err != nil || about.APIVersion != v1beta2.GroupVersion.String() || kinds[about.Kind] == nil {
			t.Errorf("%s: %+v, %v", r.Name, about, err)
			continue
		}
		if err := yaml.UnmarshalStrict(r.Resource, reflect.New(reflect.TypeOf(kinds[about.Kind])).Interface()); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

// A sync ignores fields of a spec that commands write or print a patch for, and that exist.
func TestArgoCDIgnoresOnlyFieldsThatCommandsWrite(t *testing.T) {
	var config struct {
		Data map[string]string `json:"data"`
	}
	text, err := os.ReadFile("../../manifests/gitops/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for key, value := range config.Data {
		if kind, is := strings.CutPrefix(key, "resource.customizations.ignoreDifferences.apps.foundationdb.org_"); is {
			var ignored struct {
				JSONPointers []string `json:"jsonPointers"`
			}
			if err := yaml.UnmarshalStrict([]byte(value), &ignored); err != nil {
				t.Fatal(err)
			}
			got[kind] = ignored.JSONPointers
		}
	}
	want := map[string][]string{
		"FoundationDBCluster": {"/spec/skip", "/spec/seedConnectionString", "/spec/lockOptions/denyList"}, // pause, connection-string sync, locks deny
		"FoundationDBBackup":  {"/spec/backupState"},                                                      // backup pause and its like
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	specs := map[string]reflect.Type{"FoundationDBCluster": reflect.TypeFor[v1beta2.FoundationDBCluster](), "FoundationDBBackup": reflect.TypeFor[v1beta2.FoundationDBBackup]()}
	for kind, pointers := range got {
		for _, pointer := range pointers {
			if !hasField(specs[kind], strings.Split(strings.TrimPrefix(pointer, "/"), "/")) {
				t.Errorf("%s has no field %s", kind, pointer)
			}
		}
	}
}

// hasField reports whether the JSON of a type has a field at a path.
func hasField(of reflect.Type, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for field := range of.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == path[0] {
			return hasField(field.Type, path[1:])
		}
	}
	return false
}
