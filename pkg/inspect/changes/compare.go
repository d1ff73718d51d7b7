package changes

import (
	"encoding/json"
	"maps"
	"slices"
)

// facts are the objects of a section with their fields; nil for a section that is unknown.
type facts map[string]fields

// fields are the values of an object by name. A nil value is unknown; a missing one does not exist.
type fields map[string]*string

// ofCluster is the object of facts about the cluster as a whole.
const ofCluster = ""

// set adds a value: nil pointers are unknown.
func (f fields) set(name string, value any) {
	if text, is := value.(string); is {
		f[name] = &text
		return
	}
	encoded, err := json.Marshal(value)
	if err != nil || string(encoded) == "null" {
		f[name] = nil
		return
	}
	text := string(encoded)
	f[name] = &text
}

// setWord adds a text; an empty one does not exist.
func (f fields) setWord(name, value string) {
	if value != "" {
		f.set(name, value)
	}
}

// compare returns the changes of a section.
func compare(section Section, before, after facts) []Change {
	if before == nil || after == nil {
		return []Change{{Section: section, Kind: Unknown}}
	}
	var changes []Change
	for _, object := range union(before, after) {
		a, was := before[object]
		b, is := after[object]
		switch {
		case !was:
			changes = append(changes, Change{Section: section, Object: object, Kind: Added})
		case !is:
			changes = append(changes, Change{Section: section, Object: object, Kind: Removed})
		default:
			changes = append(changes, compareFields(section, object, a, b)...)
		}
	}
	return changes
}

func compareFields(section Section, object string, before, after fields) []Change {
	var changes []Change
	for _, field := range union(before, after) {
		a, was := before[field]
		b, is := after[field]
		c := Change{Section: section, Object: object, Field: field, Kind: Changed, Before: a, After: b}
		switch {
		case was && a == nil || is && b == nil:
			c.Kind = Unknown
		case !was:
			c.Kind = Added
		case !is:
			c.Kind = Removed
		case *a == *b:
			continue
		}
		changes = append(changes, c)
	}
	return changes
}

// union returns the keys of both maps, sorted.
func union[V any, M ~map[string]V](a, b M) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// flatten adds the values of a document by path. Lists of objects with a name are flattened by name;
// other lists are one value.
func (f fields) flatten(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			f.flatten(joined(path, key), child)
		}
	case []any:
		names := namesOf(value)
		if names == nil {
			f.set(path, value)
			return
		}
		for i, child := range value {
			f.flatten(path+"["+names[i]+"]", child)
		}
	default:
		if value != nil {
			f.set(path, value)
		}
	}
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// namesOf returns the names of the elements of a list; nil unless each is an object with its own.
func namesOf(list []any) []string {
	var names []string
	for _, element := range list {
		object, _ := element.(map[string]any)
		name, has := object["name"].(string)
		if !has || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// flattened returns the fields of a document.
func flattened(document any) fields {
	text, err := json.Marshal(document)
	var value any
	if err != nil || json.Unmarshal(text, &value) != nil {
		return nil // documents always encode
	}
	f := fields{}
	f.flatten("", value)
	return f
}
