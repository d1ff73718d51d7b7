// Package redact decides which values of environment variables, annotations and arguments may be shown. All are hidden unless
// an allow list knows their names, since the names of secrets cannot be listed.
package redact

import (
	_ "embed" // the allow list
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// What is shown instead of hidden values.
const (
	Hidden  = "(hidden)"
	Changed = "changed (hidden)"
)

//go:embed harmless.json
var harmlessFile []byte

// entry is one entry of the allow list: a pattern of whole names, and why their values are harmless.
type entry struct {
	Why     string `json:"why"`
	Pattern string `json:"pattern"`

	names *regexp.Regexp
}

type entries []entry

func (e entries) match(name string) bool {
	for i := range e {
		if e[i].names.MatchString(name) {
			return true
		}
	}
	return false
}

type allowList struct {
	Environment entries `json:"environment"`
	Annotations entries `json:"annotations"`
	Exceptions  entries `json:"exceptions"`
}

// harmless returns the allow list. It is embedded, and a test reads it.
var harmless = sync.OnceValue(func() allowList {
	var list allowList
	if err := json.Unmarshal(harmlessFile, &list); err != nil {
		panic(err) // the file is a part of the program
	}
	for _, all := range []entries{list.Environment, list.Annotations, list.Exceptions} {
		for i := range all {
			all[i].names = regexp.MustCompile("^(?:" + all[i].Pattern + ")$")
		}
	}
	return list
})

// Environment reports whether the value of an environment variable may be shown.
func Environment(name string) bool { return harmless().Environment.match(name) }

// Annotation reports whether the value of an annotation may be shown.
func Annotation(key string) bool {
	return harmless().Annotations.match(key) && !harmless().Exceptions.match(key)
}

// hiddenPath matches the paths of fields whose values are hidden: variables by name, commands and arguments.
var hiddenPath = regexp.MustCompile(`(?:^|\.)(?:env\[([^\]]*)\]\.value|(?:args|command)\[\d+\]|annotations(?:\.|\[).*|httpHeaders\[[^\]]*\]\.value)$`)

// Field reports whether the value of a field of an object may be shown: "containers[a].env[PATH].value".
func Field(path string) bool {
	found := hiddenPath.FindStringSubmatch(path)
	return found == nil || found[1] != "" && Environment(found[1])
}

// Secrets reports whether an object, decoded from JSON, has values that may not be shown.
func Secrets(v any) bool { return secretsIn("", v) }

func secretsIn(key string, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if _, text := child.(string); key == "annotations" && text && !Annotation(name) {
				return true
			}
			if secretsIn(name, child) {
				return true
			}
		}
	case []any:
		for _, child := range v {
			if hasSecret(key, child) || secretsIn(key, child) {
				return true
			}
		}
	}
	return false
}

// hasSecret reports whether an element of a list is an argument or a variable that may not be shown.
func hasSecret(list string, element any) bool {
	switch list {
	case "args", "command":
		text, is := element.(string)
		return is && strings.TrimSpace(text) != ""
	case "env", "httpHeaders":
		pair, _ := element.(map[string]any)
		name, _ := pair["name"].(string)
		value, _ := pair["value"].(string)
		return value != "" && (list != "env" || !Environment(name))
	default:
		return false
	}
}

// Object hides, within an object that was decoded from JSON, all values that may not be shown. Objects within
// annotations are treated alike.
func Object(v any) { hideIn("", v) }

func hideIn(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			text, is := child.(string)
			switch {
			case is && key == "annotations" && !Annotation(name):
				v[name] = Hidden
			case is:
				v[name] = hideNested(text)
			default:
				hideIn(name, child)
			}
		}
	case []any:
		for i, child := range v {
			pair, named := child.(map[string]any)
			switch {
			case !hasSecret(key, child):
				hideIn(key, child)
			case named:
				pair["value"] = Hidden
			default:
				v[i] = Hidden
			}
		}
	}
}

// hideNested returns a text that holds an object as JSON, such as the annotation of kubectl apply, with its values
// hidden; others as they are.
func hideNested(text string) string {
	var nested map[string]any
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &nested) != nil || !Secrets(nested) {
		return text
	}
	Object(nested)
	again, err := json.Marshal(nested)
	if err != nil {
		return Hidden
	}
	return string(again)
}
