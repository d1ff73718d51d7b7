package release

import (
	"encoding/json"
	"os"
	"path/filepath"
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
	var config struct {
		Data map[string]string `json:"data"`
	}
	readYAML(t, filepath.Join(root, "manifests/gitops/argocd-cm.yaml"), &config)
	for _, r := range resources(t) {
		t.Run(r.Name, func(t *testing.T) {
			check := config.Data["resource.customizations.health.apps.foundationdb.org_"+r.Resource["kind"].(string)]
			status, message := argoHealth(t, check, r.Resource)
			if status != r.Argo || message == "" {
				t.Errorf("health %q (%s), want %s", status, message, r.Argo)
			}
		})
	}
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
	for _, r := range resources(t) {
		t.Run(r.Name, func(t *testing.T) {
			text, err := json.Marshal(r.Resource)
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
			status, cause := "Unknown", ""
			if got, err := evaluator.Evaluate(t.Context(), object); err != nil {
				cause = err.Error()
			} else {
				status = string(got.Status)
			}
			if status != r.Flux {
				t.Errorf("status %s, want %s: %s", status, r.Flux, cause)
			}
		})
	}
}
