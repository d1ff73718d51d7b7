package main

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// opaque are the types that write their own JSON.
var opaque = []reflect.Type{
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
	reflect.TypeFor[metav1.Time](),
	reflect.TypeFor[metav1.FieldsV1](),
}

// fieldPaths are the JSON paths of all fields below t, sorted. A list adds [] and a map {}.
func fieldPaths(t reflect.Type) []string {
	var paths []string
	walk(t, "", &paths)
	slices.Sort(paths)
	return paths
}

func walk(t reflect.Type, path string, paths *[]string) {
	switch {
	case slices.Contains(opaque, t):
	case t.Kind() == reflect.Pointer:
		walk(t.Elem(), path, paths)
	case t.Kind() == reflect.Slice:
		walk(t.Elem(), path+"[]", paths)
	case t.Kind() == reflect.Map:
		walk(t.Elem(), path+"{}", paths)
	case t.Kind() == reflect.Struct:
		walkFields(t, path, paths)
	}
}

func walkFields(t reflect.Type, path string, paths *[]string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			walk(f.Type, path, paths)
			continue
		}
		below := path + "." + name
		*paths = append(*paths, below)
		walk(f.Type, below, paths)
	}
}
