package session

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// timed counts the timers that a wait starts.
type timed struct {
	*clocktesting.FakeClock
	timers int
}

func (c *timed) NewTimer(time.Duration) clock.Timer {
	c.timers++
	return c.FakeClock.NewTimer(0)
}

// Both channels are ready in a wait that was interrupted before it began and whose timer has ended: it must not
// depend on chance which of them is seen.
func TestAWaitThatWasInterruptedBeforehandEndsAtOnce(t *testing.T) {
	c := &timed{FakeClock: clocktesting.NewFakeClock(time.Unix(0, 0))}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&exit.InterruptedError{Signal: os.Interrupt})
	err := Waiting{Env: &Env{Clock: c}}.Pause(ctx, time.Hour, "")
	if _, is := errors.AsType[*exit.InterruptedError](err); !is || c.timers > 0 {
		t.Errorf("%d timers, %v", c.timers, err)
	}
}
