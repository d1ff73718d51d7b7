package commands_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
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
	for _, old := range []string{"placeholder", "sample-cluster", "namespace: fdb\n", "find-operators-fdb\n"} {
		if strings.Contains(text, old) {
			t.Errorf("%q is left in\n%s", old, text)
		}
	}
}

// The patch of the Kustomization of Flux annotates every resource of FoundationDB, and leaves the rest of it alone. Flux
// runs the same patches with the same library.
func TestFluxMergesFieldsOfPasses(t *testing.T) {
	var flux struct {
		Spec struct {
			Patches []types.Patch `json:"patches"`
		} `json:"spec"`
	}
	text, err := os.ReadFile("../../manifests/gitops/flux-kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &flux); err != nil {
		t.Fatal(err)
	}
	patched, err := yaml.Marshal(map[string]any{"resources": []string{"all.yaml"}, "patches": flux.Spec.Patches})
	if err != nil {
		t.Fatal(err)
	}
	const resources = `{apiVersion: apps.foundationdb.org/v1beta2, kind: FoundationDBCluster, metadata: {name: a}, spec: {version: 7.3.79, processCounts: {log: 4}}}
---
{apiVersion: apps.foundationdb.org/v1beta2, kind: FoundationDBBackup, metadata: {name: b, annotations: {kept: "yes"}}, spec: {clusterName: a}}
---
{apiVersion: apps.foundationdb.org/v1beta2, kind: FoundationDBRestore, metadata: {name: c}, spec: {destinationClusterName: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}
`
	files := filesys.MakeFsInMemory()
	for name, content := range map[string]string{"kustomization.yaml": string(patched), "all.yaml": resources} {
		if err := files.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	_, all := kustomized(t, files, ".")
	if got := strings.Count(all, "kustomize.toolkit.fluxcd.io/ssa: Merge"); got != 3 {
		t.Errorf("%d resources are annotated, want 3:\n%s", got, all)
	}
	for _, kept := range []string{"kept: \"yes\"", "log: 4", "version: 7.3.79", "kind: FoundationDBBackup", "name: c\n"} {
		if !strings.Contains(all, kept) {
			t.Errorf("the patch removes %q:\n%s", kept, all)
		}
	}
}

// judgedResource is a resource that health checks are tested with: one that was written for a state, or one of a
// sandbox in a phase.
type judgedResource struct {
	Name     string          `json:"name"`
	Phase    string          `json:"phase"`
	Resource json.RawMessage `json:"resource"`
}

// Health checks are tested with these resources, which must be what the resource definitions allow.
func TestResourcesOfHealthChecksAreValid(t *testing.T) {
	var all []judgedResource
	for _, file := range []string{"health.yaml", "resources.yaml"} {
		text, err := os.ReadFile("../../test/release/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var more []judgedResource
		if err := yaml.Unmarshal(text, &more); err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
	}
	kinds := map[string]any{"FoundationDBCluster": v1beta2.FoundationDBCluster{}, "FoundationDBBackup": v1beta2.FoundationDBBackup{}, "FoundationDBRestore": v1beta2.FoundationDBRestore{}}
	for _, r := range all {
		var about struct{ Kind, APIVersion string }
		if err := json.Unmarshal(r.Resource, &about); err != nil || about.APIVersion != v1beta2.GroupVersion.String() || kinds[about.Kind] == nil {
			t.Errorf("%s%s: %+v, %v", r.Name, r.Phase, about, err)
			continue
		}
		if err := yaml.UnmarshalStrict(r.Resource, reflect.New(reflect.TypeOf(kinds[about.Kind])).Interface()); err != nil {
			t.Errorf("%s%s: %v", r.Name, r.Phase, err)
		}
	}
}

// committed are fields that commands patch and a sync must not ignore, since the repository has them.
var committed = map[string]string{
	"/spec/backupVersion":                 "restore start --at writes it for one restore",
	"/spec/cancelReplacementsForInstance": "replace --undo and why print patches of it",
	"/spec by RemovalPatch":               "why prints a patch of the lists of process groups to remove",
}

// patchedFields are the fields of specs that the source has patches of: of map literals with the key spec. The
// priorities of regions, a patch by JSON pointer, are not among them.
func patchedFields(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, dir := range []string{"../reconcile/live", "../inspect", "."} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "install/") {
				return err // install has manifests of its own
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, is := d.(*ast.FuncDecl); is {
					ast.Inspect(f, func(n ast.Node) bool {
						found = append(found, specFields(n, f.Name.Name)...)
						return true
					})
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// specFields returns the fields below a key spec that a node sets.
func specFields(n ast.Node, function string) []string {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if isSpec(n.Key) {
			return fieldsBelow("/spec", n.Value, function)
		}
	case *ast.AssignStmt:
		if index, is := n.Lhs[0].(*ast.IndexExpr); is && isSpec(index.Index) {
			return fieldsBelow("/spec", n.Rhs[0], function)
		}
	}
	return nil
}

func isSpec(e ast.Expr) bool {
	literal, is := e.(*ast.BasicLit)
	return is && literal.Value == `"spec"`
}

// fieldsBelow returns the pointers of all values that are no map literals; where the spec itself is none,
// with the function that makes it.
func fieldsBelow(pointer string, value ast.Expr, function string) []string {
	literal, is := value.(*ast.CompositeLit)
	if is {
		_, is = literal.Type.(*ast.MapType)
	}
	if !is {
		if pointer == "/spec" {
			pointer += " by " + function
		}
		return []string{pointer}
	}
	var found []string
	for _, element := range literal.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is {
			if key, is := pair.Key.(*ast.BasicLit); is {
				found = append(found, fieldsBelow(pointer+"/"+strings.Trim(key.Value, `"`), pair.Value, function)...)
			}
		}
	}
	return found
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
	var ignored []string
	for _, pointers := range got {
		ignored = append(ignored, pointers...)
	}
	slices.Sort(ignored)
	written := slices.DeleteFunc(patchedFields(t), func(field string) bool { return committed[field] != "" })
	if diff := cmp.Diff(written, ignored); diff != "" {
		t.Errorf("patched and not in the list of what belongs into the repository (-), ignored (+):\n%s", diff)
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
