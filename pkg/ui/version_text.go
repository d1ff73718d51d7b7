package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteVersion prints a line per fact, and a row per database.
func WriteVersion(w io.Writer, v lists.VersionView, o ListOptions) error {
	layout.Line(w, "Client: %s (%s, %s)", v.Client.Version, v.Client.Go, v.Client.Platform)
	if v.Server == "" {
		return nil
	}
	layout.Line(w, "Server: %s", v.Server)
	layout.Line(w, "Resources: %s", phrase.Or(strings.Join(v.Served, ", "), "none: the FoundationDB resource definitions are not installed"))
	layout.Line(w, "Operators: %s", operatorWords(v))
	if len(v.Clusters) == 0 {
		return nil
	}
	t := o.table([]layout.Column{
		{Name: "NAMESPACE", Min: 8},
		{Name: "NAME", Min: 12},
		{Name: "SPEC"},
		{Name: "RUNNING"},
		{Name: "PROCESSES", Drop: 2, Min: 10},
		{Name: "FDBCLI", Drop: 3, Min: 10},
		{Name: "ASOF", Drop: 1},
	})
	for _, c := range v.Clusters {
		t.Rows = append(t.Rows, []string{c.Namespace, c.Name, c.Spec, phrase.Or(c.Running, phrase.Nothing), lists.Words(c.Processes), lists.Words(c.Tools), o.time(c.AsOf)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	facts := versionFacts(v, o)
	if len(facts.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return facts.Write(w)
}

// versionFacts has a row for each known fact about a running version, once for all databases.
func versionFacts(v lists.VersionView, o ListOptions) Table {
	t := o.table([]layout.Column{
		{Name: "VERSION"},
		{Name: "CONSEQUENCE"},
		{Name: "FACT"},
		{Name: "SUMMARY", Below: true},
		{Name: "SOURCE", Below: true},
	})
	for _, c := range v.Clusters {
		for _, f := range c.Facts {
			summary := f.Summary
			if f.Applies == versionfacts.Unknown {
				summary = fmt.Sprintf("if %s is used, which is unknown: %s", f.Condition, f.Summary)
			}
			row := []string{f.Version, string(f.Consequence), f.ID, summary, firstSource(f.Sources)}
			if !slices.ContainsFunc(t.Rows, func(seen []string) bool { return slices.Equal(seen, row) }) {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

// firstSource returns the source to print; recordings of other versions may have none.
func firstSource(sources []string) string {
	if len(sources) == 0 {
		return phrase.Unknown
	}
	return sources[0]
}

func operatorWords(v lists.VersionView) string {
	if v.Operators == nil {
		return phrase.Unknown
	}
	cells := make([]string, len(v.Operators))
	for i, o := range v.Operators {
		cells[i] = fmt.Sprintf("%s/%s %s (%s ready)", o.Namespace, o.Name, phrase.Or(o.Version, phrase.UnknownCell), phrase.Count(o.Ready, "pod"))
	}
	return phrase.Or(strings.Join(cells, ", "), "none")
}
