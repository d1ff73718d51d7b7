package plan

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Fingerprint identifies what an action does: its kind and every field that changes what is
// done, payloads included. Two actions with the same fingerprint do the same thing, whatever
// their descriptions. It has the form "sha256:" and 64 hex digits.
//
// A field tagged `fingerprint:"-"` does not count: the time of the action, or text that only
// explains. One tagged `fingerprint:"presence"` counts as empty or not. The metadata of
// Kubernetes objects that the API server maintains does not count.
func Fingerprint(a Action) string {
	text, err := json.Marshal(struct {
		Kind string
		Does any
	}{KindOf(a), canonical(reflect.ValueOf(a))})
	if err != nil {
		panic(err) // the types of actions are ours, and all of them encode
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ownPackage is where the structs are whose fields are taken one by one: their JSON leaves
// payloads out.
var ownPackage = reflect.TypeFor[Effect]().PkgPath()

// identified is a value that returns the part of it that counts.
type identified interface{ identity() any }

// canonical is a value in a form whose JSON is the same for the same content.
func canonical(v reflect.Value) any {
	switch v.Kind() { //nolint:exhaustive // all others are their own form
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if object, ok := reflect.TypeAssert[runtime.Object](v); ok {
			return withoutBookkeeping(object)
		}
		return canonical(v.Elem())
	case reflect.Map:
		if v.Len() == 0 {
			return nil // as JSON that leaves it out reads back
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return nil
		}
		each := make([]any, v.Len())
		for i := range each {
			each[i] = canonical(v.Index(i))
		}
		return each
	case reflect.Struct:
		if known, ok := reflect.TypeAssert[identified](v); ok {
			return known.identity()
		}
		if _, encodes := reflect.TypeAssert[encoding.TextMarshaler](v); !encodes && v.Type().PkgPath() == ownPackage {
			return fields(v)
		}
	}
	return v.Interface()
}

// fields are the fields of one of our structs that count. encoding/json writes the keys of a
// map in order.
func fields(v reflect.Value) map[string]any {
	counted := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch field.Tag.Get("fingerprint") {
		case "-":
		case "presence":
			counted[field.Name] = !v.Field(i).IsZero()
		default:
			counted[field.Name] = canonical(v.Field(i))
		}
	}
	return counted
}

// withoutBookkeeping is an object without the metadata that the API server maintains.
func withoutBookkeeping(object runtime.Object) any {
	object = object.DeepCopyObject()
	if meta, ok := object.(metav1.Object); ok {
		meta.SetResourceVersion("")
		meta.SetGeneration(0)
		meta.SetManagedFields(nil)
		meta.SetCreationTimestamp(metav1.Time{})
		meta.SetOwnerReferences(ownersByName(meta.GetOwnerReferences()))
	}
	return object
}

// ownersByName leaves out the UIDs of owning resources: a plan can be made before its resource exists. That it is carried
// out for the resource of the plan alone is compared by itself.
func ownersByName(owners []metav1.OwnerReference) []metav1.OwnerReference {
	owners = slices.Clone(owners)
	for i := range owners {
		if group, _, _ := strings.Cut(owners[i].APIVersion, "/"); group == v1beta2.GroupVersion.Group {
			owners[i].UID = ""
		}
	}
	return owners
}
