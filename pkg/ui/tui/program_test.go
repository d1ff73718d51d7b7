package tui

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	"go.uber.org/goleak"
)

func TestTheDashboardStartsAndQuits(t *testing.T) {
	m := shown(t, 80, 24, Options{})
	program := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(80, 24))
	program.Send(entryMsg{Entry: entry(lost())})
	teatest.WaitFor(t, program.Output(), func(screen []byte) bool {
		return bytes.Contains(screen, []byte("storage-3")) && bytes.Contains(screen, []byte("Degraded: zone-3"))
	}, teatest.WithDuration(10*time.Second))
	program.Send(keyMsg("?"))
	teatest.WaitFor(t, program.Output(), func(screen []byte) bool { return bytes.Contains(screen, []byte("the next cluster")) }, teatest.WithDuration(10*time.Second))
	program.Send(keyMsg("q"))
	program.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
}

// many is a feed whose entries come from several goroutines at once.
type many struct{ entries []Entry }

func (f many) Follow(ctx context.Context, _ string, send func(Entry)) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, e := range f.entries {
				if ctx.Err() != nil {
					return
				}
				send(e)
			}
		})
	}
	all.Wait()
	<-ctx.Done()
}

func (f many) Refresh() {}

// For the race detector: entries of several sources, keys, sizes and actions at once.
func TestTheDashboardHandlesConcurrentInput(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var entries []Entry
	for range 30 {
		entries = append(entries, Entry{At: noon, Cluster: "sample", Frame: anyFrame(r)})
	}
	entries = append(entries, wholePass()...)
	m := shown(t, 100, 30, Options{Feed: many{entries}, Actions: &acting{proposal: Proposal{Confirm: "y"}}})
	// teatest begins to run the program before it returns it, and the feed sends at once.
	begun := make(chan *teatest.TestModel, 1)
	running := sync.OnceValue(func() *teatest.TestModel { return <-begun })
	m.out.send = func(msg tea.Msg) { running().Send(msg) }
	program := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(100, 30))
	begun <- program
	var all sync.WaitGroup
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		all.Go(func() {
			keys := everyKey()
			for range 60 {
				k := keys[r.IntN(len(keys))]
				if k == "q" || k == "ctrl+c" {
					continue
				}
				program.Send(keyMsg(k))
				if r.IntN(5) == 0 {
					program.Send(tea.WindowSizeMsg{Width: 20 + r.IntN(200), Height: 5 + r.IntN(60)})
				}
			}
		})
	}
	all.Wait()
	program.Send(keyMsg("ctrl+c"))
	program.WaitFinished(t, teatest.WithFinalTimeout(20*time.Second))
}

// Background tasks end with the dashboard, if they can.
func TestNoGoroutineOutlivesTheDashboard(t *testing.T) {
	before := goleak.IgnoreCurrent()
	defer func() { goleak.VerifyNone(t, before) }()
	in, keys := pipe(t)
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Options{In: in, Out: &screenCapture{}, Now: func() time.Time { return noon }, Clusters: []string{"sample"}, Feed: idleFeed{}})
	}()
	time.Sleep(50 * time.Millisecond)
	if _, err := keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	keys.Close()
	time.Sleep(tickInterval) // the last tick of the clock
}
