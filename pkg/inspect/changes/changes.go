// Package changes compares the facts about a cluster at two times, field by field.
package changes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// Section is a part of the facts.
type Section string

// The sections, in the order of the document.
const (
	Availability  Section = "availability"
	Spec          Section = "spec"
	Versions      Section = "versions"
	Configuration Section = "configuration"
	Coordinators  Section = "coordinators"
	ProcessGroups Section = "process-groups"
	Exclusions    Section = "exclusions"
	Pods          Section = "pods"
	Nodes         Section = "nodes"
	Locks         Section = "locks"
)

func sections() []Section {
	return []Section{Availability, Spec, Versions, Configuration, Coordinators, ProcessGroups, Exclusions, Pods, Nodes, Locks}
}

// Kind is how a fact changed.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Changed Kind = "changed"
	// Unknown is a fact that is unknown at one time at least.
	Unknown Kind = "unknown"
)

// Moment is when facts were read, and from what.
type Moment struct {
	// At is when the facts were read.
	At time.Time `json:"at"`
	// File is the dump; empty for facts that were read just now.
	File string `json:"file,omitempty"`
	// Context is the kubeconfig context of the facts.
	Context string `json:"context,omitempty"`
	// Tool is the program that read them.
	Tool string `json:"tool"`
}

// Side is the facts of one time.
type Side struct {
	Moment Moment
	// Facts have nodes and the database.
	Facts inspect.Facts
	// Exclusions and Shared are what the database has of exclusions and of locks; nil where that could
	// not be read.
	Exclusions, Shared *plan.CoordinationFacts
}

// View is the document of `dump diff`.
type View struct {
	inspect.Document
	From Moment `json:"from"`
	To   Moment `json:"to"`
	// Differences counts the items that are not unknown.
	Differences int `json:"differences"`
	// Items are the changes by section, object and field.
	Items []Change `json:"items"`
}

// Change is one fact that changed.
type Change struct {
	Section Section `json:"section"`
	// Object is what the fact is about: a process group, a pod, a node, a coordinator, an exclusion;
	// empty for facts about the cluster.
	Object string `json:"object,omitempty"`
	// Field is the fact; empty where the object as a whole was added or removed, and where all of the
	// section is unknown.
	Field string `json:"field,omitempty"`
	Kind  Kind   `json:"kind"`
	// Before and After are the values: text as it is, everything else as JSON. They are null where there
	// is no value, and where it is unknown.
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// New compares two times. Before and after are about the same cluster.
func New(m inspect.Metadata, before, after Side) View {
	v := View{
		Document: inspect.NewDocument("DumpDiff", m, after.Moment.At, inspect.SourceLive),
		From:     before.Moment, To: after.Moment, Items: []Change{},
	}
	if after.Moment.At.Before(before.Moment.At) {
		v.Warnings = append(v.Warnings, "the first facts are newer than the second ones")
	}
	if before.Moment.Context != after.Moment.Context {
		v.Warnings = append(v.Warnings, "the facts are of two contexts: "+before.Moment.Context+" and "+after.Moment.Context)
	}
	if one, other := before.Facts.Cluster.UID, after.Facts.Cluster.UID; one != other {
		v.Warnings = append(v.Warnings, fmt.Sprintf("the facts are of two clusters of the same name: the one with UID %s was deleted, and another one with UID %s created", one, other))
	}
	a, b := collect(before), collect(after)
	for _, section := range sections() {
		v.Items = append(v.Items, compare(section, a[section], b[section])...)
	}
	for _, c := range v.Items {
		if c.Kind != Unknown {
			v.Differences++
		}
	}
	return v
}
