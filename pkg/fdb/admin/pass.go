package admin

import (
	"context"
	"errors"
	"time"
)

// Pass runs commands of fdbcli unchanged, and returns its output and exit code without
// checking them. Its errors mean that fdbcli did not run to its end, or was not found.
func (c *FDBCLI) Pass(ctx context.Context, script string, limit time.Duration) (Result, error) {
	r, err := c.run(ctx, "running fdbcli", script, limit)
	failed, ok := errors.AsType[*Error](err)
	if ok && failed.Err == nil && failed.Kind != KindBinaryMissing && len(script) <= maxScript {
		return r, nil // it ran, and its output has the error
	}
	return r, err
}
