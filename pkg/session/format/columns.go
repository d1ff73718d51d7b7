package format

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// column is one column of -o custom-columns=HEADER:PATH,...
type column struct {
	header string
	path   *jsonpath.JSONPath
}

func parseColumns(spec string) ([]column, error) {
	var columns []column
	for part := range strings.SplitSeq(spec, ",") {
		header, path, found := strings.Cut(part, ":")
		if !found || header == "" || path == "" {
			return nil, exit.Usagef("a custom column must be HEADER:PATH, such as ID:.id, not %q", part)
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

// writeColumns prints a row per item of a list, or a single row for a single document.
func (o Flags) writeColumns(w io.Writer, document any, spec string) error {
	columns, err := parseColumns(spec)
	if err != nil {
		return err
	}
	object, err := generic(document)
	if err != nil {
		return err
	}
	rows, isList := object["items"].([]any)
	if !isList {
		rows = []any{object}
	}
	t := ui.Table{NoHeaders: o.NoHeaders}
	for _, c := range columns {
		t.Columns = append(t.Columns, layout.Column{Name: c.header})
	}
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			if cells[i], err = c.of(row); err != nil {
				return err
			}
		}
		t.Rows = append(t.Rows, cells)
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
