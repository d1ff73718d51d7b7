package exit

import (
	"context"
)

// CauseOf returns why a context ended: a signal, --timeout, or the context's error.
func CauseOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}
