package diagnose_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// manifestOf returns a manifest; the lines of its spec begin with the sixth.
func manifestOf(version, kind, name string, spec ...string) string {
	return "apiVersion: apps.foundationdb.org/" + version + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\nspec:\n  " + strings.Join(spec, "\n  ") + "\n"
}

func clusterOf(spec ...string) string {
	return manifestOf("v1beta2", "FoundationDBCluster", "orders", spec...)
}

// quotaOf returns a ResourceQuota with what it counts.
func quotaOf(hard string) string {
	return "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute}\nspec: {hard: {" + hard + "}}\n"
}

const (
	version = `version: 7.3.79`
	backup  = "clusterName: orders"
	stored  = "blobStoreConfiguration: {accountName: account@store:8080}"
)

var small = []string{
	version, "processes:", "  general:", "    podTemplate:", "      spec:", "        containers:", "        - name: foundationdb",
	"          resources:", "            limits:", "              memory: 128Mi",
}

// found are the findings of all reports, as RULE LINE FIELD.
func found(t *testing.T, g *commandstest.Given) (all []string) {
	t.Helper()
	var l check.ReportList
	if err := json.Unmarshal(g.Out.Bytes(), &l); err != nil {
		t.Fatalf("%v\n%s%s", err, &g.Out, &g.Err)
	}
	for _, r := range l.Items {
		for _, item := range r.Items {
			for _, f := range item.Findings {
				all = append(all, fmt.Sprintf("%s %s %02d %s", item.Rule, filepath.Base(f.File), f.Line, f.Field))
			}
		}
	}
	return all
}

func TestManifestsAreCheckedBeforeTheyAreApplied(t *testing.T) {
	tests := map[string]struct {
		text string
		args []string
		code int
		want []string
	}{
		"a valid cluster":               {clusterOf(version), nil, exit.ExitDone, nil},
		"a misspelled field":            {clusterOf(version, "processCount:", "  storage: 5"), nil, exit.ExitNo, []string{"CFG-001 a.yaml 07 spec.processCount"}},
		"a field of an earlier version": {clusterOf(version, "storageServersPerPod: 2", "runningVersion: 7.3.79"), nil, exit.ExitNo, []string{"CFG-001 a.yaml 08 spec.runningVersion"}},
		"an apiVersion that is not served, and its fields": {
			manifestOf("v1beta1", "FoundationDBCluster", "orders", version, "runningVersion: 7.3.79"), nil, exit.ExitNo,
			[]string{"CFG-001 a.yaml 07 spec.runningVersion", "CFG-011 a.yaml 01 apiVersion"},
		},
		"a number instead of a text":           {clusterOf("version: 7.3"), nil, exit.ExitNo, []string{"CFG-011 a.yaml 06 spec.version"}},
		"an invalid value":                     {clusterOf("version: latest"), nil, exit.ExitNo, []string{"CFG-011 a.yaml 06 spec.version"}},
		"a tag of another version":             {clusterOf(version, "mainContainer:", "  imageConfigs:", "  - tag: 7.1.26"), nil, exit.ExitNo, []string{"UPGRADE-010 a.yaml 09 spec.mainContainer.imageConfigs[0].tag"}},
		"too little memory":                    {clusterOf(small...), []string{"--rules", "CFG"}, exit.ExitDone, []string{"CFG-013 a.yaml 09 spec.processes[general].podTemplate", "CFG-013 a.yaml 09 spec.processes[general].podTemplate", "CFG-013 a.yaml 09 spec.processes[general].podTemplate"}},
		"warnings fail with --fail-on":         {clusterOf(small...), []string{"--rules", "CFG-013", "--fail-on", "warning"}, exit.ExitNo, []string{"CFG-013 a.yaml 09 spec.processes[general].podTemplate", "CFG-013 a.yaml 09 spec.processes[general].podTemplate", "CFG-013 a.yaml 09 spec.processes[general].podTemplate"}},
		"an invalid backup of a cluster":       {clusterOf(version) + "---\n" + manifestOf("v1beta2", "FoundationDBBackup", "nightly", backup, stored, "version: latest"), nil, exit.ExitNo, []string{"BACKUP-014 a.yaml 15 spec.version"}},
		"a backup without its cluster":         {manifestOf("v1beta2", "FoundationDBBackup", "nightly", backup, stored, version), []string{"--fail-on", "warning"}, exit.ExitUnreachable, nil},
		"two backups with the same tag":        {clusterOf(version) + "---\n" + manifestOf("v1beta2", "FoundationDBBackup", "a", backup, stored, version) + "---\n" + manifestOf("v1beta2", "FoundationDBBackup", "b", backup, stored, version), []string{"--rules", "BACKUP-010"}, exit.ExitNo, []string{"BACKUP-010 a.yaml 08 "}},
		"a quota of pods beside":               {clusterOf(version) + "---\n" + quotaOf("pods: 10"), nil, exit.ExitDone, []string{"ADM-002 a.yaml 05 spec.processCounts"}},
		"a quota with room":                    {clusterOf(version) + "---\n" + quotaOf("pods: 100"), nil, exit.ExitDone, nil},
		"a quota of another namespace":         {clusterOf(version) + "---\n" + strings.Replace(quotaOf("pods: 10"), "name: compute", "name: compute, namespace: other", 1), nil, exit.ExitDone, nil},
		"a quota of what no pod sets":          {clusterOf(version) + "---\n" + quotaOf("example.com/gpu: 1"), nil, exit.ExitDone, nil},
		"a limit range below the requests":     {clusterOf(version) + "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Gi}}]}\n", []string{"--fail-on", "warning"}, exit.ExitNo, []string{"ADM-002 a.yaml 05 spec.processes[log].volumeClaimTemplate", "ADM-002 a.yaml 05 spec.processes[storage].volumeClaimTemplate"}},
		"two manifests of the same resource":   {clusterOf(version) + "---\n" + clusterOf(version), nil, exit.ExitUsage, nil},
		"no resource of ours":                  {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n", nil, exit.ExitUsage, nil},
		"no manifest":                          {"- a\n- b\n", nil, exit.ExitUsage, nil},
		"a cluster name beside":                {clusterOf(version), []string{"orders"}, exit.ExitUsage, nil},
		"--wait":                               {clusterOf(version), []string{"--wait"}, exit.ExitUsage, nil},
		"all namespaces":                       {clusterOf(version), []string{"-A"}, exit.ExitUsage, nil},
		"a family that only a cluster answers": {clusterOf(version), []string{"--rules", "AVAIL"}, exit.ExitDone, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if code := local(g, append([]string{"check", "--local", "-o", "json", "-f", writeFile(t, tc.text)}, tc.args...)...); code != tc.code {
				t.Fatalf("exit code %d, want %d\n%s", code, tc.code, &g.Err)
			}
			if tc.code == exit.ExitUsage {
				return
			}
			got := slices.DeleteFunc(found(t, g), func(s string) bool { return strings.HasPrefix(s, "POD-005") })
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// local runs a command line where no API server can be reached.
func local(g *commandstest.Given, args ...string) int {
	g.Out.Reset()
	g.Err.Reset()
	e := g.Environment()
	e.Client = func() (client.Client, error) { return nil, errors.New("no API server can be reached") }
	return commands.Run(g.T.Context(), e, args)
}

func TestTheAPIServerReportsWhatItWouldDropOfAManifest(t *testing.T) {
	g := commandstest.Up(t)
	g.Proposes = true
	before := g.Cluster.Resource.DeepCopy()
	path := writeFile(t, manifestOf("v1beta2", "FoundationDBCluster", "sample", version, "processCount:", "  storage: 5"))
	if code := g.Run("check", "-f", path, "-o", "json"); code != exit.ExitNo {
		t.Fatalf("exit code %d\n%s%s", code, &g.Out, &g.Err)
	}
	if !slices.Contains(found(t, g), "CFG-001 a.yaml 07 spec.processCount") || !strings.Contains(g.Out.String(), "the API server would drop spec.processCount") {
		t.Errorf("findings: %s", &g.Out)
	}
	if diff := cmp.Diff(before, g.Cluster.Resource); diff != "" {
		t.Errorf("the check stored something:\n%s", diff)
	}
}

// A quota of the namespace counts what is there; one that is about to be applied has another maximum.
// An API server makes no dry run in a namespace that only the manifests have: then what this program knows is checked, with a warning.
func TestManifestsAreCheckedBesideTheirNamespace(t *testing.T) {
	g := commandstest.Up(t)
	watching, is := g.Client().(client.WithWatch)
	if !is {
		t.Fatalf("%T cannot refuse", g.Client())
	}
	api := interceptor.NewClient(watching, interceptor.Funcs{Create: func(ctx context.Context, below client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if o.GetNamespace() == "fresh" {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "fresh")
		}
		return below.Create(ctx, o, options...)
	}})
	manifest := clusterOf(version, "routin: {}")
	namespace := "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n"
	if code := g.RunOn(api, "check", "-n", "fresh", "-f", writeFile(t, manifest)); code != exit.ExitUsage {
		t.Errorf("without the namespace: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	code := g.RunOn(api, "check", "-n", "fresh", "-o", "json", "-f", writeFile(t, manifest+namespace))
	if !strings.Contains(g.Err.String(), "does not have Namespace fresh of the manifests yet") || code == exit.ExitUsage {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	if all := found(t, g); !slices.ContainsFunc(all, func(f string) bool { return strings.Contains(f, "spec.routin") }) {
		t.Errorf("no finding about the unknown field: %v", all)
	}
}

func TestTheQuotasOfTheNamespaceAreComparedWithWhatAManifestAdds(t *testing.T) {
	grown := manifestOf("v1beta2", "FoundationDBCluster", "sample", version, "processCounts: {storage: 6, log: 3, stateless: 3}")
	for name, tc := range map[string]struct {
		hard   int64
		beside string
		want   bool
	}{
		"no room":                        {11, "", true},
		"room":                           {12, "", false},
		"no room, and the quota changes": {12, quotaOf("pods: 11"), true},
		"room, once the quota changes":   {11, quotaOf("pods: 12"), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Proposes = true
			count := func(n int64) corev1.ResourceList {
				return corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(n, resource.DecimalSI)}
			}
			quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "compute"}, Status: corev1.ResourceQuotaStatus{Hard: count(tc.hard), Used: count(9)}}
			g.Objects = append(g.Objects, quota)
			path := writeFile(t, grown+"---\n"+tc.beside)
			g.Run("check", "-f", path, "-o", "json", "--rules", "ADM-002")
			if got := slices.Equal(found(t, g), []string{"ADM-002 a.yaml 07 spec.processCounts"}); got != tc.want || got != strings.Contains(g.Out.String(), "pods 12 of 11; raise the ResourceQuota") {
				t.Errorf("findings: %v: %s", found(t, g), &g.Out)
			}
		})
	}
}

func TestFindingsOfManifestsHaveLinesInEveryFormat(t *testing.T) {
	path := writeFile(t, clusterOf(version, "processCount: {}"))
	for format, want := range map[string]string{
		"sarif":    `"startLine": 7`,
		"junit":    "a.yaml:7, foundationdbcluster/orders",
		"markdown": "a.yaml:7 |",
		"wide":     "a.yaml:7,foundationdbcluster/orders",
		"json":     `"line": 7`,
	} {
		t.Run(format, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if code := local(g, "check", "--local", "-f", path, "--rules", "CFG-001", "-o", format); code != exit.ExitNo || !strings.Contains(g.Out.String(), want) {
				t.Errorf("exit code %d, want %q in\n%s%s", code, want, &g.Out, &g.Err)
			}
		})
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a line must be is certain where only a name, quotes or the version are wrong; all else is left to its author.
func TestCertainCorrectionsOfManifestsAreAPatch(t *testing.T) {
	tests := map[string]struct {
		text, want string
	}{
		"a misspelled field":                {clusterOf(version, "processCount:", "  storage: 5"), "@@ -7 +7 @@\n-  processCount:\n+  processCounts:\n"},
		"a misspelled field of a field":     {clusterOf(version, "processCounts: {statless: 5}"), "@@ -7 +7 @@\n-  processCounts: {statless: 5}\n+  processCounts: {stateless: 5}\n"},
		"an earlier name":                   {clusterOf(version, "instanceIDPrefix: a # of dc1"), "@@ -7 +7 @@\n-  instanceIDPrefix: a # of dc1\n+  processGroupIDPrefix: a # of dc1\n"},
		"a number instead of a text":        {clusterOf("version: 7.3"), "@@ -6 +6 @@\n-  version: 7.3\n+  version: \"7.3\"\n"},
		"an earlier version":                {manifestOf("v1beta1", "FoundationDBCluster", "orders", version), "@@ -1 +1 @@\n-apiVersion: apps.foundationdb.org/v1beta1\n+apiVersion: apps.foundationdb.org/v1beta2\n"},
		"a field that is elsewhere now":     {clusterOf(version, "volumeSize: 5Gi"), ""},
		"a name with another kind of value": {clusterOf(version, "services: {headless: true}"), ""},
		"a field that is also there":        {clusterOf(version, "processCount: {storage: 5}", "processCounts: {storage: 3}"), ""},
		"a value of another type":           {clusterOf(version, "processCount: [5]"), ""},
		"a name in quotes":                  {clusterOf(version, `"processCount": {storage: 5}`), ""},
		"nothing wrong":                     {clusterOf(version), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, path := commandstest.NewGiven(t), writeFile(t, tc.text)
			if tc.want != "" {
				tc.want = "--- " + path + "\n+++ " + path + "\n" + tc.want
			}
			local(g, "check", "--local", "-o", "patch", "-f", path)
			if diff := cmp.Diff(tc.want, g.Out.String()); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tc.text {
				t.Errorf("the file was written: %v", err)
			}
			local(g, "check", "--local", "-o", "sarif", "-f", path)
			if has := strings.Contains(g.Out.String(), `"insertedContent"`); has != (tc.want != "") {
				t.Errorf("SARIF has fixes: %t", has)
			}
		})
	}
}

func TestACorrectionIsPrintedWithItsFinding(t *testing.T) {
	g := commandstest.NewGiven(t)
	local(g, "check", "--local", "-f", writeFile(t, clusterOf(version, "processCount: {}")), "--rules", "CFG-001")
	if !strings.Contains(g.Out.String(), "did you mean processCounts? (the line must be: processCounts: {})") {
		t.Error(&g.Out)
	}
	if code := g.Run("check", "sample", "-o", "patch"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "-o patch requires -f") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}
