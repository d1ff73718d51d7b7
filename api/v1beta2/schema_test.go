package v1beta2

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// apiServer does to a resource what an API server with our CRDs would do:
// prune, default, validate.
type apiServer struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func apiServerFor(t *testing.T, kind string) apiServer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(crdFolder, "apps.foundationdb.org_"+strings.ToLower(kind)+"s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	schema, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	return apiServer{structural, schema, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// prune removes unknown fields and names them.
func (s apiServer) prune(object map[string]any) []string {
	return pruning.PruneWithOptions(object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

func (s apiServer) validate(t *testing.T, object, old map[string]any) field.ErrorList {
	t.Helper()
	defaulting.Default(object, s.structural)
	errs := validation.ValidateCustomResource(nil, object, s.schema)
	var before any
	if old != nil {
		before = old
	}
	violations, _ := s.rules.Validate(t.Context(), nil, s.structural, object, before, celconfig.RuntimeCELCostBudget)
	return append(errs, violations...)
}

func TestTheTagOfABackupIsImmutable(t *testing.T) {
	server := apiServerFor(t, "FoundationDBBackup")
	backup := func(tag string) map[string]any {
		spec := map[string]any{"version": "7.3.79", "clusterName": "c"}
		if tag != "" {
			spec["tag"] = tag
		}
		return map[string]any{"apiVersion": GroupVersion.String(), "kind": "FoundationDBBackup", "metadata": map[string]any{"name": "b"}, "spec": spec}
	}
	tests := map[string]struct {
		before, after string
		errors        int
	}{
		"the same tag passes":      {before: "a", after: "a"},
		"another tag is refused":   {before: "a", after: "b", errors: 1},
		"a first tag passes":       {after: "a"},
		"dropping the tag passes":  {before: "a"},
		"no tag either way passes": {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			errs := server.validate(t, backup(tt.after), backup(tt.before))
			if len(errs) != tt.errors {
				t.Errorf("got errors %v, want %d", errs, tt.errors)
			}
		})
	}
}
