package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func (g *given) create(t *testing.T, args ...string) error {
	t.Helper()
	g.out.Reset()
	g.env.In = strings.NewReader(g.input)
	cmd := NewCreate(g.env)
	cmd.SetArgs(args)
	cmd.SetOut(&g.out)
	cmd.SetErr(&g.out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

func (g *given) cluster(t *testing.T, name string) *v1beta2.FoundationDBCluster {
	t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("FoundationDBCluster"))
	if err := g.api.Get(t.Context(), client.ObjectKey{Namespace: "fdb", Name: name}, found); err != nil {
		t.Fatal(err)
	}
	typed := &v1beta2.FoundationDBCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, typed); err != nil {
		t.Fatal(err)
	}
	return typed
}

func TestCreateBuildsAClusterFromItsFlags(t *testing.T) {
	g := newGiven(t)
	err := g.create(t, "orders", "--version", "7.3.79", "--redundancy", "triple", "--storage", "5", "--volume-size", "256Gi", "--storage-class", "fast", "--yes")
	if err != nil || g.changes != 4 {
		t.Fatalf("%v, %d changes\n%s", err, g.changes, &g.out)
	}
	spec := g.cluster(t, "orders").Spec
	general := spec.Processes[v1beta2.ProcessClassGeneral]
	if spec.Version != "7.3.79" || spec.DatabaseConfiguration.RedundancyMode != v1beta2.RedundancyModeTriple || spec.ProcessCounts.Storage != 5 || spec.ProcessCounts.Log != 0 {
		t.Errorf("spec %+v", spec)
	}
	claim := general.VolumeClaimTemplate.Spec
	if size := claim.Resources.Requests["storage"]; size.String() != "256Gi" || *claim.StorageClassName != "fast" {
		t.Errorf("volumes %+v", claim)
	}
	if pod := general.PodTemplate.Spec; pod.ServiceAccountName != monitorAccount || len(pod.Containers) != 2 {
		t.Errorf("pods %+v", pod)
	}
}

func TestCreateNeverChangesAnExistingCluster(t *testing.T) {
	g := newGiven(t)
	if err := g.create(t, "orders", "--version", "7.3.79", "--yes"); err != nil {
		t.Fatal(err)
	}
	created := g.changes
	if err := g.create(t, "orders", "--version", "7.3.79", "--yes"); err != nil || g.changes != created {
		t.Errorf("the same again: %v, %d changes", err, g.changes)
	}
	err := g.create(t, "orders", "--version", "7.4.6", "--yes")
	if exit.Code(err) != exit.ExitConflict || g.changes != created || g.cluster(t, "orders").Spec.Version != "7.3.79" {
		t.Errorf("another version: %v, %d changes", err, g.changes)
	}
}

func TestNoClusterIsCreatedWithoutApproval(t *testing.T) {
	g := newGiven(t)
	if err := g.create(t, "orders", "--version", "7.3.79"); exit.Code(err) != exit.ExitUnconfirmed || g.changes != 0 {
		t.Errorf("no terminal: %v, %d changes", err, g.changes)
	}
	if err := g.create(t, "orders", "--version", "7.3.79", "--dry-run"); err != nil || g.changes != 0 {
		t.Errorf("dry run: %v, %d changes", err, g.changes)
	}
	if err := g.create(t, "orders", "--version", "7.3.79", "--print"); err != nil || g.changes != 0 || strings.Count(g.out.String(), "kind: ") < 4 {
		t.Errorf("printed: %v\n%s", err, &g.out)
	}
}

func TestSettingsOfANewClusterAreChecked(t *testing.T) {
	for args, want := range map[string]string{
		"orders":                  "--version is required",
		"Orders --version 7.3.79": "invalid cluster name",
		"orders --version seven":  "version",
		"orders --version 7.3.79 --redundancy twice":    "redundancy_mode",
		"orders --version 7.3.79 --storage-engine disk": "storage_engine",
		"orders --version 7.3.79 --storage -1":          "must not be negative",
		"orders --version 7.3.79 --volume-size much":    "--volume-size must be a quantity above 0",
		"orders --version 7.3.79 --memory 0":            "--memory must be a quantity above 0",
	} {
		t.Run(args, func(t *testing.T) {
			g := newGiven(t)
			err := g.create(t, append(strings.Fields(args), "--yes")...)
			if exit.Code(err) != exit.ExitUsage || !strings.Contains(err.Error(), want) || g.changes != 0 {
				t.Errorf("%v, want %q; %d changes", err, want, g.changes)
			}
		})
	}
}

// answer gives the answers of a user on a terminal, one for each question.
func (g *given) answer(t *testing.T, input string, args ...string) error {
	t.Helper()
	g.terminal = true
	g.out.Reset()
	g.env.In = iotest.OneByteReader(strings.NewReader(input)) // a terminal returns no more than a line
	cmd := NewCreate(g.env)
	cmd.SetArgs(args)
	cmd.SetOut(&g.out)
	cmd.SetErr(&g.out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

func TestCreatePromptsForTheSettingsOfANewCluster(t *testing.T) {
	g := newGiven(t)
	if err := g.answer(t, "\ntwice\ntriple\n5\nmuch\n256Gi\n\ny\n", "orders"); err != nil || g.changes != 4 {
		t.Fatalf("%v, %d changes\n%s", err, g.changes, &g.out)
	}
	spec := g.cluster(t, "orders").Spec
	size := spec.Processes[v1beta2.ProcessClassGeneral].VolumeClaimTemplate.Spec.Resources.Requests["storage"]
	if spec.Version != suggestedVersion || spec.DatabaseConfiguration.RedundancyMode != v1beta2.RedundancyModeTriple || spec.ProcessCounts.Storage != 5 || size.String() != "256Gi" {
		t.Errorf("spec %+v", spec)
	}
	for _, want := range []string{
		"Version of FoundationDB [7.3.79]: ", "[double]: ", `invalid answer "twice": must be one of`, `invalid answer "much": must be a quantity above 0`, "[8Gi]: ",
		"kubectl fdb create orders --version 7.3.79 --redundancy triple --storage 5 --volume-size 256Gi --memory 8Gi",
	} {
		if !strings.Contains(g.out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &g.out)
		}
	}
}

func TestCreatePromptsOnlyForMissingValues(t *testing.T) {
	for name, tt := range map[string]struct {
		input string
		args  string
		code  int
		asks  int
	}{
		"a version":          {input: "y\n", args: "orders --version 7.3.79"},
		"all but a version":  {input: "\ny\n", args: "orders --redundancy single --storage 3 --volume-size 1Gi --memory 1Gi", asks: 1},
		"with an approval":   {args: "orders --yes", code: exit.ExitUsage},
		"an invalid name":    {args: "Orders", code: exit.ExitUsage},
		"the input ends":     {input: "\n\n", args: "orders", code: exit.ExitUnconfirmed, asks: 3},
		"no is the answer":   {input: "\n\n\n\n\nn\n", args: "orders", code: exit.ExitUnconfirmed, asks: 5},
		"a dry run":          {input: "\n\n\n\n\n", args: "orders --dry-run", asks: 5},
		"a manifest to read": {input: "\n\n\n\n\n", args: "orders --print", asks: 5},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			err := g.answer(t, tt.input, strings.Fields(tt.args)...)
			if exit.Code(err) != tt.code {
				t.Errorf("%v, want exit code %d\n%s", err, tt.code, &g.out)
			}
			if asks := strings.Count(g.out.String(), "]: "); asks != tt.asks {
				t.Errorf("%d questions, want %d:\n%s", asks, tt.asks, &g.out)
			}
			if tt.code != 0 && g.changes != 0 {
				t.Errorf("%d changes", g.changes)
			}
		})
	}
}

func TestCreateDoesNotPromptWithoutATerminal(t *testing.T) {
	for name, piped := range map[string]func(*session.Env) any{
		"stdin":  func(e *session.Env) any { return e.In },
		"stdout": func(e *session.Env) any { return e.Out },
		"stderr": func(e *session.Env) any { return e.ErrOut },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			g.env.ErrOut = &strings.Builder{}
			g.env.IsTerminal = func(stream any) bool { return stream != piped(g.env) }
			err := g.create(t, "orders")
			if exit.Code(err) != exit.ExitUsage || strings.Contains(fmt.Sprint(g.env.ErrOut), "[") {
				t.Errorf("%v\n%s", err, g.env.ErrOut)
			}
		})
	}
}

// audited returns the lines of the audit file.
func (g *given) audited(t *testing.T) []audit.Entry {
	t.Helper()
	path, err := audit.Path(g.env.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var entries []audit.Entry
	for line := range strings.Lines(string(text)) {
		var e audit.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestEveryCreatedObjectHasAnAuditLine(t *testing.T) {
	g := newGiven(t)
	for _, run := range []func() error{
		func() error { return g.create(t, "orders", "--version", "7.3.79", "--yes") },
		func() error { return g.run(t, "crds", "--yes") },
		func() error { return g.run(t, "rbac", "read", "--yes") },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	for _, e := range g.audited(t) {
		counts[e.Action+" "+e.Cluster]++
		if e.Stage != stageInstall || e.Result != inspect.ActionDone || e.Subject == "" || !strings.HasPrefix(e.Command, "kubectl fdb ") {
			t.Errorf("line %+v", e)
		}
	}
	if counts["CreateFoundationDBCluster orders"] != 1 || counts["CreateServiceAccount orders"] != 1 || counts["CreateCustomResourceDefinition "] != 3 || counts["CreateRole "] != 1 {
		t.Errorf("lines %v", counts)
	}
}

func TestNothingIsCreatedIfTheAuditFileCannotBeContinued(t *testing.T) {
	g := newGiven(t)
	path, err := audit.Path(g.env.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"create": g.create(t, "orders", "--version", "7.3.79", "--yes"), "install": g.run(t, "crds", "--yes")} {
		if exit.Code(err) != exit.ExitRefused || g.changes > 0 {
			t.Errorf("%s: %v after %d changes", name, err, g.changes)
		}
	}
}
