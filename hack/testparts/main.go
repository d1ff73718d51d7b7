// Command testparts runs make targets beside each other, and shows what their tests do:
// testparts test-e2e test-unit,test-native runs test-e2e, and beside it the others one after the other.
//
// The first lane has the processor first: end-to-end tests mostly wait, and have limits for a lack of
// progress. Each finished package and each longer test has a line, and so has every quarter of a minute
// without one. A test that fails is printed with all of its output and the command that runs it alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/utils/clock"
)

// interrupted is the exit code that a shell has for a program which SIGINT ended.
const interrupted = 130

func main() { os.Exit(exitCode()) }

func exitCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case ctx.Err() != nil:
		return interrupted
	case err != nil:
		fmt.Fprintln(os.Stderr, "testparts:", err)
		return 1
	case failed:
		return 1
	}
	return 0
}

// run runs all lanes to their ends, also when a test failed: one run shows all failures.
func run(ctx context.Context, args []string, out io.Writer) (failed bool, err error) {
	lanes, err := parse(args)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(logs, 0o750); err != nil {
		return false, fmt.Errorf("create the directory of logs: %w", err)
	}
	c := clock.RealClock{}
	said := make(chan message)
	for _, l := range lanes {
		go l.run(ctx, said)
	}
	b := newBoard(lanes, out, c)
	tick := c.NewTicker(every)
	defer tick.Stop()
	for running := len(lanes); running > 0; {
		select {
		case m := <-said:
			if m.laneEnded {
				running--
				continue
			}
			b.take(m)
		case <-tick.C():
			b.tick()
		}
	}
	if err := ctx.Err(); err != nil {
		fmt.Fprintln(out, "interrupted: all parts are ended")
		return true, err
	}
	b.summary()
	return b.failed(), errors.Join(b.errs...)
}
