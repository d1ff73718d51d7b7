package status

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Parsed returns the document as [fdb.ParseStatus] returns its text. Writing and parsing the text of
// a thousand processes takes several times as long as all the rest of reading a status, and even
// the objects of a text have three times as many values as a program reads of a process: so
// processes are stored in their types at once.
func (c Client) Parsed() (*fdb.Status, error) {
	var processes map[string]fdb.Process
	document := c.document(func(db *model.Database) Object {
		if listsProcesses(db) {
			processes = parsedProcesses(db)
		}
		return clusterWithoutProcesses(db)
	})
	var s fdb.Status
	if err := storeValue(document, reflect.ValueOf(&s).Elem()); err != nil {
		return nil, fmt.Errorf("parse status: %w", err)
	}
	if processes != nil {
		s.Cluster.Processes = processes
	}
	return fdb.NewStatus(s.Client, s.Cluster), nil
}

// field is where a struct has the value of a key.
type field struct {
	key   string
	index []int
}

// storeValue stores documents in Go values by the tags of package json. What has no field is never
// visited.
func storeValue(from any, into reflect.Value) error {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		return storeValue(from, into.Elem())
	}
	switch from := from.(type) {
	case Object:
		return storeObject(from, into)
	case map[string]any:
		return storeObject(from, into)
	case []any:
		return storeList(from, into)
	case string:
		return storeText(from, into)
	default:
		return storeScalar(from, into)
	}
}

func storeObject(from Object, into reflect.Value) error {
	switch into.Kind() {
	case reflect.Struct:
		for _, f := range fieldsOf(into.Type()) {
			if value, ok := from[f.key]; ok {
				if err := storeValue(value, into.FieldByIndex(f.index)); err != nil {
					return fmt.Errorf("%s: %w", f.key, err)
				}
			}
		}
		return nil
	case reflect.Map:
		if texts, ok := reflect.TypeAssert[*map[string]string](into.Addr()); ok {
			return storeTexts(from, texts)
		}
		into.Set(reflect.MakeMapWithSize(into.Type(), len(from)))
		for key, value := range from {
			element := reflect.New(into.Type().Elem()).Elem()
			if err := storeValue(value, element); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			into.SetMapIndex(reflect.ValueOf(key), element)
		}
		return nil
	default:
		return mismatch(from, into)
	}
}

func storeList(from []any, into reflect.Value) error {
	if into.Kind() != reflect.Slice {
		return mismatch(from, into)
	}
	into.Set(reflect.MakeSlice(into.Type(), len(from), len(from)))
	for i, value := range from {
		if err := storeValue(value, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// knownFields are those of the types of a status document, which never change.
var knownFields sync.Map

func fieldsOf(t reflect.Type) []field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]field)
	}
	fields := taggedFields(t)
	knownFields.Store(t, fields)
	return fields
}

// taggedFields are the fields of a struct and of those that it embeds.
func taggedFields(t reflect.Type) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
			fields = append(fields, field{key, f.Index})
		}
	}
	return fields
}

func storeTexts(from Object, into *map[string]string) error {
	*into = make(map[string]string, len(from))
	for key, value := range from {
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("%s: cannot store %T in a string", key, value)
		}
		(*into)[key] = text
	}
	return nil
}

func storeText(from string, into reflect.Value) error {
	if into.Kind() == reflect.String {
		into.SetString(from)
		return nil
	}
	if text, ok := reflect.TypeAssert[encoding.TextUnmarshaler](into.Addr()); ok {
		return text.UnmarshalText([]byte(from))
	}
	return mismatch(from, into)
}

func storeScalar(from any, into reflect.Value) error {
	value := reflect.ValueOf(from)
	switch {
	case value.Kind() == reflect.Bool && into.Kind() == reflect.Bool:
		into.SetBool(value.Bool())
	case value.CanInt() && into.CanInt():
		into.SetInt(value.Int())
	case value.CanInt() && into.CanFloat():
		into.SetFloat(float64(value.Int()))
	case value.CanFloat() && into.CanFloat():
		into.SetFloat(value.Float())
	case value.CanFloat() && into.CanInt() && value.Float() == float64(int64(value.Float())):
		into.SetInt(int64(value.Float()))
	default:
		return mismatch(from, into)
	}
	return nil
}

func mismatch(from any, into reflect.Value) error {
	return fmt.Errorf("cannot store %T in %s", from, into.Type())
}
