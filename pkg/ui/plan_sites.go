package ui

import (
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteSitePlans prints the plans of the sites of one database in their order: which sites were read, the totals of their
// next passes and what these have in common, then each plan without that.
func WriteSitePlans(w io.Writer, v planned.PlanListView, o PlanOptions) error {
	layout.Line(w, "%s", o.in(bold, phrase.CountOf(len(v.Plans), len(v.Plans)+len(v.Unread), "site")+" read"))
	for _, u := range v.Unread {
		layout.Entry(w, o.in(red, "unread:")+" ", u.Site+": "+u.Reason)
	}
	if t := v.NextPasses(); t.Actions > 0 {
		parts := append(counted(t), PlanTotal{Text: phrase.Count(t.Actions, "action") + " in the next pass of each site"})
		o.parts(w, parts)
	}
	for _, c := range v.Common {
		layout.Entry(w, o.in(yellow, "common:")+" ", c.Summary+" ("+phrase.List(c.Sites)+"; once, by the first)")
	}
	for i, p := range v.Plans {
		layout.Line(w, "\n%s", o.in(bold, p.Metadata.Subject()))
		if err := WritePlan(w, v.Own(i), o); err != nil {
			return err
		}
	}
	return nil
}
