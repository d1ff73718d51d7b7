package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Options are what a screen is made of.
type Options struct {
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Feed tells what there is to see; nil for a replay.
	Feed Feed
	// Replay is a recording to show instead of a feed; nil for none.
	Replay []Entry
	// Actions are what keys may do; nil for a screen that only shows.
	Actions Actions
	// Clusters are the names of the clusters that can be shown, the first one first.
	Clusters []string
	// Context and Namespace are where the clusters are, for the header.
	Context, Namespace string
	// Passes is true when passes run while the screen is up: then it does not only show,
	// whether or not keys act.
	Passes bool
	// AllowFlag is the flag that allows actions, for those who press a key without it.
	AllowFlag string
	// Command makes a whole command line of this program, for the clusters' context and
	// namespace.
	Command func(words ...string) string
	// Kubectl does the same for kubectl.
	Kubectl func(words ...string) string
	// Interval is how often the feed looks; for the header.
	Interval time.Duration
	// Now is the clock.
	Now func() time.Time
	// Color turns colors on. Without them symbols and words say the same.
	Color bool
}

// parting is how long the end of the screen waits for what it started: long enough to
// end in order, too short to be noticed.
const parting = 100 * time.Millisecond

// framesPerSecond bounds how often the terminal is written to.
const framesPerSecond = 30

// Run shows the screen until a person leaves it, which is no error, or ctx ends, which is
// its cause. It leaves the terminal as it was. Feed and actions are told to end and not
// waited for: who implements Actions waits for what may not be left half done.
func Run(ctx context.Context, o Options) error {
	inside, leave := context.WithCancel(ctx)
	out := &outlet{ctx: inside}
	program := tea.NewProgram(newModel(o, out), //nolint:contextcheck // what keys start lives as long as the screen, whose context out has
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithAltScreen(),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	out.send = program.Send
	_, err := program.Run()
	leave()
	out.wait(parting)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.Is(err, tea.ErrInterrupted):
		return fmt.Errorf("showing the screen: %w", err)
	}
	return nil
}

// outlet is how what runs beside the screen reaches it, and what ends with it.
type outlet struct {
	ctx  context.Context //nolint:containedctx // it is the life of the screen, which commands of the screen have no argument for
	send func(tea.Msg)
	all  sync.WaitGroup
}

// run starts something beside the screen, and returns how to end it.
func (o *outlet) run(task func(ctx context.Context, send func(tea.Msg))) context.CancelFunc {
	ctx, cancel := context.WithCancel(o.ctx)
	o.all.Go(func() {
		defer cancel()
		task(ctx, o.send)
	})
	return cancel
}

// wait gives what runs a moment to end.
func (o *outlet) wait(atMost time.Duration) {
	done := make(chan struct{})
	go func() { o.all.Wait(); close(done) }()
	late := time.NewTimer(atMost)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}
