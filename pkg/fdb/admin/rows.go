package admin

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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

const lowerHex = "0123456789abcdef"

// encodeToken encodes any bytes as one word of an fdbcli command. It uses only what
// the lexers of all versions have in common: harmless characters unchanged, all
// others as \xHH.
func encodeToken(token string) string {
	if token == "" {
		return `""`
	}
	var out strings.Builder
	for i := range len(token) {
		b := token[i]
		if harmless(b) {
			out.WriteByte(b)
			continue
		}
		out.WriteString(`\x`)
		out.WriteByte(lowerHex[b>>4])
		out.WriteByte(lowerHex[b&0xf])
	}
	return out.String()
}

func harmless(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
		strings.IndexByte("_./:,=@+-", b) >= 0
}

// command returns an fdbcli command of these words.
func command(words ...string) string {
	encoded := make([]string, len(words))
	for i, w := range words {
		encoded[i] = encodeToken(w)
	}
	return strings.Join(encoded, " ")
}

// printable encodes bytes as fdbcli prints them.
func printable(content []byte) string {
	var out strings.Builder
	for _, b := range content {
		switch {
		case b == '\\':
			out.WriteString(`\\`)
		case b >= ' ' && b <= '~':
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, `\x%02x`, b)
		}
	}
	return out.String()
}

// unprintable decodes the output of printable, and so of fdbcli.
func unprintable(text string) ([]byte, error) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		switch {
		case strings.HasPrefix(text[i+1:], `\`):
			out = append(out, '\\')
			i++
		case strings.HasPrefix(text[i+1:], "x") && i+3 < len(text):
			b, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
			if err != nil {
				return nil, fmt.Errorf("decode %q: %w", text, err)
			}
			out = append(out, byte(b))
			i += 3
		default:
			return nil, fmt.Errorf("decode %q: unknown escape at %d", text, i)
		}
	}
	return out, nil
}

// wholeKeySpace is the key space of clients: keys from \xff on belong to the database.
var wholeKeySpace = [2]string{`""`, `\xff`}

// rangeKey matches the keys that the ranges of a restore may have. fdbcli and fdbrestore
// parse them, including escapes, in the same way, so they are passed unchanged.
var rangeKey = regexp.MustCompile(`^[A-Za-z0-9/\\-]+$`)

// oneKey is enough to prove that a range holds data.
const oneKey = "1"

// Occupied returns the ranges that have at least one key; without ranges the whole key
// space of clients if it has one. fdbrestore checks the same before it starts a restore. It
// does not read a locked database.
func (b *Backups) Occupied(ctx context.Context, ranges [][2]string) ([][2]string, error) {
	const operation = "reading whether the database holds data"
	script, err := firstKeys(operation, ranges)
	if err != nil {
		return nil, err
	}
	cli := NewFDBCLI(b.transport, FDBCLIOptions{ClusterFiles: []string{fdb.BackupClusterFile}})
	r, err := cli.read(ctx, operation, script, readLimit)
	if err != nil {
		return nil, err
	}
	occupied, whole := parseFirstKeys(orWhole(ranges), r.Stdout)
	if !whole {
		return nil, unparsed(operation, r)
	}
	return occupied, nil
}

func orWhole(ranges [][2]string) [][2]string {
	if len(ranges) == 0 {
		return [][2]string{wholeKeySpace}
	}
	return ranges
}

// firstKeys returns the script that reads one key of every range. Ranges may be in the
// system key space, which fdbrestore also writes if they are given.
func firstKeys(operation string, ranges [][2]string) (string, error) {
	var commands []string
	if len(ranges) > 0 {
		commands = []string{"option on ACCESS_SYSTEM_KEYS"}
	}
	for _, keys := range ranges {
		if !rangeKey.MatchString(keys[0]) || !rangeKey.MatchString(keys[1]) {
			return "", &Error{Kind: KindBadInput, Operation: operation, Detail: "invalid key range " + printable([]byte(keys[0]+" "+keys[1]))}
		}
	}
	for _, keys := range orWhole(ranges) {
		commands = append(commands, strings.Join([]string{"getrangekeys", keys[0], keys[1], oneKey}, " "))
	}
	return strings.Join(commands, "; "), nil
}

const optionEnabled = "Option enabled for all transactions"

// parseFirstKeys parses the output for every range: a header, and a key if there is one.
// It returns false for incomplete or unexpected output.
func parseFirstKeys(ranges [][2]string, stdout []byte) (occupied [][2]string, whole bool) {
	lines := answerLines(stdout)
	if len(lines) > 0 && lines[0] == optionEnabled {
		lines = lines[1:]
	}
	for _, keys := range ranges {
		if len(lines) == 0 || lines[0] != rangeHeader(1) {
			return nil, false
		}
		if lines = lines[1:]; len(lines) > 0 && isKeyRow(lines[0]) {
			occupied, lines = append(occupied, keys), lines[1:]
		}
	}
	return occupied, len(lines) == 0 && rangeEnds(stdout)
}

// isKeyRow reports whether a line of getrangekeys is a key.
func isKeyRow(line string) bool {
	const quotes = "`'"
	return len(line) >= len(quotes) && strings.HasPrefix(line, "`") && strings.HasSuffix(line, "'")
}
