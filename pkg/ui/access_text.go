package ui

import (
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteAccess prints a row per permission.
func WriteAccess(w io.Writer, v lists.AccessView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "COMMAND"},
		{Name: "VERB"},
		{Name: "RESOURCE", Min: 12},
		{Name: "NAMESPACE", Drop: 2},
		{Name: "ALLOWED"},
		{Name: "NEEDED-FOR", Below: true, Min: 20},
	})
	for _, p := range v.Items {
		namespace := "(all)"
		if p.Namespace != nil {
			namespace = *p.Namespace
		}
		t.Rows = append(t.Rows, []string{p.Command, p.Verb, p.Resource, namespace, phrase.YesNo(&p.Allowed, phrase.UnknownCell), neededFor(p)})
	}
	return t.Write(w)
}

func neededFor(p lists.PermissionView) string {
	if p.Required {
		return "all of it"
	}
	return "without it " + p.Without
}
