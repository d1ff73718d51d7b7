package proposal

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// decodeJSON decodes JSON with whole numbers as int64, as unstructured objects have them.
func decodeJSON(text []byte, into *map[string]any) error { return utiljson.Unmarshal(text, into) }

// Edit is a change of one field: PATH=VALUE, or the removal of PATH.
type Edit struct {
	// Path is that of the field: spec.processCounts.storage, where "spec." may be omitted. Items of lists are
	// [2], or [name=foundationdb] by a field; keys of objects with dots are [a.b/c].
	Path string
	// Value is its new value as text; nil removes the field.
	Value *string
}

// Edits returns the edits of --set and --unset.
func Edits(set, unset []string) (all []Edit, err error) {
	for _, text := range set {
		path, value, found := cutPath(text)
		if !found {
			return nil, exit.Usagef("invalid --set %q: must be PATH=VALUE, such as version=7.3.79", text)
		}
		all = append(all, Edit{path, &value})
	}
	for _, path := range unset {
		all = append(all, Edit{Path: path})
	}
	return all, nil
}

// cutPath cuts PATH=VALUE at the first = outside of brackets.
func cutPath(text string) (path, value string, found bool) {
	depth := 0
	for i, r := range text {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case '=':
			if depth == 0 {
				return text[:i], text[i+1:], i > 0
			}
		}
	}
	return "", "", false
}

// step is one part of a path: a field, an item of a list by its number, or by the value of one of its fields.
type step struct {
	field      string
	index      int
	key, value string
}

func (s step) text() string {
	switch {
	case s.field != "":
		return s.field
	case s.key != "":
		return "[" + s.key + "=" + s.value + "]"
	default:
		return "[" + strconv.Itoa(s.index) + "]"
	}
}

// parsePath parses a path into its steps.
func parsePath(path string) (steps []step, err error) {
	for rest := path; rest != ""; {
		var s step
		if s, rest, err = firstStep(rest); err != nil {
			return nil, err
		}
		steps = append(steps, s)
		after, more := strings.CutPrefix(rest, ".")
		if rest = after; more && rest == "" {
			return nil, fmt.Errorf("a field is missing after %q", path)
		}
	}
	return steps, nil
}

// firstStep cuts the first step off a path.
func firstStep(path string) (s step, rest string, err error) {
	if inside, opened := strings.CutPrefix(path, "["); opened {
		inside, rest, closed := strings.Cut(inside, "]")
		if !closed {
			return step{}, "", fmt.Errorf("%q has no ]", path)
		}
		s, err := inBrackets(inside)
		return s, rest, err
	}
	end := strings.IndexAny(path, ".[")
	switch end {
	case 0:
		return step{}, "", fmt.Errorf("a field is missing before %q", path)
	case -1:
		end = len(path)
	}
	return step{field: path[:end]}, path[end:], nil
}

// inBrackets parses [NUMBER], [FIELD=VALUE], and [KEY], which is a key of an object as in messages about fields.
func inBrackets(inside string) (step, error) {
	if key, value, selected := strings.Cut(inside, "="); selected && key != "" {
		return step{key: key, value: value, index: -1}, nil
	}
	if inside == "" {
		return step{}, errors.New("[] must be [NUMBER], [FIELD=VALUE] or [KEY]")
	}
	if strings.Trim(inside, "0123456789") != "" {
		return step{field: inside}, nil
	}
	index, err := strconv.Atoi(inside)
	return step{index: index}, err
}

// apply changes a field of a spec of a kind.
func (e Edit) apply(kind string, spec map[string]any) (err error) {
	steps, err := parsePath(e.Path)
	if err != nil {
		return exit.Usage(fmt.Errorf("invalid path %q: %w", e.Path, err))
	}
	if len(steps) > 0 && steps[0].field == "spec" {
		steps = steps[1:]
	}
	if len(steps) == 0 {
		return exit.Usagef("invalid path %q: must name a field of spec", e.Path)
	}
	w := writer{edit: e, kind: kind}
	_, err = w.within(v1beta2.SpecOf(kind), spec, steps, "spec") // an object is changed in place
	return err
}

// writer follows the steps of an edit.
type writer struct {
	edit Edit
	kind string
}

// within returns a value after the edit of the part that steps lead to. The type is that of the value.
func (w writer) within(t reflect.Type, value any, steps []step, at string) (any, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(steps) == 0 {
		return w.parsed(t, at)
	}
	switch {
	case v1beta2.DecodesItself(t):
	case t.Kind() == reflect.Struct && steps[0].field != "":
		field, known := v1beta2.FieldsOf(t)[steps[0].field]
		if !known {
			return nil, w.unknown(t, steps[0].field, at)
		}
		return w.member(field, value, steps, at)
	case t.Kind() == reflect.Map && steps[0].field != "":
		return w.member(t.Elem(), value, steps, at)
	case t.Kind() == reflect.Slice && steps[0].field == "":
		return w.item(t.Elem(), value, steps, at)
	}
	return nil, exit.Usagef("unknown field %s of %s: %s is %s", w.edit.Path, w.kind, at, typeWords(t))
}

func (w writer) unknown(t reflect.Type, field, at string) error {
	known := slices.Sorted(maps.Keys(v1beta2.FieldsOf(t)))
	if lost := v1beta2.UnknownFields(w.kind, map[string]any{field: nil}); at == "spec" && len(lost) > 0 && lost[0].Successor != "" {
		return exit.Usagef("unknown field %s.%s of %s: use %s", at, field, w.kind, lost[0].Successor)
	}
	return exit.Usagef("unknown field %s.%s of %s%s", at, field, w.kind, phrase.OrMeant(field, known))
}

// member edits a member of an object.
func (w writer) member(t reflect.Type, value any, steps []step, at string) (any, error) {
	object, _ := value.(map[string]any)
	key, at := steps[0].field, at+"."+steps[0].field
	part, isSet := object[key]
	if w.edit.Value == nil && (len(steps) == 1 || !isSet) {
		if !isSet {
			return nil, exit.Usagef("%s is not set, so --unset %s has nothing to remove", at, w.edit.Path)
		}
		delete(object, key)
		return object, nil
	}
	changed, err := w.within(t, part, steps[1:], at)
	if err != nil {
		return nil, err
	}
	if object == nil {
		object = map[string]any{}
	}
	object[key] = changed
	return object, nil
}

// item edits an item of a list. The number behind the last one appends.
func (w writer) item(t reflect.Type, value any, steps []step, at string) (any, error) {
	items, _ := value.([]any)
	items = slices.Clone(items)
	i, err := steps[0].indexIn(items, at)
	if err != nil {
		return nil, err
	}
	at += steps[0].text()
	switch {
	case i == len(items) && w.edit.Value == nil:
		return nil, exit.Usagef("%s is not set, so --unset %s has nothing to remove", at, w.edit.Path)
	case i == len(items):
		items = append(items, nil)
	case len(steps) == 1 && w.edit.Value == nil:
		return slices.Delete(items, i, i+1), nil
	}
	if items[i], err = w.within(t, items[i], steps[1:], at); err != nil {
		return nil, err
	}
	return items, nil
}

// indexIn returns which item a step selects.
func (s step) indexIn(items []any, at string) (int, error) {
	if s.key == "" {
		if s.index > len(items) {
			return 0, exit.Usagef("%s[%d] does not exist: %s has %s", at, s.index, at, phrase.Count(len(items), "item"))
		}
		return s.index, nil
	}
	var values []string
	for i, item := range items {
		object, _ := item.(map[string]any)
		value := fmt.Sprint(object[s.key])
		if value == s.value {
			return i, nil
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return 0, exit.Usagef("%s%s does not exist: %s has no items", at, s.text(), at)
	}
	return 0, exit.Usagef("%s%s does not exist: %s must be one of %s%s", at, s.text(), s.key, strings.Join(values, ", "), phrase.OrMeant(s.value, values))
}

// parsed returns the value of an edit as a type.
func (w writer) parsed(t reflect.Type, at string) (any, error) {
	text := *w.edit.Value
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		if _, err := resource.ParseQuantity(text); err != nil {
			return nil, w.mistyped(at, text, "a quantity, such as 8Gi")
		}
		return text, nil
	case t.Kind() == reflect.String:
		return text, nil
	case t.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, w.mistyped(at, text, "true or false")
		}
		return b, nil
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, w.mistyped(at, text, "a whole number")
		}
		return n, nil
	}
	return w.decoded(t, at, text)
}

// decoded returns the value of an edit as an object, a list, or a type with a JSON form of its own.
func (w writer) decoded(t reflect.Type, at, text string) (any, error) {
	holder := map[string]any{}
	encoded, err := sigsyaml.YAMLToJSONStrict([]byte("value: " + text))
	if err == nil {
		err = decodeJSON(encoded, &holder)
	}
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("%s: %q must be %s in YAML: %w", at, text, typeWords(t), err))
	}
	inner, err := utiljson.Marshal(holder["value"])
	if err == nil {
		err = utiljson.Unmarshal(inner, reflect.New(t).Interface())
	}
	if err != nil || holder["value"] == nil {
		return nil, w.mistyped(at, text, typeWords(t)+" in YAML")
	}
	return holder["value"], nil
}

func (w writer) mistyped(at, text, want string) error {
	return exit.Usagef("%s must be %s, not %q", at, want, text)
}

// mistyped refuses a manifest with values of the wrong type.
func (m Manifest) mistyped() error {
	kind := m.Object.GetKind()
	path, want, found := wrongType(v1beta2.SpecOf(kind), m.Object.Object["spec"], "spec")
	if !found {
		return nil
	}
	problem := Problem{Field: path, Message: path + " of " + m.Title() + " must be " + want}
	if want == textWords {
		problem.Message, problem.quoted = problem.Message+": put it in quotes", true
	}
	return exit.Usage(&RefusedError{Manifest: m, Kind: Mistyped, Problems: []Problem{problem}})
}

// wrongType finds the first value that is not of its type, and the words for that.
func wrongType(t reflect.Type, value any, path string) (at, want string, found bool) {
	t = element(t)
	if value == nil || v1beta2.DecodesItself(t) {
		return "", "", false
	}
	kind, right := t.Kind(), false
	switch value := value.(type) {
	case map[string]any:
		if kind == reflect.Struct || kind == reflect.Map {
			return wrongMember(t, value, path)
		}
	case []any:
		if kind == reflect.Slice {
			return wrongItem(t, value, path)
		}
	case string:
		right = kind == reflect.String || kind == reflect.Slice // bytes are texts in JSON
	case bool:
		right = kind == reflect.Bool
	case int64:
		right = kind >= reflect.Int && kind <= reflect.Float64
	case float64:
		right = kind == reflect.Float64
	}
	return path, typeWords(t), !right
}

func wrongMember(t reflect.Type, object map[string]any, path string) (at, want string, found bool) {
	fields := v1beta2.FieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		of := fields[key]
		if t.Kind() == reflect.Map {
			of = t.Elem()
		}
		if of == nil {
			continue // it is unknown, which is reported by itself
		}
		if at, want, found = wrongType(of, object[key], memberPath(path, key)); found {
			return at, want, true
		}
	}
	return "", "", false
}

func wrongItem(t reflect.Type, items []any, path string) (at, want string, found bool) {
	for i, item := range items {
		if at, want, found = wrongType(t.Elem(), item, path+"["+strconv.Itoa(i)+"]"); found {
			return at, want, true
		}
	}
	return "", "", false
}

// textWords are what a text is called.
const textWords = "a text"

// typeWords returns what a value of a type is called.
func typeWords(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case v1beta2.DecodesItself(t):
		return "a value"
	case t.Kind() == reflect.String:
		return textWords
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "an object"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}

// Paths returns the paths of a kind that begin as typed does, for completion: those of fields one level below what is
// typed, with a "." where fields follow.
func Paths(kind, typed string) (all []string) {
	parent := typed[:strings.LastIndexByte(typed, '.')+1]
	t := v1beta2.SpecOf(kind)
	steps, err := parsePath(strings.TrimSuffix(strings.TrimPrefix(parent, "spec."), "."))
	if err != nil || t == nil {
		return nil
	}
	for _, s := range steps {
		if t = below(t, s); t == nil {
			return nil
		}
	}
	for field, of := range v1beta2.FieldsOf(element(t)) {
		path := parent + field
		switch of = element(of); {
		case of.Kind() == reflect.Map && v1beta2.FieldsOf(element(of.Elem())) != nil, v1beta2.FieldsOf(of) != nil:
			path += "."
		default:
			path += "="
		}
		if strings.HasPrefix(path, typed) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// below returns the type that a step leads to; nil for none.
func below(t reflect.Type, s step) reflect.Type {
	t = element(t)
	switch {
	case s.field != "" && t.Kind() == reflect.Struct:
		return v1beta2.FieldsOf(t)[s.field]
	case s.field != "" && t.Kind() == reflect.Map, s.field == "" && t.Kind() == reflect.Slice:
		return t.Elem()
	default:
		return nil
	}
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
