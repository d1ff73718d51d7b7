package v1beta2

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// LostField is a field of the applied manifest that FoundationDBCluster does not have.
type LostField struct {
	// Path is where the manifest sets it.
	Path string
	// Successor is where the present version has it; empty where it has none.
	Successor string
}

// podSettings is where settings of pods are.
const podSettings = "spec.processes.general.podTemplate.spec"

// successors are where fields of v1beta1, and of early releases of v1beta2, are now.
var successors = map[string]string{
	"spec.automountServiceAccountToken":      podSettings + ".automountServiceAccountToken",
	"spec.containers":                        podSettings + ".containers",
	"spec.customParameters":                  "spec.processes.general.customParameters",
	"spec.initContainers":                    podSettings + ".initContainers",
	"spec.instanceIDPrefix":                  "spec.processGroupIDPrefix",
	"spec.instancesToRemove":                 "spec.processGroupsToRemove",
	"spec.instancesToRemoveWithoutExclusion": "spec.processGroupsToRemoveWithoutExclusion",
	"spec.mainContainer.env":                 podSettings + ".containers[foundationdb].env",
	"spec.mainContainer.imageName":           "spec.mainContainer.imageConfigs[].baseImage",
	"spec.mainContainer.securityContext":     podSettings + ".containers[foundationdb].securityContext",
	"spec.mainContainer.volumeMounts":        podSettings + ".containers[foundationdb].volumeMounts",
	"spec.pendingRemovals":                   "spec.processGroupsToRemove",
	"spec.podLabels":                         "spec.processes.general.podTemplate.metadata.labels",
	"spec.podSecurityContext":                podSettings + ".securityContext",
	"spec.podTemplate":                       "spec.processes.general.podTemplate",
	"spec.resources":                         podSettings + ".containers[foundationdb].resources",
	"spec.services":                          "spec.routing",
	"spec.sidecarContainer.env":              podSettings + ".containers[foundationdb-kubernetes-sidecar].env",
	"spec.sidecarContainer.imageName":        "spec.sidecarContainer.imageConfigs[].baseImage",
	"spec.sidecarContainer.volumeMounts":     podSettings + ".containers[foundationdb-kubernetes-sidecar].volumeMounts",
	"spec.sidecarVersion":                    "spec.sidecarContainer.imageConfigs[].tag",
	"spec.sidecarVersions":                   "spec.sidecarContainer.imageConfigs[].tag",
	"spec.storageClass":                      "spec.processes.general.volumeClaimTemplate.spec.storageClassName",
	"spec.updatePodsByReplacement":           "spec.automationOptions.podUpdateStrategy",
	"spec.volumeClaim":                       "spec.processes.general.volumeClaimTemplate",
	"spec.volumeSize":                        "spec.processes.general.volumeClaimTemplate.spec.resources.requests.storage",
	"spec.volumes":                           podSettings + ".volumes",
}

// LostFields returns the fields of the last applied manifest that FoundationDBCluster does not have: the API server
// dropped them unless the client asked for strict validation. A patch, and a server-side apply, leave no trace of
// such fields.
func (c *FoundationDBCluster) LostFields() []LostField {
	var applied struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal([]byte(c.Annotations[corev1.LastAppliedConfigAnnotation]), &applied) != nil {
		return nil
	}
	return UnknownFields("FoundationDBCluster", applied.Spec)
}

// UnknownFields returns the fields of a spec that a kind does not have, in order.
func UnknownFields(kind string, spec map[string]any) []LostField {
	of := SpecOf(kind)
	if of == nil {
		return nil
	}
	var lost []LostField
	for _, path := range unknownFields(of, spec, "spec") {
		known := LostField{Path: path}
		if kind == "FoundationDBCluster" {
			known.Successor = successors[path]
		}
		lost = append(lost, known)
	}
	return lost
}

// SpecOf returns the type of the spec of a kind; nil for a kind of others.
func SpecOf(kind string) reflect.Type {
	switch kind {
	case "FoundationDBCluster":
		return reflect.TypeFor[FoundationDBClusterSpec]()
	case "FoundationDBBackup":
		return reflect.TypeFor[FoundationDBBackupSpec]()
	case "FoundationDBRestore":
		return reflect.TypeFor[FoundationDBRestoreSpec]()
	default:
		return nil
	}
}

// FieldsOf returns the types of the fields of a type by their names in JSON; nil for a type without fields, such as one
// whose JSON is a text.
func FieldsOf(t reflect.Type) map[string]reflect.Type {
	if t.Kind() != reflect.Struct || DecodesItself(t) {
		return nil
	}
	return jsonFields(t)
}

// DecodesItself reports whether a type has a JSON form of its own, as quantities have.
func DecodesItself(t reflect.Type) bool { return reflect.PointerTo(t).Implements(decodesItself) }

// decodesItself is implemented by types whose JSON does not have the fields of the type.
var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// unknownFields returns the paths in a JSON value that a type does not have, in order.
func unknownFields(t reflect.Type, value any, path string) (unknown []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if DecodesItself(t) {
		return nil
	}
	if t.Kind() == reflect.Struct {
		return unknownOf(t, value, path)
	}
	if t.Kind() == reflect.Map {
		object, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			unknown = append(unknown, unknownFields(t.Elem(), object[key], path+"."+key)...)
		}
	}
	if t.Kind() == reflect.Slice {
		items, _ := value.([]any)
		for i, item := range items {
			unknown = append(unknown, unknownFields(t.Elem(), item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return unknown
}

func unknownOf(t reflect.Type, value any, path string) (unknown []string) {
	object, _ := value.(map[string]any)
	fields := jsonFields(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, known := fields[key]
		if !known {
			unknown = append(unknown, path+"."+key)
			continue
		}
		unknown = append(unknown, unknownFields(field, object[key], path+"."+key)...)
	}
	return unknown
}

// jsonFields returns the types of the fields of a struct by their names in JSON.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}
