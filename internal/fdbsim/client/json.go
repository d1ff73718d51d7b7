package client

import (
	"strconv"
	"strings"
)

// lenientJSON reads JSON the way FoundationDB's reader does when it is given
// something broken: what could be read up to the first mistake is kept, and
// what is not JSON at all is nothing.
func lenientJSON(text string) any {
	r := jsonReader{text: text}
	v, _ := r.value()
	return v
}

// jsonReader reads a value and reports whether it was whole. Once something is
// broken nothing more is read.
type jsonReader struct {
	text string
	at   int
}

func (r *jsonReader) skipSpace() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// take consumes a byte if it is the next.
func (r *jsonReader) take(b byte) bool {
	r.skipSpace()
	if r.at < len(r.text) && r.text[r.at] == b {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) value() (any, bool) {
	switch {
	case r.take('['):
		return r.array()
	case r.take('{'):
		return r.object()
	case r.take('"'):
		return r.str()
	default:
		return r.scalar()
	}
}

func (r *jsonReader) array() (any, bool) {
	list := []any{}
	if r.take(']') {
		return list, true
	}
	for {
		v, whole := r.value()
		if v != nil {
			list = append(list, v)
		}
		if !whole {
			return list, false
		}
		if r.take(']') {
			return list, true
		}
		if !r.take(',') {
			return list, false
		}
	}
}

func (r *jsonReader) object() (any, bool) {
	fields := map[string]any{}
	if r.take('}') {
		return fields, true
	}
	for {
		if !r.take('"') {
			return fields, false
		}
		name, whole := r.str()
		if !whole || !r.take(':') {
			return fields, false
		}
		v, whole := r.value()
		if v != nil {
			fields[name.(string)] = v
		}
		if !whole {
			return fields, false
		}
		if r.take('}') {
			return fields, true
		}
		if !r.take(',') {
			return fields, false
		}
	}
}

func (r *jsonReader) str() (any, bool) {
	end := strings.IndexByte(r.text[r.at:], '"')
	if end < 0 {
		r.at = len(r.text)
		return nil, false
	}
	s := r.text[r.at : r.at+end]
	r.at += end + 1
	return s, true
}

func (r *jsonReader) scalar() (any, bool) {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.0123456789aeflnrstu", r.text[r.at]) >= 0 {
		r.at++
	}
	word := r.text[start:r.at]
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	if b, err := strconv.ParseBool(word); err == nil {
		return b, true
	}
	return nil, word == "null"
}
