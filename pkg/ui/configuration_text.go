package ui

import (
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteConfiguration prints a row per setting.
func WriteConfiguration(w io.Writer, v lists.ConfigurationListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "SETTING"},
		{Name: "LIVE", Min: 10},
		{Name: "SPEC", Min: 10},
		{Name: "DIFFERS"},
	})
	for _, s := range v.Items {
		live := phrase.UnknownCell
		if s.Live != nil {
			live = *s.Live
		}
		t.Rows = append(t.Rows, []string{s.Setting, live, s.Spec, phrase.YesNo(s.Differs, phrase.UnknownCell)})
	}
	return t.Write(w)
}
