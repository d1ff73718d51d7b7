package ui

import (
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// AccessView is the document of `auth can-i`.
type AccessView struct {
	Document
	// Allowed says whether everything is that the commands cannot do without.
	Allowed bool             `json:"allowed"`
	Items   []PermissionView `json:"items"`
}

// PermissionView is one thing that a command has to be allowed to do.
type PermissionView struct {
	Command string `json:"command"`
	Verb    string `json:"verb"`
	// Resource is as kubectl writes it: "foundationdbclusters.apps.foundationdb.org/status".
	Resource string `json:"resource"`
	// Namespace is null for what has to be allowed in all of them.
	Namespace *string `json:"namespace"`
	Allowed   bool    `json:"allowed"`
	// Required is true where the command cannot do without.
	Required bool `json:"required"`
	// Without is what is missing without it, where the command goes on.
	Without string `json:"without,omitempty"`
}

// NewAccessView is the document about what was asked.
func NewAccessView(m Metadata, items []PermissionView, now time.Time) AccessView {
	v := AccessView{Document: NewDocument("AccessReview", m, now, SourceLive), Allowed: true, Items: orEmpty(items)}
	for _, p := range items {
		v.Allowed = v.Allowed && (p.Allowed || !p.Required)
	}
	return v
}

// WriteAccess prints a row per power.
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
