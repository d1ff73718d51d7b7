package ui

import (
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// settingRow is a setting with its old and new value.
type settingRow struct{ name, from, to string }

// settingRows returns the settings that change, those that change alike as one; with Wide each.
func (o PlanOptions) settingRows(all []planned.SettingChange) []settingRow {
	if !o.Wide {
		all = planned.MergedSettings(all)
	}
	var rows []settingRow
	for _, c := range all {
		rows = append(rows, settingRow{c.Setting, valueWords(c.From), valueWords(c.To)})
	}
	return rows
}

func fieldRows(all []planned.ProposedField) []settingRow {
	var rows []settingRow
	for _, f := range all {
		rows = append(rows, settingRow{f.Path, valueWords(f.From), valueWords(f.To)})
	}
	return rows
}

func valueWords(value *string) string {
	if value == nil {
		return phrase.Nothing
	}
	return *value
}

// settings prints settings with their old and new values. A name is never broken: one that leaves no room for the values
// has them below it.
func (o PlanOptions) settings(w io.Writer, rows []settingRow) {
	width, column := layout.Width(w), 0
	for _, r := range rows {
		if n := layout.Cells(r.name); width == 0 || n <= width/2 {
			column = max(column, n)
		}
	}
	for _, r := range rows {
		sign := o.in(o.signColor(plan.Alters), string(plan.Alters)) + " "
		values := r.from + " → " + r.to
		if n := layout.Cells(r.name); n <= column {
			layout.Entry(w, sign+r.name+strings.Repeat(" ", column-n+gap), values)
			continue
		}
		layout.Line(w, "%s", sign+r.name)
		layout.Entry(w, "    ", values)
	}
}
