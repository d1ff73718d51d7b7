package objects

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// FieldDifference is a field of an object's spec that differs from the desired one.
type FieldDifference struct {
	// Path is the field: "containers[foundationdb].image".
	Path string
	// Have and Want are its values, long ones truncated; empty for a field that is absent.
	Have, Want string
	// Missing is true for an element of a list that is not there; both values are empty.
	Missing bool
}

// String returns the difference in one line: "containers[foundationdb].image: a, desired b".
func (d FieldDifference) String() string {
	if d.Missing {
		return d.Path + ": missing"
	}
	const nothing = "nothing"
	return fmt.Sprintf("%s: %s, desired %s", d.Path, phrase.Or(d.Have, nothing), phrase.Or(d.Want, nothing))
}

// SpecDifferences lists where an object's spec differs from the desired one, one line for each
// field; see FieldDifferences.
func SpecDifferences(want, have any) ([]string, error) {
	all, err := FieldDifferences(want, have)
	var lines []string
	for _, d := range all {
		lines = append(lines, d.String())
	}
	return lines, err
}

// FieldDifferences returns where an object's spec differs from the desired one. Fields that an API
// server, an admission webhook or a scheduler added are ignored: only desired fields are compared.
// Elements of lists with names are compared by name.
func FieldDifferences(want, have any) ([]FieldDifference, error) {
	desired, err := asJSON(want)
	if err != nil {
		return nil, fmt.Errorf("compare specs: %w", err)
	}
	found, err := asJSON(have)
	if err != nil {
		return nil, fmt.Errorf("compare specs: %w", err)
	}
	var differences []FieldDifference
	compareValues("", desired, found, &differences)
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

func compareValues(path string, want, have any, into *[]FieldDifference) {
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
			*into = append(*into, FieldDifference{Path: path, Have: shown(have), Want: shown(want)})
		}
	}
}

func compareLists(path string, want, have []any, into *[]FieldDifference) {
	for i, element := range want {
		name := nameOf(element)
		if name == "" {
			compareValues(fmt.Sprintf("%s[%d]", path, i), element, at(have, i), into)
			continue
		}
		j := slices.IndexFunc(have, func(other any) bool { return nameOf(other) == name })
		if j < 0 {
			*into = append(*into, FieldDifference{Path: fmt.Sprintf("%s[%s]", path, name), Missing: true})
			continue
		}
		compareValues(fmt.Sprintf("%s[%s]", path, name), element, have[j], into)
	}
	if len(want) > 0 && nameOf(want[0]) == "" && len(have) > len(want) {
		*into = append(*into, FieldDifference{Path: path, Have: phrase.Count(len(have), "element"), Want: strconv.Itoa(len(want))})
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
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return phrase.Truncated(strings.Trim(string(text), `"`), enough)
}
