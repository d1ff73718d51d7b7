package release

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// judged is a resource, and what GitOps tools report of it.
type judged struct {
	Name     string         `json:"name"`
	Argo     string         `json:"argo"`
	Flux     string         `json:"flux"`
	Resource map[string]any `json:"resource"`
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func resources(t *testing.T) []judged {
	t.Helper()
	var all []judged
	readYAML(t, "testdata/health.yaml", &all)
	if len(all) < 20 {
		t.Fatalf("%d resources", len(all))
	}
	return all
}

func TestArgoCDReportsTheHealthOfEveryState(t *testing.T) {
	checks := argoChecks(t)
	for _, r := range resources(t) {
		t.Run(r.Name, func(t *testing.T) {
			status, message := argoHealth(t, checks[r.Resource["kind"].(string)], r.Resource)
			if status != r.Argo || message == "" {
				t.Errorf("health %q (%s), want %s", status, message, r.Argo)
			}
		})
	}
}

// argoChecks are the health checks of the manifest by kind.
func argoChecks(t *testing.T) map[string]string {
	t.Helper()
	var config struct {
		Data map[string]string `json:"data"`
	}
	readYAML(t, filepath.Join(root, "manifests/gitops/argocd-cm.yaml"), &config)
	checks := map[string]string{}
	for key, check := range config.Data {
		if kind, is := strings.CutPrefix(key, "resource.customizations.health.apps.foundationdb.org_"); is {
			checks[kind] = check
		}
	}
	return checks
}

// argoHealth runs a health check as Argo CD does: with the resource in obj and few libraries.
func argoHealth(t *testing.T, check string, resource map[string]any) (status, message string) {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	state.SetGlobal("obj", toLua(state, resource))
	if err := state.DoString(check); err != nil {
		t.Fatal(err)
	}
	result, is := state.Get(-1).(*lua.LTable)
	if !is {
		t.Fatalf("the check returns %s", state.Get(-1).Type())
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String()
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	}
	return lua.LNil
}

// The expressions are evaluated by Flux's own library.
func TestFluxReportsTheStatusOfEveryState(t *testing.T) {
	evaluators := fluxEvaluators(t)
	for _, r := range resources(t) {
		t.Run(r.Name, func(t *testing.T) {
			if status, cause := fluxStatus(t, evaluators, r.Resource); status != r.Flux {
				t.Errorf("status %s, want %s: %s", status, r.Flux, cause)
			}
		})
	}
}

// fluxEvaluators are the expressions of the manifest by API version and kind.
func fluxEvaluators(t *testing.T) map[string]*cel.StatusEvaluator {
	t.Helper()
	var kustomization struct {
		Spec struct {
			Checks []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	readYAML(t, filepath.Join(root, "manifests/gitops/flux-kustomization.yaml"), &kustomization)
	evaluators := map[string]*cel.StatusEvaluator{}
	for _, check := range kustomization.Spec.Checks {
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			t.Fatal(err)
		}
		evaluators[check.APIVersion+" "+check.Kind] = evaluator
	}
	return evaluators
}

// fluxStatus returns the status of a resource; it is Unknown where an expression fails.
func fluxStatus(t *testing.T, evaluators map[string]*cel.StatusEvaluator, resource map[string]any) (status, cause string) {
	t.Helper()
	text, err := json.Marshal(resource)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	evaluator := evaluators[object.GetAPIVersion()+" "+object.GetKind()]
	if evaluator == nil {
		t.Fatalf("no check for %s", object.GetKind())
	}
	got, err := evaluator.Evaluate(t.Context(), object)
	if err != nil {
		return "Unknown", err.Error()
	}
	return string(got.Status), ""
}

// recordedHealth is what GitOps tools report of the resources that were recorded in a sandbox, in the
// order of the recording.
var recordedHealth = []struct{ phase, argo, flux string }{
	{"cluster created", "Progressing", "Unknown"},
	{"database not created yet", "Progressing", "InProgress"},
	{"cluster reconciled", "Healthy", "Current"},
	{"backup created", "Progressing", "Unknown"},
	{"backup restorable", "Healthy", "Current"},
	{"spec changed", "Progressing", "InProgress"},
	{"changed spec reconciled", "Healthy", "Current"},
	{"cluster paused", "Suspended", "Current"},
	{"cluster resumed", "Healthy", "Current"},
	{"quorum lost", "Degraded", "Failed"},
	{"backup paused, not reconciled", "Progressing", "InProgress"},
	{"backup paused", "Suspended", "Current"},
	{"backup stopped", "Suspended", "Current"},
	{"restore created", "Progressing", "Unknown"},
	{"restore completed", "Healthy", "Current"},
}

// A cluster, a backup and a restore as passes write them, from their creation through an outage.
func TestGitOpsToolsFollowRecordedResources(t *testing.T) {
	var all []struct {
		Phase    string         `json:"phase"`
		Resource map[string]any `json:"resource"`
	}
	readYAML(t, "testdata/resources.yaml", &all)
	checks, evaluators := argoChecks(t), fluxEvaluators(t)
	if len(all) != len(recordedHealth) {
		t.Fatalf("%d resources, want %d", len(all), len(recordedHealth))
	}
	var lines []string
	last := map[string]health{}
	for i, r := range all {
		want := recordedHealth[i]
		kind := r.Resource["kind"].(string)
		argo, message := argoHealth(t, checks[kind], r.Resource)
		flux, cause := fluxStatus(t, evaluators, r.Resource)
		if now := (health{argo, flux}); now != last[kind] {
			lines = append(lines, fmt.Sprintf("%s: Argo CD %s (%s), Flux %s", r.Phase, turned(last[kind].argo, argo), message, turned(last[kind].flux, flux)))
			last[kind] = now
		}
		if r.Phase != want.phase || argo != want.argo || message == "" || flux != want.flux {
			t.Errorf("%s: Argo CD reports %s (%s), Flux %s (%s); want %+v", r.Phase, argo, message, flux, cause, want)
		}
	}
	show(t, lines)
	shown(t, "health", lines)
}

// health is what GitOps tools report of a resource.
type health struct{ argo, flux string }

// turned is a value, after the one before if it changed.
func turned(from, to string) string {
	if from == "" || from == to {
		return to
	}
	return from + " -> " + to
}
