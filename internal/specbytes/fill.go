package main

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fillings are the values of a type that together show all of its JSON: with
// every field set, with every container present but empty, and with nothing.
var fillings = map[string]func(reflect.Type) any{
	"full":   func(t reflect.Type) any { return filled(t, &full{}) },
	"hollow": func(t reflect.Type) any { return filled(t, hollow{}) },
	"zero":   func(t reflect.Type) any { return reflect.Zero(t).Interface() },
}

// leaves returns what stands where no further structure is.
type leaves interface {
	// set gives v, a scalar found at path, its value.
	set(v reflect.Value, path string)
	// special gives v its value if its type writes its own JSON.
	special(v reflect.Value) bool
}

// filled is a value of type t with every pointer, list and map present.
func filled(t reflect.Type, l leaves) any {
	v := reflect.New(t).Elem()
	fill(v, t.Name(), l)
	return v.Interface()
}

func fill(v reflect.Value, path string, l leaves) {
	if l.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, l)
	case reflect.Struct:
		for field, value := range v.Fields() {
			fill(value, path+"."+field.Name, l)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, l)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, path+".key", l)
		fill(value, path, l)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	default:
		l.set(v, path)
	}
}

// full gives every scalar a value of its own.
type full struct{ count int64 }

func (f *full) set(v reflect.Value, path string) {
	f.count++
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString(path)
	case v.CanInt():
		v.SetInt(f.count%100 + 1)
	default:
		panic("no value for " + path + " of kind " + v.Kind().String())
	}
}

func (f *full) special(v reflect.Value) bool {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	return setSpecial(v, resource.MustParse("128G"), intstr.FromInt32(8080), metav1.NewTime(at), metav1.FieldsV1{Raw: []byte(`{"f:a":{}}`)})
}

// hollow leaves every scalar at zero, so that what is written in spite of that shows.
type hollow struct{}

func (hollow) set(reflect.Value, string) {}

// special leaves what would be written as null alone: reading null gives nothing back.
func (hollow) special(v reflect.Value) bool {
	switch v.Type() {
	case reflect.TypeFor[*metav1.Time](), reflect.TypeFor[*metav1.FieldsV1]():
		return true
	}
	return setSpecial(v, resource.Quantity{}, intstr.IntOrString{}, metav1.Time{}, metav1.FieldsV1{})
}

// setSpecial sets v to the candidate of its own type, if there is one.
func setSpecial(v reflect.Value, candidates ...any) bool {
	for _, c := range candidates {
		if reflect.TypeOf(c) == v.Type() {
			v.Set(reflect.ValueOf(c))
			return true
		}
	}
	return false
}
