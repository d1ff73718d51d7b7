package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Object is a JSON object of a status document.
type Object map[string]any

// keys are in order. Rendering asks every object of a document for them.
func (o Object) keys() []string {
	keys := make([]string, 0, len(o))
	for key := range o {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Pretty renders a document as fdbcli does: keys in order, four blanks a
// level, and a blank before each colon.
func Pretty(v any) string {
	const usual = 64 << 10
	return string(append(appendPretty(make([]byte, 0, usual), v, 0), '\n'))
}

func appendPretty(b []byte, v any, level int) []byte {
	switch v := v.(type) {
	case Object:
		b = append(b, "{\n"...)
		for i, key := range v.keys() {
			b = appendSeparator(b, i)
			b = append(appendQuoted(appendIndent(b, level+1), key), " : "...)
			b = appendPretty(b, v[key], level+1)
		}
		return appendEnd(b, len(v), level, '}')
	case []any:
		b = append(b, "[\n"...)
		for i, element := range v {
			b = appendPretty(appendIndent(appendSeparator(b, i), level+1), element, level+1)
		}
		return appendEnd(b, len(v), level, ']')
	default:
		return appendScalar(b, v)
	}
}

func appendSeparator(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ",\n"...)
	}
	return b
}

func appendIndent(b []byte, level int) []byte {
	for range level {
		b = append(b, "    "...)
	}
	return b
}

func appendEnd(b []byte, n, level int, end byte) []byte {
	if n > 0 {
		b = append(b, '\n')
	}
	return append(appendIndent(b, level), end)
}

// Compact renders a document without any blanks.
func Compact(v any) string {
	switch v := v.(type) {
	case Object:
		parts := make([]string, 0, len(v))
		for _, key := range v.keys() {
			parts = append(parts, quoteJSON(key)+":"+Compact(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, element := range v {
			parts[i] = Compact(element)
		}
		return "[" + strings.Join(parts, ",") + "]"
	default:
		return scalarJSON(v)
	}
}

func scalarJSON(v any) string { return string(appendScalar(nil, v)) }

func appendScalar(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendQuoted(b, v)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return fmt.Append(b, v)
	}
}

func quoteJSON(s string) string { return string(appendQuoted(nil, s)) }

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c < 0x20:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
