package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"
)

// stall bounds the time between two signs of progress, however long the whole takes: a busy
// machine is slow, and what hangs stops.
const stall = 10 * time.Minute

// patience is the time limit of commands that must succeed. One that makes no progress is ended after stall.
const patience = "30m"

// deadline ends a context when there is no progress for a while.
type deadline struct {
	timer *time.Timer
}

// progressing returns a context that ends once the deadline is not extended for stall.
func progressing(parent context.Context) (context.Context, *deadline) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, &deadline{time.AfterFunc(stall, func() { cancel(fmt.Errorf("no progress for %s", stall)) })}
}

func (d *deadline) extend() { d.timer.Reset(stall) }

func (d *deadline) end() { d.timer.Stop() }

// output keeps what a program prints, and takes every line for progress. It embeds no buffer: that would read from the
// program by itself, and nothing would be noticed.
type output struct {
	text     bytes.Buffer
	deadline *deadline
}

var _ io.Writer = (*output)(nil)

func (o *output) Write(p []byte) (int, error) {
	o.deadline.extend()
	return o.text.Write(p)
}

func (o *output) String() string { return o.text.String() }

func TestWhatAProgramPrintsIsProgress(t *testing.T) {
	_, limit := progressing(t.Context())
	limit.end() // from here on nothing is pending
	out := output{deadline: limit}
	cmd := exec.CommandContext(t.Context(), "echo", "a line")
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil || out.String() != "a line\n" {
		t.Fatalf("%v: %q", err, out.String())
	}
	if !limit.timer.Stop() {
		t.Error("the deadline of a program that printed a line was not extended")
	}
}
