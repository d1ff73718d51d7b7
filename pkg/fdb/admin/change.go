package admin

import (
	"context"
	"errors"
	"time"
)

// mutation is one change of the database.
type mutation struct {
	operation string
	script    string
	limit     time.Duration
	// succeeded finds the expected text; nil for a command without output.
	succeeded func(Result) bool
	// inForce reads back whether the change is in force.
	inForce func(context.Context) (bool, error)
	// store is the store that the change accesses besides the database; empty for none.
	store string
	// mustRead accepts a refusal only if the read-back worked as well.
	mustRead bool
}

// change runs a mutation and reads back its effect, after an error too: an
// error does not mean that nothing was changed.
func (c *FDBCLI) change(ctx context.Context, m mutation) error {
	r, err := c.run(ctx, m.operation, m.script, m.limit)
	return m.conclude(ctx, r, err)
}

// conclude returns the outcome of a mutation, from the result of its run and the
// read-back.
func (m mutation) conclude(ctx context.Context, r Result, err error) error {
	if CertainlyNotRun(err) {
		return err
	}
	if err == nil && !m.understood(r) {
		err = unparsed(m.operation, r)
	}
	inForce, readErr := m.inForce(ctx)
	switch {
	case readErr == nil && inForce:
		return nil
	case decided(err) && (readErr == nil || !m.mustRead):
		return err
	case m.store != "" && KindOf(err) == KindTimeout && readErr == nil:
		return storeTimeout(m, m.limit)
	case err == nil && readErr == nil:
		return &Error{Kind: KindNotInForce, Operation: m.operation, Detail: "accepted, but not in force afterwards"}
	default:
		return &Error{Kind: KindUnknownResult, Operation: m.operation, Err: errors.Join(err, readErr)}
	}
}

func (m mutation) understood(r Result) bool {
	if m.succeeded == nil {
		return len(answerLines(r.Stdout)) == 0 && len(errorLines(r.Stderr)) == 0
	}
	return m.succeeded(r)
}

// CertainlyNotRun reports whether the command never reached the database.
func CertainlyNotRun(err error) bool {
	switch KindOf(err) {
	case KindBinaryMissing, KindBadClusterFile, KindTLS, KindBadInput, KindUnsupported:
		return true
	case KindTransport:
		return neverRan(err)
	default:
		return false
	}
}

// decided reports whether the database itself refused the mutation.
func decided(err error) bool {
	switch KindOf(err) {
	case KindRefused, KindNotYet, KindLocked, KindConflict:
		return true
	default:
		return false
	}
}
