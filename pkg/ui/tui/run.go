package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/picture"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
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

// fdb returns a whole command line of this program; empty arguments are omitted.
func (o *Options) fdb(words ...string) string { return whole(o.Command, "kubectl fdb", words) }

// kubectl returns a whole command line of kubectl.
func (o *Options) kubectl(words ...string) string { return whole(o.Kubectl, "kubectl", words) }

// in returns the options with the command lines of the namespace of a cluster.
func (o *Options) in(cluster string) *Options {
	key := entries.Key(cluster, o.Namespace)
	if o.CommandsIn == nil || key.Namespace == o.Namespace {
		return o
	}
	of := *o
	of.Command, of.Kubectl = o.CommandsIn(key.Namespace)
	return &of
}

func whole(line func(...string) string, program string, words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if line == nil {
		for _, w := range words {
			program += " " + w
		}
		return program
	}
	return line(words...)
}

// What the dashboard receives and requests, by its names in the package entries.
type (
	// Entry is one of the things that the dashboard receives.
	Entry = entries.Entry
	// Feed delivers them.
	Feed = entries.Feed
	// Actions carries out what keys request.
	Actions = entries.Actions
	// Reads reads what keys show.
	Reads = entries.Reads
	// Ask is a request of a key.
	Ask = entries.Ask
	// Proposal is what an action would do.
	Proposal = entries.Proposal
	// Question is a prompt of a running action.
	Question = entries.Question
)

// namedKeys are the keys that are no characters, by the names that the terminal library has for them.
var namedKeys = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace,
	"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "ctrl+c": tea.KeyCtrlC, "ctrl+x": tea.KeyCtrlX, "ctrl+r": tea.KeyCtrlR, "home": tea.KeyHome, "end": tea.KeyEnd,
	"space": tea.KeySpace,
}

// keyOf returns the key of a name: a character, or one of namedKeys.
func keyOf(name string) (key tea.KeyMsg, known bool) {
	if special, is := namedKeys[name]; is {
		return tea.KeyMsg{Type: special}, true
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}, utf8.RuneCountInString(name) == 1
}

// Shots returns what a replay shows of its first cluster at each moment of the recording, in a size and after keys, which are
// pressed at its last moment. An unknown key is an error.
func Shots(o Options, width, height int, keys []string) ([]picture.Shot, error) {
	m := newModel(o, &taskRunner{ctx: context.Background(), send: func(tea.Msg) {}})
	m.playing = true // it does not stop at its end
	m = m.updated(tea.WindowSizeMsg{Width: width, Height: height})
	states := m.history().states
	m.back = len(states) - 1
	for _, name := range keys {
		key, known := keyOf(name)
		if !known {
			return nil, fmt.Errorf("unknown key %q: must be a character or a name such as enter, tab or down", name)
		}
		m = m.updated(key)
	}
	var all []picture.Shot
	for i, s := range m.history().states {
		m.back, m.notice = i, notice{}
		m = m.updated(nil)
		all = append(all, picture.Shot{At: s.at, Screen: m.View()})
	}
	return all, nil
}

// updated applies a message, and runs nothing.
func (m model) updated(msg tea.Msg) model {
	next, _ := m.Update(msg)
	return next.(model)
}
