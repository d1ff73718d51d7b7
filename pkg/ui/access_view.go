package ui

import (
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// AccessView is the document of `auth can-i`.
type AccessView struct {
	Document
	// Allowed is whether every required permission is granted.
	Allowed bool             `json:"allowed"`
	Items   []PermissionView `json:"items"`
}

// PermissionView is one permission that a command needs.
type PermissionView struct {
	Command string `json:"command"`
	Verb    string `json:"verb"`
	// Resource is as kubectl writes it: "foundationdbclusters.apps.foundationdb.org/status".
	Resource string `json:"resource"`
	// Namespace is null for a permission in all namespaces.
	Namespace *string `json:"namespace"`
	Allowed   bool    `json:"allowed"`
	// Required is true where the command fails without it.
	Required bool `json:"required"`
	// Without is what the command leaves out without it; empty where it is required.
	Without string `json:"without,omitempty"`
}

// NewAccessView makes the document of the permissions that were checked.
func NewAccessView(m Metadata, items []PermissionView, now time.Time) AccessView {
	v := AccessView{Document: NewDocument("AccessReview", m, now, SourceLive), Allowed: true, Items: orEmpty(items)}
	for _, p := range items {
		v.Allowed = v.Allowed && (p.Allowed || !p.Required)
	}
	return v
}

// WriteAccess prints a row per permission.
func WriteAccess(w io.Writer, v AccessView, o ListOptions) error {
	t := Table{Header: o.header([]string{"COMMAND", "VERB", "RESOURCE", "NAMESPACE", "ALLOWED", "NEEDED-FOR"})}
	for _, p := range v.Items {
		namespace := "(all)"
		if p.Namespace != nil {
			namespace = *p.Namespace
		}
		t.Rows = append(t.Rows, []string{p.Command, p.Verb, p.Resource, namespace, phrase.YesNo(&p.Allowed, phrase.UnknownCell), p.neededFor()})
	}
	return t.Write(w)
}

func (p PermissionView) neededFor() string {
	if p.Required {
		return "all of it"
	}
	return "without it " + p.Without
}
