package objects

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// operatorTypes is where the nested module keeps what the operator's own
// version of the Kubernetes types prints.
const operatorTypes = "../../../internal/specbytes/testdata"

// hashedTypes are the types whose JSON ends in a hash.
var hashedTypes = map[string]reflect.Type{
	"podspec":        reflect.TypeFor[corev1.PodSpec](),
	"claimspec":      reflect.TypeFor[corev1.PersistentVolumeClaimSpec](),
	"deploymentspec": reflect.TypeFor[appsv1.DeploymentSpec](),
}

// Fields that only one of the two versions has. A new one has to be looked at
// before it is listed: whatever we build must be the same in both.
var (
	onlyInOperatorTypes = map[string][]string{
		"podspec": {
			".workloadRef",
			".workloadRef.name",
			".workloadRef.podGroup",
			".workloadRef.podGroupReplicaKey",
		},
		"deploymentspec": {
			".template.spec.workloadRef",
			".template.spec.workloadRef.name",
			".template.spec.workloadRef.podGroup",
			".template.spec.workloadRef.podGroupReplicaKey",
		},
	}
	onlyInOurTypes = map[string][]string{
		"podspec":        {".schedulingGroup", ".schedulingGroup.podGroupName"},
		"deploymentspec": {".template.spec.schedulingGroup", ".template.spec.schedulingGroup.podGroupName"},
	}
)

func operatorText(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(operatorTypes, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTypesSerializeToTheSameBytesAsTheOperators(t *testing.T) {
	for name, typ := range hashedTypes {
		for _, filling := range []string{"full", "hollow", "zero"} {
			t.Run(name+" "+filling, func(t *testing.T) {
				want := withoutLostFields(operatorText(t, name+"-"+filling+".json"))
				v := reflect.New(typ)
				if err := json.Unmarshal(want, v.Interface()); err != nil {
					t.Fatal(err)
				}
				got, err := hashedText(v.Elem().Interface())
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want, got) {
					t.Error(cmp.Diff(string(want), string(got)))
				}
			})
		}
	}
}

// withoutLostFields cuts what our types do not know out of the operator's text.
func withoutLostFields(text []byte) []byte {
	const key = `,"workloadRef":{`
	before, after, found := bytes.Cut(text, []byte(key))
	if !found {
		return text
	}
	_, rest, _ := bytes.Cut(after, []byte("}"))
	return slices.Concat(before, rest)
}

func TestFieldDifferencesFromTheOperatorTypesAreListed(t *testing.T) {
	for name, typ := range hashedTypes {
		t.Run(name, func(t *testing.T) {
			operator := strings.Fields(string(operatorText(t, name+"-fields.txt")))
			ours := fieldPaths(typ, "")
			if diff := cmp.Diff(onlyInOperatorTypes[name], without(operator, ours)); diff != "" {
				t.Errorf("only in the operator's types (-known +found):\n%s", diff)
			}
			if diff := cmp.Diff(onlyInOurTypes[name], without(ours, operator)); diff != "" {
				t.Errorf("only in our types (-known +found):\n%s", diff)
			}
		})
	}
}

func TestPodSpecsHaveNoFieldUnknownToTheOperator(t *testing.T) {
	known := map[string]bool{}
	for path := range strings.FieldsSeq(string(operatorText(t, "podspec-fields.txt"))) {
		known[path] = true
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			spec, err := PodSpec(sample(t, kind.given...), kind.group)
			if err != nil {
				t.Fatal(err)
			}
			text, err := hashedText(spec)
			if err != nil {
				t.Fatal(err)
			}
			var document any
			if err := json.Unmarshal(text, &document); err != nil {
				t.Fatal(err)
			}
			for _, path := range unknownPaths(document, "", known) {
				t.Errorf("%s is unknown to the operator", path)
			}
		})
	}
}

// unknownPaths are the paths in a JSON document that are no fields. An object at
// a path without fields below is a map, and its keys are free.
func unknownPaths(document any, path string, known map[string]bool) []string {
	var unknown []string
	switch value := document.(type) {
	case []any:
		for _, item := range value {
			unknown = append(unknown, unknownPaths(item, path+"[]", known)...)
		}
	case map[string]any:
		for key, item := range value {
			below := path + "." + key
			if known[below] {
				unknown = append(unknown, unknownPaths(item, below, known)...)
			} else if hasFields(path, known) {
				unknown = append(unknown, below)
			}
		}
	}
	return unknown
}

func hasFields(path string, known map[string]bool) bool {
	for field := range known {
		if strings.HasPrefix(field, path+".") {
			return true
		}
	}
	return false
}

func TestUnknownPathsAreFound(t *testing.T) {
	known := map[string]bool{".a": true, ".a[].b": true, ".labels": true}
	document := map[string]any{"a": []any{map[string]any{"b": 1, "new": 2}}, "labels": map[string]any{"free": "x"}, "newer": 3}
	got := unknownPaths(document, "", known)
	slices.Sort(got)
	if diff := cmp.Diff([]string{".a[].new", ".newer"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func without(all, drop []string) []string {
	var rest []string
	for _, s := range all {
		if _, found := slices.BinarySearch(drop, s); !found {
			rest = append(rest, s)
		}
	}
	return rest
}

// ownJSON are the types that write their own JSON.
var ownJSON = []reflect.Type{
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
	reflect.TypeFor[metav1.Time](),
	reflect.TypeFor[metav1.FieldsV1](),
}

// fieldPaths are the JSON paths of all fields below t, in order, spelled as the nested module spells them.
func fieldPaths(t reflect.Type, path string) []string {
	if slices.Contains(ownJSON, t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return fieldPaths(t.Elem(), path)
	case reflect.Slice:
		return fieldPaths(t.Elem(), path+"[]")
	case reflect.Map:
		return fieldPaths(t.Elem(), path+"{}")
	case reflect.Struct:
		return structPaths(t, path)
	default:
		return nil
	}
}

func structPaths(t reflect.Type, path string) []string {
	var paths []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			paths = append(paths, fieldPaths(f.Type, path)...)
			continue
		}
		paths = append(paths, path+"."+name)
		paths = append(paths, fieldPaths(f.Type, path+"."+name)...)
	}
	slices.Sort(paths)
	return paths
}
