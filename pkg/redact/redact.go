// Package redact decides which values of environment variables, annotations and arguments may be shown. All are hidden unless
// an allow list knows their names, since the names of secrets cannot be listed.
package redact

import (
	_ "embed" // the redactors
	"encoding/json"
	"regexp"
	"slices"
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

// Redactor hides one kind of secret that its form or its name shows.
type Redactor struct {
	// ID names it in the manifest of a dump.
	ID string `json:"id"`
	// Hides describes what it hides.
	Hides string `json:"hides"`
	// In is where it applies.
	In Scope `json:"in"`
	// Has are texts, in lower case, of which every match has at least one: a text without is not searched.
	Has []string `json:"has,omitempty"`
	// Pattern matches texts, or names whose value is hidden.
	Pattern string `json:"pattern"`
	// Except matches names that Pattern matches and that are no secrets.
	Except string `json:"except,omitempty"`
	// Replace replaces a match in a text; ${1} is its first group.
	Replace string `json:"replace,omitempty"`

	pattern, except *regexp.Regexp
}

// Scope is where a redactor applies.
type Scope string

// Scopes of redactors.
const (
	// InText are all texts that leave the program: output, errors, Events, the audit, recordings, dumps.
	InText Scope = "text"
	// InDumps are all texts of dumps: fields of objects, outputs of programs, logs, trace files, views. More is
	// hidden there than necessary, since dumps are sent to others.
	InDumps Scope = "dumps"
	// InTraces are FoundationDB's trace files in dumps.
	InTraces Scope = "traces"
	// InNames are the names of pairs of name and value in dumps, such as environment variables.
	InNames Scope = "names"
	// InOptions are the elements of a list in dumps whose next element is hidden.
	InOptions Scope = "options"
)

// Mark is what replaces a secret in a text.
const Mark = "REDACTED"

//go:embed secrets.json
var secretsFile []byte

// Redactors returns all redactors. They are data, in secrets.json.
var Redactors = sync.OnceValue(func() []Redactor {
	var all []Redactor
	if err := json.Unmarshal(secretsFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	for i := range all {
		r := &all[i]
		r.pattern = regexp.MustCompile(r.Pattern)
		if r.Except != "" {
			r.except = regexp.MustCompile(r.Except)
		}
	}
	return all
})

// ofText are the redactors of all texts.
var ofText = sync.OnceValue(func() []Redactor {
	return slices.DeleteFunc(slices.Clone(Redactors()), func(r Redactor) bool { return r.In != InText })
})

// Matches reports whether a name is that of a secret.
func (r Redactor) Matches(name string) bool {
	return r.pattern.MatchString(name) && (r.except == nil || !r.except.MatchString(name))
}

// Apply returns a text without the secrets of this kind.
func (r Redactor) Apply(text string) string {
	if !r.mayMatch(strings.ToLower(text)) {
		return text
	}
	return r.pattern.ReplaceAllString(text, r.Replace)
}

func (r Redactor) mayMatch(lower string) bool {
	return len(r.Has) == 0 || slices.ContainsFunc(r.Has, func(part string) bool { return strings.Contains(lower, part) })
}

// Text returns a text without secrets that their form shows, wherever they are: private keys, tokens, credentials in
// URLs, values that a name such as "password" is assigned.
func Text(text string) string {
	lower := strings.ToLower(text)
	for _, r := range ofText() {
		if r.mayMatch(lower) {
			text = r.pattern.ReplaceAllString(text, r.Replace)
		}
	}
	return text
}

// Excerpt returns the beginning of a text, of at most so many characters, without secrets. They are hidden before: a
// part of a secret is recognized as none.
func Excerpt(text string, most int) string {
	text = Text(text)
	if all := []rune(text); len(all) > most {
		return string(all[:most]) + "…"
	}
	return text
}

// connectionID is the ID in a connection string, DESCRIPTION:ID@ADDRESSES. It grants access to a database
// without TLS.
var connectionID = regexp.MustCompile(`\b(\w+):\w+@`)

// Kept returns a text as it is kept or written elsewhere, in Events, the audit and recordings: as Text, and without the IDs
// of connection strings.
func Kept(text string) string {
	if strings.Contains(text, "@") { // most have none, and the dashboard reads all events every 2 s
		text = connectionID.ReplaceAllString(text, "$1:***@")
	}
	return Text(text)
}
