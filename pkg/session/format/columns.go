package format

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// column is one column of -o custom-columns=HEADER:PATH,..., or the title of a declared one.
type column struct {
	header string
	// path is nil for a declared column.
	path *jsonpath.JSONPath
}

func parseColumns(spec string) ([]column, error) {
	var columns []column
	for part := range strings.SplitSeq(spec, ",") {
		header, path, found := strings.Cut(part, ":")
		if header == "" || found && path == "" {
			return nil, exit.Usagef("a custom column must be HEADER:PATH, such as ID:.id, or the title of a column, not %q", part)
		}
		if !found {
			columns = append(columns, column{header: header})
			continue
		}
		c := column{header: header, path: jsonpath.New(header).AllowMissingKeys(true)}
		if err := c.path.Parse(Relaxed(path)); err != nil {
			return nil, exit.Usage(fmt.Errorf("invalid path of column %s: %w", header, err))
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// Relaxed accepts x.y, .x.y and {.x.y}, as kubectl does.
func Relaxed(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return "{." + strings.TrimPrefix(path, ".") + "}"
}

// Listed returns what prints a document whose items have declared columns.
func (o Flags) Listed(env *session.Env, v list.Document, names []string) Printable {
	return Printable{
		Document: v, Names: names, declared: v.List(), at: list.At{Now: env.Clock.Now(), Absolute: o.Absolute},
		Table: func(w io.Writer) error { return ui.WriteList(w, v, o.List(env)) },
	}
}

// cells returns a function for the cells of a declared column; an error without one of this title.
func (p Printable) cells(title string) (func(row int) string, error) {
	c, found := p.declared.Column(title)
	switch {
	case found:
		return func(row int) string { return c.Cell(p.at, row).Text }, nil
	case len(p.declared.Columns) == 0:
		return nil, exit.Usagef("a custom column must be HEADER:PATH, such as ID:.id, not %q", title)
	default:
		return nil, exit.Usagef("no column %s; the columns are %s, or HEADER:PATH", title, phrase.List(p.declared.Titles()))
	}
}

// writeColumns prints a row per item of a list, or a single row for a single document.
func (o Flags) writeColumns(w io.Writer, p Printable, spec string) error {
	columns, err := parseColumns(spec)
	if err != nil {
		return err
	}
	object, err := generic(p.Document)
	if err != nil {
		return err
	}
	rows, isList := object["items"].([]any)
	if !isList {
		rows = []any{object}
	}
	t := ui.Table{NoHeaders: o.NoHeaders, Rows: make([][]string, len(rows))}
	for _, c := range columns {
		t.Columns = append(t.Columns, layout.Column{Name: c.header})
		of := func(row int) (string, error) { return c.of(rows[row]) }
		if c.path == nil {
			declared, err := p.cells(c.header)
			if err != nil {
				return err
			}
			of = func(row int) (string, error) { return declared(row), nil }
		}
		for i := range rows {
			cell, err := of(i)
			if err != nil {
				return err
			}
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	return t.Write(w)
}

func (c column) of(row any) (string, error) {
	var b bytes.Buffer
	if err := c.path.Execute(&b, row); err != nil {
		return "", exit.Usage(fmt.Errorf("column %s: %w", c.header, err))
	}
	if b.Len() == 0 {
		return "<none>", nil
	}
	return b.String(), nil
}
