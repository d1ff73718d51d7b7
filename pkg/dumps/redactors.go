package dumps

import (
	_ "embed" // the redactors
	"encoding/json"
	"regexp"
	"sync"
)

// Redactor hides one kind of secret.
type Redactor struct {
	// ID names it in the manifest.
	ID string `json:"id"`
	// Hides describes what it hides.
	Hides string `json:"hides"`
	// In is where it applies.
	In Scope `json:"in"`
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
	// InText are all texts: fields of objects, outputs of programs, logs, trace files, views.
	InText Scope = "text"
	// InTraces are FoundationDB's trace files.
	InTraces Scope = "traces"
	// InNames are the names of pairs of name and value, such as environment variables.
	InNames Scope = "names"
	// InOptions are the elements of a list whose next element is hidden.
	InOptions Scope = "options"
)

// Redactors that need more than a pattern.
const (
	// connectionStrings replaces the ID in connection strings by another one, the same one
	// everywhere: commands compare connection strings.
	connectionStrings = "connection-string"
	// secretObjects hides the values of Secrets, other than certificates.
	secretObjects = "secret-object"
	// repeated hides secrets that another redactor found, wherever else they are.
	repeated = "repeated-secret"
	// unknownVariables and unknownAnnotations hide values whose names no allow list has.
	unknownVariables, unknownAnnotations = "unknown-variable", "unknown-annotation"
)

// redacted is what replaces a secret.
const redacted = "REDACTED"

//go:embed redactors.json
var redactorsFile []byte

// Redactors returns all redactors that are patterns. They are data, in redactors.json.
var Redactors = sync.OnceValues(func() ([]Redactor, error) {
	var all []Redactor
	if err := json.Unmarshal(redactorsFile, &all); err != nil {
		return nil, err
	}
	for i := range all {
		r := &all[i]
		var err error
		if r.pattern, err = regexp.Compile(r.Pattern); err != nil {
			return nil, err
		}
		if r.Except == "" {
			continue
		}
		if r.except, err = regexp.Compile(r.Except); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// matches reports whether a name is that of a secret.
func (r Redactor) matches(name string) bool {
	return r.pattern.MatchString(name) && (r.except == nil || !r.except.MatchString(name))
}
