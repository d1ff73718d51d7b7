// Package changes compares the facts about a cluster at two times, field by field.
package changes

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
