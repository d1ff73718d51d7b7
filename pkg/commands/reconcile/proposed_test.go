package reconcile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// manifest writes a manifest of the cluster with a spec in YAML into a file.
func manifest(t *testing.T, spec string) string {
	t.Helper()
	return written(t, "cluster.yaml", `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata:
  name: sample
spec:
`+spec)
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const grown = `  version: 7.3.79
  processCounts:
    storage: 6
    log: 3
    stateless: 3
`

// readThrough is a reconciled cluster whose resource is read through the client.
func readThrough(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Proposes = true
	g.Cluster.Acted = nil
	return g
}

// planOf is what a plan has about the proposed change, and its actions.
type planOf struct {
	Digest   string
	Observed struct {
		UID        string
		Generation int64
	}
	Proposed *struct {
		Source, Way           string
		New, AdmissionUnknown bool
		Fields                []struct {
			Path     string
			From, To *string
		}
	}
	Items []struct{ Kind, Subject, Fingerprint string }
}

func planIn(g *commandstest.Given, args ...string) (p planOf) {
	g.T.Helper()
	if code := g.Run(append(args, "-o", "json")...); code != exit.ExitDone && code != exit.ExitNo {
		g.T.Fatalf("%v: exit code %d: %s", args, code, &g.Err)
	}
	if err := json.Unmarshal(g.Out.Bytes(), &p); err != nil {
		g.T.Fatal(err)
	}
	return p
}

func TestAPlanOfAFileIsThePlanAfterApplyingIt(t *testing.T) {
	g := readThrough(t)
	before := g.Cluster.Resource.DeepCopy()
	fromFile := planIn(g, "plan", "-f", manifest(t, grown))
	if fromFile.Proposed == nil || fromFile.Proposed.Way != "apply" || fromFile.Proposed.New || fromFile.Proposed.AdmissionUnknown {
		t.Errorf("proposed: %+v", fromFile.Proposed)
	}
	if len(g.Cluster.Acted) > 0 || !cmp.Equal(before, g.Cluster.Resource) {
		t.Error("the plan of a file changed something")
	}
	grow(g)
	applied := planIn(g, "plan", "sample")
	if len(applied.Items) == 0 || applied.Digest != fromFile.Digest || applied.Observed != fromFile.Observed {
		t.Errorf("applied %+v, from the file %+v", applied, fromFile)
	}
}

func TestAPlanOfAFileCarriesItOutOnceItIsApplied(t *testing.T) {
	g := readThrough(t)
	path := g.Planned("reconcile", "-f", manifest(t, grown))
	if code := g.Run("reconcile", "sample", "--plan", path, "--yes"); code != exit.ExitConflict {
		t.Errorf("before the file is applied: exit code %d: %s", code, &g.Err)
	}
	if len(g.Changes()) > 0 {
		t.Errorf("carried out before the file was applied: %v", g.Changes())
	}
	grow(g)
	if code := g.Run("reconcile", "sample", "--plan", path, "--yes"); code != exit.ExitWaiting && code != exit.ExitDone {
		t.Fatalf("after it is applied: exit code %d: %s", code, &g.Err)
	}
	if len(g.Changes()) == 0 {
		t.Error("nothing was carried out")
	}
}

func TestAPlanFailsAboveTheLimitsOfItsForecast(t *testing.T) {
	g := readThrough(t)
	for limits, code := range map[string]int{"podsCreated=2": exit.ExitRefused, "podsCreated=3": exit.ExitNo, "podsCreated=3,recoveries=x": exit.ExitUsage} {
		if got := g.Run("plan", "sample", "--set", "processCounts.storage=6", "--at-most", limits); got != code {
			t.Errorf("%s: exit code %d, want %d: %s%s", limits, got, code, &g.Out, &g.Err)
		}
	}
}

func TestAPlanShowsTheProposedFields(t *testing.T) {
	g := readThrough(t)
	code := g.Run("plan", "-f", manifest(t, grown))
	if code != exit.ExitNo {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	for _, want := range []string{"cluster.yaml changes 1 field of sample", "spec.processCounts.storage  3 → 6"} {
		if !strings.Contains(g.Out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &g.Out)
		}
	}
	p := planIn(g, "plan", "sample", "--set", "processCounts.storage=6", "--unset", "spec.processCounts.log")
	got := map[string]string{}
	for _, f := range p.Proposed.Fields {
		got[f.Path] = valueOf(f.From) + " to " + valueOf(f.To)
	}
	want := map[string]string{"spec.processCounts.storage": "3 to 6", "spec.processCounts.log": "3 to nothing"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func valueOf(value *string) string {
	if value == nil {
		return "nothing"
	}
	return *value
}

// A field that the last manifest had and the new one does not have is removed, as kubectl apply does; one that a patch
// added stays.
func TestAPlanOfAFileRemovesWhatTheLastOneHad(t *testing.T) {
	g := readThrough(t)
	g.Cluster.Resource.Spec.Skip = true
	last, err := yaml.YAMLToJSON([]byte("apiVersion: apps.foundationdb.org/v1beta2\nkind: FoundationDBCluster\nmetadata: {name: sample, namespace: fdb}\nspec: {version: 7.3.79, processCounts: {storage: 3, log: 3, stateless: 3}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g.Cluster.Resource.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(last)}
	p := planIn(g, "plan", "-f", manifest(t, "  version: 7.3.79\n  processCounts: {storage: 3, log: 3}\n"))
	var paths []string
	for _, f := range p.Proposed.Fields {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{"spec.processCounts.stateless"}, paths); diff != "" {
		t.Error(diff)
	}
}

func TestReconcileStoresAFileAndCarriesOutItsPlan(t *testing.T) {
	g := readThrough(t)
	file := manifest(t, grown)
	path := g.Planned("reconcile", "-f", file)
	if code := g.Run("reconcile", "-f", file, "--plan", path, "--yes"); code != exit.ExitWaiting && code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	if g.Cluster.Resource.Spec.ProcessCounts.Storage != 6 || g.Cluster.Resource.Generation != 2 || len(g.Changes()) == 0 {
		t.Errorf("%d storage processes, generation %d, did %v", g.Cluster.Resource.Spec.ProcessCounts.Storage, g.Cluster.Resource.Generation, g.Changes())
	}
	if text, err := os.ReadFile(filepath.Join(g.Env["XDG_STATE_HOME"], "kubectl-fdb", "audit.jsonl")); err != nil || !strings.Contains(string(text), `"StoreSpec"`) {
		t.Errorf("the audit does not have it: %v", err)
	}
}

// A spec is stored once everything is known to be allowed: nothing is half done.
func TestAFileIsNotStoredWhereItsPassWouldBeRefused(t *testing.T) {
	tests := map[string]struct {
		given func(g *commandstest.Given)
		spec  string // beside the count
		args  []string
		code  int
		want  string
	}{
		"an operator acts": {given: func(g *commandstest.Given) {
			g.Evaluated = []plan.Check{{Gate: plan.GateOperator, Question: "is no operator active?"}}
		}, code: exit.ExitRefused, want: "G-OPERATOR"},
		"the user declines": {given: func(g *commandstest.Given) { no := "n\n"; g.Input = &no }, args: []string{}, code: exit.ExitUnconfirmed},
		"not on a terminal": {args: []string{}, code: exit.ExitUnconfirmed, want: "use --yes"},
		"another manager set the field": {given: func(g *commandstest.Given) {
			g.Cluster.Resource.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: "argocd-controller", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps.foundationdb.org/v1beta2", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:processCounts":{"f:storage":{}}}}`),
			}}
		}, code: exit.ExitConflict, want: "spec.processCounts.storage of argocd-controller"},
		"a confirmation that no pass over a cluster requires": {args: []string{"--yes", "--confirm", "sample"}, code: exit.ExitUsage, want: "--confirm requires"},
		"a dry run":      {args: []string{"--dry-run"}, code: exit.ExitNo},
		"a blocked pass": {spec: "  distributionConfig: {enabled: true, desiredFaultDomains: 1}\n", code: exit.ExitRefused, want: "no pass could do anything with the spec"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := readThrough(t)
			if tc.given != nil {
				tc.given(g)
			}
			args := tc.args
			if args == nil {
				args = []string{"--yes"}
			}
			code := g.Run(append([]string{"reconcile", "-f", manifest(t, grown+tc.spec)}, args...)...)
			if code != tc.code || !strings.Contains(g.Err.String(), tc.want) {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			if g.Cluster.Resource.Spec.ProcessCounts.Storage != 3 || len(g.Changes()) > 0 {
				t.Errorf("stored %d storage processes, did %v", g.Cluster.Resource.Spec.ProcessCounts.Storage, g.Changes())
			}
		})
	}
}

// A spec is a change also where the next pass has nothing to do for it.
func TestASpecIsNotStoredWithoutApprovalThoughItsPassHasNothingToDo(t *testing.T) {
	for name, tc := range map[string]struct {
		answers string
		code    int
		stored  bool
	}{
		"declined": {"n\n", exit.ExitUnconfirmed, false},
		"approved": {"y\n", exit.ExitDone, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := readThrough(t)
			code := g.Answering(tc.answers, "reconcile", "sample", "--set", "automationOptions.maxConcurrentReplacements=2", "--only", "AddPods")
			if code != tc.code || !strings.Contains(g.Out.String()+g.Err.String(), "Store this spec?") {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if stored := g.Cluster.Resource.Spec.AutomationOptions.MaxConcurrentReplacements != nil; stored != tc.stored {
				t.Errorf("stored: %t", stored)
			}
		})
	}
}

func TestDecliningAfterAFileIsStoredReportsThat(t *testing.T) {
	declined := 0
	for reads := range 6 {
		g := readThrough(t)
		g.MeddleAfter(reads, commandstest.Recompute) // another spec needs another approval
		code := g.Answering("y\nn\n", "reconcile", "-f", manifest(t, grown), "--wait")
		output := g.Out.String() + g.Err.String()
		if g.Cluster.Resource.Spec.ProcessCounts.Storage != 6 || code != exit.ExitUnconfirmed {
			continue
		}
		declined++
		if strings.Contains(output, "nothing was changed") || !strings.Contains(output, "carried out before") {
			t.Errorf("exit code %d: %s", code, output)
		}
	}
	if declined == 0 {
		t.Error("no run was declined after the spec was stored")
	}
}

// What is approved is the change that was planned: another spec of the same resource is not carried out in its place.
func TestAPlanOfAFileIsNotCarriedOutOnAnotherSpec(t *testing.T) {
	g := readThrough(t)
	path := g.Planned("reconcile", "-f", manifest(t, grown))
	grow(g)
	g.Cluster.Resource.Spec.IgnoreUpgradabilityChecks = true // of the same generation, and with the same first actions
	if code := g.Run("reconcile", "sample", "--plan", path, "--yes"); code != exit.ExitConflict || !strings.Contains(g.Err.String(), "it is another one than the plan was made for") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if len(g.Changes()) > 0 {
		t.Errorf("did %v", g.Changes())
	}
}

func TestProposalsThatCannotBePlannedAreRefused(t *testing.T) {
	cluster := "apiVersion: apps.foundationdb.org/v1beta2\nkind: FoundationDBCluster\nmetadata: {name: sample}\n"
	tests := map[string]struct {
		args func(t *testing.T) []string
		want string
	}{
		"a file that does not exist": {args: file("absent.yaml"), want: "read absent.yaml: no such file"},
		"no FoundationDB resource":   {args: text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"), want: "no FoundationDBCluster, FoundationDBBackup or FoundationDBRestore in"},
		"two of the same name":       {args: text(cluster + "spec: {version: 7.3.79}\n---\n" + cluster + "spec: {version: 7.3.79}\n"), want: "in.yaml:3 and"},
		"another namespace":          {args: with(text(strings.Replace(cluster, "sample", "sample, namespace: fdb", 1)+"spec: {version: 7.3.79}\n"), "-n", "other"), want: "in.yaml:3: FoundationDBCluster sample has namespace fdb, and -n is other"},
		"an unknown field":           {args: text(cluster + "spec:\n  version: 7.3.79\n  volumeSize: 5Gi\n"), want: "in.yaml:6: spec.volumeSize (use spec.processes.general.volumeClaimTemplate"},
		"a value of the wrong type":  {args: text(cluster + "spec:\n  version: [7]\n"), want: "in.yaml:5: spec.version of FoundationDBCluster sample must be a text: put it in quotes"},
		"an old version of the kind": {args: text(strings.Replace(cluster, "v1beta2", "v1beta1", 1) + "spec: {version: 7.3.79}\n"), want: "in.yaml:1: FoundationDBCluster sample has apiVersion apps.foundationdb.org/v1beta1"},
		"a key twice":                {args: text(cluster + "spec:\n  version: 7.3.79\n  version: 7.1.67\n"), want: `already set in map`},
		"no manifest":                {args: text("hello\n"), want: "is not a manifest"},
		"an invalid spec":            {args: text(cluster + "spec:\n  version: seven\n"), want: "FoundationDBCluster sample would be invalid: IN:5: spec.version: Invalid value: \"seven\""},
		"an invalid backup":          {args: text(strings.NewReplacer("Cluster", "Backup", "sample", "nightly").Replace(cluster) + "spec:\n  version: seven\n  clusterName: sample\n"), want: "FoundationDBBackup nightly would be invalid: IN:5: spec.version: "},
		"a spec that is stored with a value that no pass carries out": {args: words("sample", "--set", "version=seven"), want: "--set version=seven: spec.version: Invalid value"},
		"not the named one":          {args: with(text(cluster+"spec: {version: 7.3.79}\n"), "other"), want: "FoundationDBCluster other is not in the manifests, which have FoundationDBCluster sample"},
		"a path that does not exist": {args: words("sample", "--set", "processCount.storage=5"), want: "unknown field spec.processCount of FoundationDBCluster; did you mean processCounts?"},
		"a path of an old version":   {args: words("sample", "--set", "volumeSize=5Gi"), want: "use spec.processes.general.volumeClaimTemplate.spec.resources.requests.storage"},
		"a number that is none":      {args: words("sample", "--set", "processCounts.storage=many"), want: `spec.processCounts.storage must be a whole number, not "many"`},
		"no value":                   {args: words("sample", "--set", "version"), want: "must be PATH=VALUE"},
		"nothing to remove":          {args: words("sample", "--unset", "skip"), want: "spec.skip is not set"},
		"an item that is not there":  {args: words("sample", "--set", "mainContainer.imageConfigs[2].tag=x"), want: "spec.mainContainer.imageConfigs[2] does not exist"},
		"a file and flags":           {args: with(text(cluster), "--set", "version=7.3.79"), want: "conflict with -f"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := tc.args(t)
			for _, command := range [][]string{{"plan"}, {"reconcile", "--yes"}} {
				g := readThrough(t)
				before := g.Cluster.Resource.DeepCopy()
				code := g.Run(append(command, args...)...)
				want := strings.ReplaceAll(tc.want, "IN:", args[max(0, slices.Index(args, "-f"))+min(1, len(args)-1)]+":")
				if code != exit.ExitUsage || !strings.Contains(g.Err.String(), want) || strings.Count(g.Err.String(), "error: ") != 1 {
					t.Errorf("%v: exit code %d, want %s\n%s", command, code, want, &g.Err)
				}
				if !cmp.Equal(before, g.Cluster.Resource) || len(g.Cluster.Acted) > 0 {
					t.Errorf("%v wrote something", command)
				}
			}
		})
	}
}

func file(path string) func(*testing.T) []string { return words("-f", path) }

func text(manifests string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		return []string{"-f", written(t, "in.yaml", manifests)}
	}
}

// with adds arguments.
func with(args func(*testing.T) []string, more ...string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		return append(args(t), more...)
	}
}

func words(args ...string) func(*testing.T) []string {
	return func(*testing.T) []string { return args }
}
