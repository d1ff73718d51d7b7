package admin

import (
	"context"
	"regexp"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

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
