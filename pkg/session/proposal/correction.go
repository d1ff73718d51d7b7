package proposal

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Correction is what one line of a file must be, so that it has a problem less.
type Correction struct {
	Line          int
	Before, After string
}

// Correction returns what a line of the file must be to fix a problem; nil where that is not certain.
func (m Manifest) Correction(p Problem) *Correction {
	if !m.InFile() {
		return nil
	}
	key, value := nodesAt(m.root, p.Field)
	switch {
	case key == nil:
		return nil
	case p.name != "" && m.mayBeNamed(p):
		return m.replaced(key, p.name)
	case p.value != "":
		return m.replaced(value, p.value)
	case p.quoted:
		return m.replaced(value, strconv.Quote(value.Value))
	default:
		return nil
	}
}

// nodesAt returns the name and the value of a field; nil where the document does not have it.
func nodesAt(n *yaml.Node, path string) (key, value *yaml.Node) {
	steps, err := parsePath(path)
	if err != nil {
		return nil, nil
	}
	for _, s := range steps {
		if key, value = s.in(n); value == nil {
			return nil, nil
		}
		n = value
	}
	return key, value
}

// replaced returns the line of a plain scalar with another text in its place. What the file has there is compared: a name in
// quotes, or a value of several lines, is left to its author.
func (m Manifest) replaced(n *yaml.Node, text string) *Correction {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Line < 1 || n.Line > len(m.lines) {
		return nil
	}
	before := m.lines[n.Line-1]
	at := n.Column - 1
	if at < 0 || at > len(before) || !strings.HasPrefix(before[at:], n.Value) {
		return nil
	}
	return &Correction{Line: n.Line, Before: before, After: before[:at] + text + before[at+len(n.Value):]}
}

// mayBeNamed reports whether a field may have the other name: nothing beside it has, and its value is one of that field.
func (m Manifest) mayBeNamed(p Problem) bool {
	parent, name := cutLast(p.Field)
	spec, _, err := unstructured.NestedMap(m.Object.Object, "spec")
	steps, invalid := parsePath(parent)
	if err != nil || invalid != nil || len(steps) == 0 {
		return false
	}
	kind := m.Object.GetKind()
	before := len(v1beta2.UnknownFields(kind, spec))
	object, is := memberAt(spec, steps[1:]).(map[string]any)
	if !is || object[p.name] != nil {
		return false
	}
	object[p.name] = object[name]
	delete(object, name)
	_, _, wrong := wrongType(v1beta2.SpecOf(kind), spec, "spec")
	return !wrong && len(v1beta2.UnknownFields(kind, spec)) < before
}

// memberAt returns the part of a value that steps lead to; nil for none.
func memberAt(value any, steps []step) any {
	for _, s := range steps {
		switch of := value.(type) {
		case map[string]any:
			value = of[s.field]
		case []any:
			if s.field != "" || s.index < 0 || s.index >= len(of) {
				return nil
			}
			value = of[s.index]
		default:
			return nil
		}
	}
	return value
}

// cutLast returns a path without its last field, and that field.
func cutLast(path string) (parent, name string) {
	at := strings.LastIndexByte(path, '.')
	return path[:max(at, 0)], path[at+1:]
}

// fieldsAt returns the names of the fields of a spec at a path, such as spec.processCounts; none for what is no object.
func fieldsAt(kind, path string) []string {
	steps, err := parsePath(path)
	t := v1beta2.SpecOf(kind)
	if err != nil || len(steps) == 0 || t == nil {
		return nil
	}
	for _, s := range steps[1:] {
		if t = below(t, s); t == nil {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(v1beta2.FieldsOf(element(t))))
}
