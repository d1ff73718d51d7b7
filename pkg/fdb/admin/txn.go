package admin

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// txnTries is how often a transaction is started before its conflicts are reported.
	txnTries = 5
	// txnPause is the pause after the first conflict; it doubles.
	txnPause = 50 * time.Millisecond
	// decisionTime is how long decide may take. The database gives a transaction 5 s
	// from its first read; beyond this, committing is not even tried.
	decisionTime = 3 * time.Second
	// maxRangeRows is how many rows of a range a transaction reads at most.
	maxRangeRows = 10_000
	// maxTxnBytes is how large the line of all mutations may be.
	maxTxnBytes = 1 << 20
)

const transacting = "running a transaction"

// Txn runs a transaction in one interactive session, the only way to decide between
// reads and writes with fdbcli.
func (c *FDBCLI) Txn(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (int64, error) {
	pause := func(d time.Duration) error { return c.pause(ctx, c.jitter(d)) }
	return retryConflicts(pause, func() (int64, error) { return c.attempt(ctx, reads, decide) })
}

// retryConflicts retries a transaction while it conflicts with others, after
// increasing pauses.
func retryConflicts(pause func(time.Duration) error, attempt func() (int64, error)) (int64, error) {
	next := txnPause
	for try := 1; ; try++ {
		version, err := attempt()
		if KindOf(err) != KindConflict || try == txnTries {
			return version, err
		}
		if err := pause(next); err != nil {
			return 0, &Error{Kind: KindTimeout, Operation: transacting, Err: err}
		}
		next *= 2
	}
}

// attempt runs the transaction once, in the first place where fdbcli starts.
func (c *FDBCLI) attempt(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (version int64, err error) {
	err = c.tryPlaces(func(p place) error {
		t := transaction{cli: c, reads: keysFirst(reads), decide: decide}
		version, err = t.run(ctx, p)
		return err
	})
	return version, err
}

// keysFirst orders reads so that the output for a key is never mistaken for a row of
// the range before it.
func keysFirst(reads []Read) []Read {
	var keys, ranges []Read
	for _, r := range reads {
		if r.isRange() {
			ranges = append(ranges, r)
		} else {
			keys = append(keys, r)
		}
	}
	return append(keys, ranges...)
}

// transaction is one attempt.
type transaction struct {
	cli    *FDBCLI
	reads  []Read
	decide func(View) ([]Mutation, error)
	d      *dialog
}

func (t *transaction) run(ctx context.Context, p place) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionLimit)
	defer cancel()
	session, err := t.cli.transport.Open(ctx, Command{Argv: p.interactive(), Limit: sessionLimit})
	if err != nil {
		return 0, transportError(transacting, err)
	}
	t.d = newDialogue(session)
	defer t.d.close()

	view, err := t.read(ctx)
	if err != nil {
		return 0, err
	}
	began := t.cli.clock.Now()
	mutations, err := t.decide(view)
	if err != nil || len(mutations) == 0 {
		return 0, err // the open transaction dies with its session
	}
	script, err := commitScript(mutations)
	if err != nil {
		return 0, err
	}
	if t.cli.clock.Since(began) > decisionTime {
		return 0, &Error{Kind: KindConflict, Operation: transacting, Detail: "deciding took too long"}
	}
	return t.commit(ctx, script)
}

// read opens the transaction and reads.
func (t *transaction) read(ctx context.Context) (View, error) {
	lines := []string{"writemode on", "option on ACCESS_SYSTEM_KEYS", "option on LOCK_AWARE", "begin"}
	for _, r := range t.reads {
		lines = append(lines, r.command())
	}
	lines = append(lines, marker(1), "help options")
	sendErr := t.d.send(lines...)
	output, err := t.d.until(ctx, func(output transcript) bool { return output.flushed() && output.reached(1) })
	if err != nil {
		return View{}, t.lost(ctx, output, errors.Join(sendErr, err))
	}
	if e := failureOfErrors(transacting, output.errorsBefore(1)); e != nil {
		return View{}, e
	}
	view, err := parseReads(t.reads, output.answers())
	if err != nil {
		return View{}, &Error{Kind: KindUnparsed, Operation: transacting, Err: err}
	}
	return view, nil
}

func (r Read) command() string {
	if r.isRange() {
		return command("getrange", string(r.Begin), string(r.End), strconv.Itoa(maxRangeRows))
	}
	return command("get", string(r.Begin))
}

// lost returns the error of a session that ended before any write was sent.
func (t *transaction) lost(ctx context.Context, output transcript, err error) error {
	if ctx.Err() != nil {
		return &Error{Kind: KindTimeout, Operation: transacting, Err: ctx.Err()}
	}
	exitCode, waitErr := t.d.session.Wait()
	if waitErr != nil {
		return transportError(transacting, waitErr)
	}
	if e := failureOf(transacting, Result{Stdout: output.stdout, Stderr: output.stderr, ExitCode: exitCode}); e != nil {
		return e
	}
	return &Error{Kind: KindTransport, Operation: transacting, Err: err}
}

// parseReads parses the output of a transaction's beginning and its reads.
func parseReads(reads []Read, lines []string) (View, error) {
	start := slices.Index(lines, "Transaction started")
	if start < 0 {
		return View{}, fmt.Errorf("read answers: the transaction did not start")
	}
	lines = lines[start+1:]
	var pairs []Pair
	for _, r := range reads {
		found, rest, err := r.parse(lines)
		if err != nil {
			return View{}, err
		}
		pairs, lines = append(pairs, found...), rest
	}
	if len(lines) > 0 {
		return View{}, fmt.Errorf("read answers: unexpected line %q", lines[0])
	}
	return NewView(pairs), nil
}

func (r Read) parse(lines []string) (pairs []Pair, rest []string, err error) {
	if r.isRange() {
		return parseRange(maxRangeRows, lines)
	}
	if len(lines) == 0 {
		return nil, nil, fmt.Errorf("read answers: none for %q", printable(r.Begin))
	}
	value, found, err := parseValue(r.Begin, lines[0])
	if found {
		pairs = []Pair{{Key: r.Begin, Value: value}}
	}
	return pairs, lines[1:], err
}

// commitScript returns all mutations and the commit on one line. fdbcli stops a line
// at the first command that fails, so that a mutation that fails is never followed by
// one outside of the transaction, and a truncated line has lost its commit first.
func commitScript(mutations []Mutation) (string, error) {
	commands := make([]string, 0, len(mutations)+1)
	for _, m := range mutations {
		if err := m.check(); err != nil {
			return "", &Error{Kind: KindBadInput, Operation: transacting, Detail: printable(m.Key), Err: err}
		}
		commands = append(commands, m.command())
	}
	script := strings.Join(append(commands, "commit"), "; ")
	if len(script) > maxTxnBytes {
		return "", &Error{Kind: KindBadInput, Operation: transacting, Detail: "the mutations are too large"}
	}
	return script, nil
}

var committedPattern = regexp.MustCompile(`^Committed \((-?\d+)\)$`)

// commit writes and commits. From here on, unexpected output means that it may have
// been committed.
func (t *transaction) commit(ctx context.Context, script string) (int64, error) {
	sendErr := t.d.send(script, marker(2), "exit")
	output, err := t.d.untilEnd(ctx)
	for _, line := range answerLines(output.stdout) {
		if parts := committedPattern.FindStringSubmatch(line); parts != nil {
			return strconv.ParseInt(parts[1], 10, 64)
		}
	}
	failure := failureOfErrors(transacting, output.errorsBefore(2))
	switch {
	case failure != nil && output.reached(2) && definitelyNotCommitted(failure.Kind):
		return 0, failure
	case failure != nil:
		return 0, &Error{Kind: KindUnknownResult, Operation: transacting, Detail: failure.Detail, Code: failure.Code}
	default:
		return 0, &Error{Kind: KindUnknownResult, Operation: transacting, Detail: "the session was lost", Err: errors.Join(sendErr, err)}
	}
}

// definitelyNotCommitted reports whether the error proves that nothing was written.
func definitelyNotCommitted(kind Kind) bool {
	return kind == KindConflict || kind == KindLocked || kind == KindBadInput
}
