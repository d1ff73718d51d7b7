package format

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/schema"
)

// itemsField is the field of a document with the rows of its list.
const itemsField = "Items"

// order is which items a list has, and how they are sorted.
type order struct {
	// by is that of --sort-by: a path in an item, or the title of a column.
	by string
	// where is --field-selector: values of paths in an item.
	where string
	// of is an empty document of the list; nil for a command without these flags.
	of list.Document
}

// Orders makes lists of such documents sortable: it returns where the title or path to sort by and the selector of
// fields belong, and the known titles and fields.
func (o *Flags) Orders(of list.Document) (by, where *string, known func() []string) {
	o.order.of = of
	return &o.order.by, &o.order.where, o.order.known
}

// known are the titles of columns and the fields of an item.
func (o order) known() []string {
	return slices.Concat(o.of.List().Titles(), o.fields())
}

// fields are the fields of an item.
func (o order) fields() []string {
	items, _ := reflect.TypeOf(o.of).FieldByName(itemsField)
	return schema.Fields(items.Type.Elem())
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
	if _, err := o.conditions(); err != nil {
		return err
	}
	if o.by == "" {
		return nil
	}
	if _, is := o.column(o.of.List()); is {
		return nil
	}
	return checkPath("--sort-by", o.by, o.known())
}

// checkPath rejects an invalid path, and one whose first field is unknown.
func checkPath(flag, path string, known []string) error {
	if _, err := parsePath(path); err != nil {
		return exit.Usage(fmt.Errorf("invalid path of %s: %w", flag, err))
	}
	field, _, _ := strings.Cut(strings.TrimLeft(path, "{."), ".")
	field, _, _ = strings.Cut(strings.TrimSuffix(field, "}"), "[")
	if field != "" && !slices.Contains(known, field) {
		return session.Unknown("field of "+flag, field, known)
	}
	return nil
}

// conditions returns those of --field-selector, in kubectl's form: PATH=VALUE, PATH==VALUE and PATH!=VALUE, all of which hold.
func (o order) conditions() (fields.Requirements, error) {
	selector, err := fields.ParseSelector(o.where)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("invalid --field-selector: %w", err))
	}
	conditions := selector.Requirements()
	for _, c := range conditions {
		if err := checkPath("--field-selector", c.Field, o.fields()); err != nil {
			return nil, err
		}
	}
	return conditions, nil
}

// selected returns a document with the items that --field-selector selects, and their names.
func (o order) selected(v list.Document, names []string) (list.Document, []string) {
	conditions, err := o.conditions()
	if err != nil || len(conditions) == 0 {
		return v, names // check reports it
	}
	var rows []int
	for i, item := range itemsOf(v) {
		if !slices.ContainsFunc(conditions, func(c fields.Requirement) bool { return !holds(c, item) }) {
			rows = append(rows, i)
		}
	}
	return withItems(v, rows), permuted(names, rows)
}

// holds reports whether an item meets a condition. Of a path to several values, = requires one of them and != none;
// a field without a value has none.
func holds(c fields.Requirement, item any) bool {
	equal := slices.ContainsFunc(valuesAt(c.Field, item), func(value any) bool { return fmt.Sprint(value) == c.Value })
	return equal == (c.Operator != selection.NotEquals)
}

// valuesAt returns the values of a path in an item, without those that are absent or null.
func valuesAt(path string, item any) []any {
	parsed, err := parsePath(path)
	if err != nil {
		return nil
	}
	found, err := parsed.FindResults(item)
	if err != nil { // a path may lead to an element that this item does not have
		return nil
	}
	var values []any
	for _, value := range slices.Concat(found...) {
		if value.IsValid() && value.Interface() != nil {
			values = append(values, value.Interface())
		}
	}
	return values
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
	for i, item := range itemsOf(v) {
		if values := valuesAt(o.by, item); len(values) > 0 {
			keys[i] = values[0]
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
	if len(names) < len(rows) {
		return names
	}
	in := make([]string, len(rows))
	for i, row := range rows {
		in[i] = names[row]
	}
	return in
}
