package format

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/schema"
)

// itemsField is the field of a document with the rows of its list.
const itemsField = "Items"

// order is that of --sort-by: of a path in an item, or of a column.
type order struct {
	by string
	// of is an empty document of the list; nil without --sort-by.
	of list.Document
}

// Orders makes lists of such documents sortable: it returns where the title or path to sort by belongs, and the known ones.
func (o *Flags) Orders(of list.Document) (by *string, known func() []string) {
	o.order.of = of
	return &o.order.by, o.order.known
}

// known are the titles of columns and the fields of an item.
func (o order) known() []string {
	items, _ := reflect.TypeOf(o.of).FieldByName(itemsField)
	return slices.Concat(o.of.List().Titles(), schema.Fields(items.Type.Elem()))
}

// column returns the column of a title. No path is one: fields do not begin with capitals.
func (o order) column(of list.Table) (list.Column[int], bool) {
	if o.by != strings.ToUpper(o.by) {
		return list.Column[int]{}, false
	}
	return of.Column(o.by)
}

// check rejects an unknown title or field, and an invalid path.
func (o order) check() error {
	if o.by == "" {
		return nil
	}
	if _, is := o.column(o.of.List()); is {
		return nil
	}
	if _, err := parsePath(o.by); err != nil {
		return exit.Usage(fmt.Errorf("invalid path of --sort-by: %w", err))
	}
	field, _, _ := strings.Cut(strings.TrimLeft(o.by, "{."), ".")
	field, _, _ = strings.Cut(strings.TrimSuffix(field, "}"), "[")
	if known := o.known(); field != "" && !slices.Contains(known, field) {
		return session.Unknown("field of --sort-by", field, known)
	}
	return nil
}

// sorted returns a document and the names of its items in the order.
func (o order) sorted(v list.Document, names []string, at list.At) (list.Document, []string) {
	if o.by == "" {
		return v, names
	}
	keys := o.keys(v, at)
	rows := make([]int, len(keys))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return compareValues(keys[a], keys[b]) })
	return withItems(v, rows), permuted(names, rows)
}

// keys returns what the items are sorted by; nil for an item without a value.
func (o order) keys(v list.Document, at list.At) []any {
	keys := make([]any, itemCount(v))
	if c, is := o.column(v.List()); is {
		for i := range keys {
			keys[i] = cellValue(c, at, i)
		}
		return keys
	}
	items := itemsOf(v)
	path, err := parsePath(o.by)
	if err != nil {
		return keys // check reports it
	}
	for i := range keys {
		// A path may lead to an element that this item does not have.
		if found, err := path.FindResults(items[i]); err == nil && len(found) > 0 && len(found[0]) > 0 && found[0][0].IsValid() {
			keys[i] = found[0][0].Interface()
		}
	}
	return keys
}

// itemCount returns how many rows are items. A list may have more: what it could not read follows them.
func itemCount(v list.Document) int { return reflect.ValueOf(v).FieldByName(itemsField).Len() }

func itemsOf(v list.Document) []any {
	object, err := generic(v)
	if err != nil {
		return make([]any, itemCount(v)) // printing reports it
	}
	items, _ := object["items"].([]any)
	return items
}

// cellValue returns what a cell is sorted by: its number where the column has numbers.
func cellValue(c list.Column[int], at list.At, row int) any {
	if c.Number != nil {
		if n := c.Number(at, row); n != nil {
			return *n
		}
		return nil
	}
	if text := c.Cell(at, row).Text; text != phrase.Nothing && text != phrase.UnknownCell {
		return text
	}
	return nil
}

// compareValues orders numbers, times, and texts with numbers as storage-9 before storage-10; absent values are last.
func compareValues(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(rank(a), rank(b))
	}
	if x, y, are := numbers(a, b); are {
		return cmp.Compare(x, y)
	}
	if x, y, are := times(a, b); are {
		return x.Compare(y)
	}
	textA, numberA := inspect.Numbered(fmt.Sprint(a))
	textB, numberB := inspect.Numbered(fmt.Sprint(b))
	return cmp.Or(cmp.Compare(textA, textB), cmp.Compare(numberA, numberB))
}

func rank(value any) int {
	if value == nil {
		return 1
	}
	return 0
}

func numbers(a, b any) (x, y float64, are bool) {
	x, isX := number(a)
	y, isY := number(b)
	return x, y, isX && isY
}

func number(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	default:
		return 0, false
	}
}

func times(a, b any) (x, y time.Time, are bool) {
	x, errX := time.Parse(time.RFC3339, fmt.Sprint(a))
	y, errY := time.Parse(time.RFC3339, fmt.Sprint(b))
	return x, y, errX == nil && errY == nil
}

// withItems returns a document with its items in the order of rows.
func withItems(v list.Document, rows []int) list.Document {
	sorted := reflect.New(reflect.TypeOf(v)).Elem()
	sorted.Set(reflect.ValueOf(v))
	items := sorted.FieldByName(itemsField)
	in := reflect.MakeSlice(items.Type(), len(rows), len(rows))
	for i, row := range rows {
		in.Index(i).Set(items.Index(row))
	}
	items.Set(in)
	document, _ := reflect.TypeAssert[list.Document](sorted)
	return document
}

func permuted(names []string, rows []int) []string {
	if len(names) != len(rows) {
		return names
	}
	in := make([]string, len(rows))
	for i, row := range rows {
		in[i] = names[row]
	}
	return in
}
