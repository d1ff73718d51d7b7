package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/termquery"
)

// Options configure a dashboard.
type Options struct {
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Feed is the source of entries; nil for a replay.
	Feed Feed
	// Replay is a recording to show instead of a feed; nil for none.
	Replay []Entry
	// Actions are what keys may do; nil for a read-only dashboard.
	Actions Actions
	// Reads are the logs and YAML that keys show; nil without a cluster.
	Reads Reads
	// Clusters are the names of the clusters to show, in order.
	Clusters []string
	// Context and Namespace are where the clusters are, for the header. Without a namespace they are
	// in any, and their names are NAMESPACE/NAME.
	Context, Namespace string
	// Passes is true if passes run next to the dashboard: then it is not read-only, even if keys
	// do not act.
	Passes bool
	// AllowFlag is the flag that enables actions, for a notice if it is missing.
	AllowFlag string
	// Command returns a whole command line of this program, for the clusters' context and
	// namespace.
	Command func(words ...string) string
	// Kubectl does the same for kubectl.
	Kubectl func(words ...string) string
	// CommandsIn returns both for another namespace.
	CommandsIn func(namespace string) (command, kubectl func(words ...string) string)
	// Fleet is the source of the list of clusters; nil for a dashboard of one.
	Fleet fleet.Source
	// Interval is how often the feed polls; for the header.
	Interval time.Duration
	// Now is the clock.
	Now func() time.Time
	// Color enables colors. Without them symbols and words carry the same information.
	Color bool
	// ASCII draws everything without other characters of this program.
	ASCII bool
}

// parting is how long the end of the dashboard waits for its background tasks: long enough
// for an orderly end, too short to be noticed.
const parting = 100 * time.Millisecond

// framesPerSecond limits how often the terminal is redrawn.
const framesPerSecond = 30

// Run shows the dashboard until the user quits, which is no error, ctx ends, whose cause it returns, or a
// background task panics, which is a *reconcile.FaultError. It restores the terminal. Feed and actions are
// canceled and not waited for: an implementation of Actions waits for whatever must not be interrupted.
func Run(ctx context.Context, o Options) error {
	inside, leave := context.WithCancel(ctx)
	out := &taskRunner{ctx: inside}
	program := tea.NewProgram(newModel(o, out), //nolint:contextcheck // tasks that keys start live as long as the dashboard, whose context out has
		tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithAltScreen(),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	// A program that is killed, or whose own context ends, closes its input while it still reads there.
	out.send, out.quit = program.Send, program.Quit
	defer context.AfterFunc(ctx, program.Quit)()
	_, err := program.Run()
	leave()
	out.wait(parting)
	fault := out.faulted()
	switch {
	case fault != nil:
		return fmt.Errorf("show the dashboard: %w", fault)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.Is(err, tea.ErrInterrupted):
		return fmt.Errorf("show the dashboard: %w", err)
	}
	return nil
}

// taskRunner runs background tasks that send messages to the dashboard and end with it. The dashboard ends
// with a task that panics: the runtime would end the program without restoring the terminal.
type taskRunner struct {
	ctx  context.Context //nolint:containedctx // it is the lifetime of the dashboard, whose commands have no argument for it
	send func(tea.Msg)
	// quit ends the dashboard and restores the terminal.
	quit func()
	all  sync.WaitGroup

	mu    sync.Mutex
	fault error // of the first task that panicked
}

// run starts a task, and returns a function that cancels it.
func (o *taskRunner) run(task func(ctx context.Context, send func(tea.Msg))) context.CancelFunc {
	ctx, cancel := context.WithCancel(o.ctx)
	o.all.Go(func() {
		defer cancel()
		if err := reconcile.Guarded(func() error { task(ctx, o.send); return nil }); err != nil {
			o.fail(err)
		}
	})
	return cancel
}

// fail ends the dashboard because of a task that panicked.
func (o *taskRunner) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fault == nil {
		o.fault = err
		o.quit()
	}
}

// faulted returns why a task panicked; nil if none did.
func (o *taskRunner) faulted() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fault
}

// wait waits for the tasks to end.
func (o *taskRunner) wait(atMost time.Duration) {
	done := make(chan struct{})
	go func() { o.all.Wait(); close(done) }()
	late := time.NewTimer(atMost)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// By now all imports of this package are initialized.
var _ = termquery.Restore()
