package admin

import (
	"context"
	"errors"
	"time"
)

// Pass runs commands of fdbcli as they are, and returns what it printed and its exit
// code, whatever they say. Its errors mean that fdbcli did not run to its end, or that
// there is none.
func (c *FDBCLI) Pass(ctx context.Context, script string, limit time.Duration) (Result, error) {
	r, err := c.run(ctx, "running fdbcli", script, limit)
	failed, ok := errors.AsType[*Error](err)
	if ok && failed.Err == nil && failed.Kind != KindBinaryMissing && len(script) <= maxScript {
		return r, nil // it ran, and says itself what went wrong
	}
	return r, err
}
