package objects

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// SpecDifferences lists where an object's spec differs from the desired one, one line for each
// field: "containers[foundationdb].image: a, desired b". Fields that an API server, an
// admission webhook or a scheduler added are ignored: only desired fields are compared.
// Elements of lists with names are compared by name.
func SpecDifferences(want, have any) ([]string, error) {
	wanted, err := asJSON(want)
	if err != nil {
		return nil, fmt.Errorf("compare specs: %w", err)
	}
	found, err := asJSON(have)
	if err != nil {
		return nil, fmt.Errorf("compare specs: %w", err)
	}
	var differences []string
	compareValues("", wanted, found, &differences)
	return differences, nil
}

func asJSON(spec any) (any, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var value any
	err = json.Unmarshal(text, &value)
	return value, err
}

func compareValues(path string, want, have any, into *[]string) {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := have.(map[string]any) // of another kind: every desired field is missing
		for _, key := range sortedKeys(want) {
			compareValues(joinPath(path, key), want[key], fields[key], into)
		}
	case []any:
		elements, _ := have.([]any)
		compareLists(path, want, elements, into)
	default:
		if want != have {
			*into = append(*into, fmt.Sprintf("%s: %s, desired %s", path, shown(have), shown(want)))
		}
	}
}

func compareLists(path string, want, have []any, into *[]string) {
	for i, element := range want {
		name := nameOf(element)
		if name == "" {
			compareValues(fmt.Sprintf("%s[%d]", path, i), element, at(have, i), into)
			continue
		}
		j := slices.IndexFunc(have, func(other any) bool { return nameOf(other) == name })
		if j < 0 {
			*into = append(*into, fmt.Sprintf("%s[%s]: missing", path, name))
			continue
		}
		compareValues(fmt.Sprintf("%s[%s]", path, name), element, have[j], into)
	}
	if len(want) > 0 && nameOf(want[0]) == "" && len(have) > len(want) {
		*into = append(*into, fmt.Sprintf("%s: %s, desired %d", path, phrase.Count(len(have), "element"), len(want)))
	}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// nameOf is what identifies an element of a list; empty when nothing does.
// Mounts of one volume differ by their path.
func nameOf(element any) string {
	fields, _ := element.(map[string]any)
	for _, key := range []string{"mountPath", "name", "key"} {
		if name, ok := fields[key].(string); ok {
			return name
		}
	}
	return ""
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// shown is a value as users read it; a long one is truncated.
func shown(value any) string {
	const enough = 60
	if value == nil {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	words := strings.Trim(string(text), `"`)
	if len(words) > enough {
		words = words[:enough] + "…"
	}
	return words
}
