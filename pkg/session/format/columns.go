package format

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
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

const customColumns = "custom-columns"

// columns returns the columns of -o custom-columns=SPEC, or those of a file.
func (o Flags) columns() ([]column, error) {
	_, spec, err := o.template()
	if err != nil {
		return nil, err
	}
	parts := strings.Split(spec, ",")
	if strings.HasPrefix(o.Format, customColumns+ofFile) {
		if parts, err = partsOfFile(spec); err != nil {
			return nil, err
		}
	}
	columns := make([]column, len(parts))
	for i, part := range parts {
		if columns[i], err = parseColumn(part); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// partsOfFile returns HEADER:PATH of each column of a file, as kubectl reads it: a line of headers, and one of paths.
func partsOfFile(text string) ([]string, error) {
	first, second, _ := strings.Cut(strings.TrimSpace(text), "\n")
	headers, paths := strings.Fields(first), strings.Fields(second)
	if len(headers) == 0 || len(headers) != len(paths) {
		return nil, exit.Usagef("a file of custom columns must have a line of headers and a line of as many paths, not %s and %s", phrase.Count(len(headers), "header"), phrase.Count(len(paths), "path"))
	}
	parts := make([]string, len(headers))
	for i := range headers {
		parts[i] = headers[i] + ":" + paths[i]
	}
	return parts, nil
}

func parseColumn(part string) (column, error) {
	header, path, found := strings.Cut(part, ":")
	if header == "" || found && path == "" {
		return column{}, exit.Usagef("a custom column must be HEADER:PATH, such as ID:.id, or the title of a column, not %q", part)
	}
	if !found {
		return column{header: header}, nil
	}
	parsed, err := parsePath(path)
	if err != nil {
		return column{}, exit.Usage(fmt.Errorf("invalid path of column %s: %w", header, err))
	}
	return column{header: header, path: parsed}, nil
}

// parsePath returns a path to values of an item, of which some may not exist.
func parsePath(path string) (*jsonpath.JSONPath, error) {
	p := jsonpath.New(path).AllowMissingKeys(true)
	return p, p.Parse(Relaxed(path))
}

// Relaxed accepts x.y, .x.y and {.x.y}, as kubectl does.
func Relaxed(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return "{." + strings.TrimPrefix(path, ".") + "}"
}

// Listed returns what prints a document whose items have declared columns: those that --field-selector selects, in the order
// of --sort-by. Names are those of the items, in their order.
func (o Flags) Listed(env *session.Env, v list.Document, names []string) Printable {
	all := itemCount(v)
	v, names = o.order.selected(v, names)
	v, names = o.order.sorted(v, names, o.at(env))
	beside := o.labels.columns(v)
	p := Printable{
		Document: v, Names: names, declared: v.List(), at: o.at(env),
		Table: func(w io.Writer) error { return ui.WriteList(w, v, o.List(env, w), beside...) },
	}
	if all > 0 && p.declared.Rows == 0 {
		p.None = "no item has the fields " + o.order.where
	}
	return p
}

// labels are the columns of labels that a list has beside its own, as kubectl's.
type labels struct {
	// keys are those of -L: each has a column.
	keys []string
	// all has one column with all labels.
	all bool
}

// Labels returns where -L and --show-labels belong.
func (o *Flags) Labels() (keys *[]string, all *bool) { return &o.labels.keys, &o.labels.all }

// check rejects keys that no label has.
func (l labels) check() error {
	for _, key := range l.keys {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			return exit.Usagef("invalid key of --label-columns %q: %s", key, strings.Join(problems, "; "))
		}
	}
	return nil
}

// columns returns the columns of labels of a document; none of one whose items have no labels.
func (l labels) columns(v list.Document) []list.Column[int] {
	labeled, are := v.(list.Labeled)
	if !are {
		return nil
	}
	of := labeled.Labels()
	var columns []list.Column[int]
	for _, key := range l.keys {
		columns = append(columns, labelColumn(strings.ToUpper(path.Base(key)), of, func(set map[string]string) string { return set[key] }))
	}
	if l.all {
		columns = append(columns, labelColumn("LABELS", of, func(set map[string]string) string {
			return strings.Join(slices.Sorted(pairs(set)), ",")
		}))
	}
	return columns
}

// labelColumn returns a column of labels, of which some items may have none, and others are unknown.
func labelColumn(title string, of []map[string]string, cell func(map[string]string) string) list.Column[int] {
	return list.Column[int]{Title: title, Cell: func(_ list.At, i int) list.Cell {
		if i >= len(of) || of[i] == nil {
			return list.Known("")
		}
		return list.Text(cell(of[i]))
	}}
}

func pairs(set map[string]string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key, value := range set {
			if !yield(key + "=" + value) {
				return
			}
		}
	}
}

func (o Flags) at(env *session.Env) list.At {
	return list.At{Now: env.Clock.Now(), Absolute: o.Absolute}
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
func (o Flags) writeColumns(w io.Writer, p Printable) error {
	columns, err := o.columns()
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
