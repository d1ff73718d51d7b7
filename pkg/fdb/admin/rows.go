package admin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Pair is one key and its value.
type Pair struct {
	Key, Value []byte
}

const rowMiddle = "' is `"

// parseRow parses a line of getrange: `KEY' is `VALUE'. A key or value that
// contains the middle part itself makes the line ambiguous, which is an error.
func parseRow(line string) (Pair, error) {
	inner, opened := strings.CutPrefix(line, "`")
	inner, closed := strings.CutSuffix(inner, "'")
	parts := strings.Split(inner, rowMiddle)
	if !opened || !closed || len(parts) != 2 {
		return Pair{}, fmt.Errorf("parse row %q: must be one key and one value", line)
	}
	key, err := unprintable(parts[0])
	if err != nil {
		return Pair{}, err
	}
	value, err := unprintable(parts[1])
	if err != nil {
		return Pair{}, err
	}
	return Pair{Key: key, Value: value}, nil
}

// parseValue parses the output of get for a known key, so that it is not ambiguous.
func parseValue(key []byte, line string) (value []byte, found bool, err error) {
	name := "`" + printable(key)
	if line == name+"': not found" {
		return nil, false, nil
	}
	inner, matches := strings.CutPrefix(line, name+rowMiddle)
	inner, closed := strings.CutSuffix(inner, "'")
	if !matches || !closed {
		return nil, false, fmt.Errorf("parse value of %q: unexpected line %q", printable(key), line)
	}
	value, err = unprintable(inner)
	return value, err == nil, err
}

// rangeHeader returns the line that fdbcli prints before the rows of a range.
func rangeHeader(limit int) string { return fmt.Sprintf("Range limited to %d keys", limit) }

// rangeEnds reports whether stdout ends as ranges do, with a blank line after the last
// row. Without it rows may be missing.
func rangeEnds(stdout []byte) bool { return bytes.HasSuffix(stdout, []byte("\n\n")) }

// parseRange parses the header and rows of one getrange from the start of lines
// and returns the lines after it.
func parseRange(limit int, lines []string) (rows []Pair, rest []string, err error) {
	if len(lines) == 0 || lines[0] != rangeHeader(limit) {
		return nil, nil, fmt.Errorf("parse range: missing line %q", rangeHeader(limit))
	}
	lines = lines[1:]
	for len(lines) > 0 && isRow(lines[0]) {
		row, err := parseRow(lines[0])
		if err != nil {
			return nil, nil, err
		}
		rows, lines = append(rows, row), lines[1:]
	}
	if len(rows) >= limit {
		return nil, nil, fmt.Errorf("parse range: %s or more, incomplete", phrase.Count(limit, "row"))
	}
	if !ascending(rows) {
		return nil, nil, fmt.Errorf("parse range: rows are not in the order of their keys")
	}
	return rows, lines, nil
}

func isRow(line string) bool {
	return strings.HasPrefix(line, "`") && strings.HasSuffix(line, "'") && strings.Contains(line, rowMiddle)
}

func ascending(rows []Pair) bool {
	for i := 1; i < len(rows); i++ {
		if bytes.Compare(rows[i-1].Key, rows[i].Key) >= 0 {
			return false
		}
	}
	return true
}
