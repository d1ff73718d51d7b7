package fdbsim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object of a status document.
type object map[string]any

// prettyJSON renders a document as fdbcli does: keys in order, four blanks a
// level, and a blank before each colon.
func prettyJSON(v any) string {
	var b strings.Builder
	writePretty(&b, v, "")
	b.WriteByte('\n')
	return b.String()
}

func writePretty(b *strings.Builder, v any, indent string) {
	inner := indent + "    "
	switch v := v.(type) {
	case object:
		b.WriteString("{\n")
		for i, key := range slices.Sorted(maps.Keys(v)) {
			separate(b, i)
			fmt.Fprintf(b, "%s%s : ", inner, quoteJSON(key))
			writePretty(b, v[key], inner)
		}
		closeList(b, len(v), indent, '}')
	case []any:
		b.WriteString("[\n")
		for i, element := range v {
			separate(b, i)
			b.WriteString(inner)
			writePretty(b, element, inner)
		}
		closeList(b, len(v), indent, ']')
	default:
		b.WriteString(scalarJSON(v))
	}
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(",\n")
	}
}

func closeList(b *strings.Builder, n int, indent string, end byte) {
	if n > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(indent)
	b.WriteByte(end)
}

// compactJSON renders a document without any blanks.
func compactJSON(v any) string {
	switch v := v.(type) {
	case object:
		parts := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quoteJSON(key)+":"+compactJSON(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, element := range v {
			parts[i] = compactJSON(element)
		}
		return "[" + strings.Join(parts, ",") + "]"
	default:
		return scalarJSON(v)
	}
}

func scalarJSON(v any) string {
	switch v := v.(type) {
	case string:
		return quoteJSON(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

func quoteJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
