package tui

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// stuck is a feed that sends one entry and then hangs.
type stuck struct{ entry Entry }

func (f stuck) Follow(_ context.Context, _ string, send func(Entry)) {
	send(f.entry)
	select {}
}

func (f stuck) Refresh() {}

// marked returns the time from q to the end of a dashboard whose feed hangs.
func marked(t *testing.T) time.Duration {
	t.Helper()
	in, keys := pipe(t)
	out := &screenCapture{}
	frame := &frame.Frame{Status: inspect.StatusView{Summary: "healthy"}}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Options{
			In: in, Out: out, Now: func() time.Time { return noon }, Clusters: []string{"sample"},
			Feed: stuck{Entry{At: noon, Cluster: "sample", Frame: frame}},
		})
	}()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	if _, err := keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(10 * time.Minute):
		t.Fatal("q did not end the dashboard")
	}
	took := time.Since(began)
	for what, sequence := range map[string]string{"the former screen": "\x1b[?1049l", "the cursor": "\x1b[?25h", "plain pasting": "\x1b[?2004l"} {
		if !strings.Contains(out.String(), sequence) {
			t.Errorf("%s is not restored: %q", what, out.String())
		}
	}
	return took
}

// faulty is a feed with a bug.
type faulty struct{ idleFeed }

func (faulty) Follow(context.Context, string, func(Entry)) { panic("no such frame") }

func TestATaskThatPanicsEndsTheDashboardAndRestoresTheTerminal(t *testing.T) {
	control, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	// The terminal stays open, as that of a program does: the library can still read its size when Run has returned.
	drawn := &screenCapture{}
	go func() { _, _ = io.Copy(drawn, control) }()
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), Options{In: terminal, Out: terminal, Now: func() time.Time { return noon }, Clusters: []string{"sample"}, Feed: faulty{}})
	fault, is := errors.AsType[*reconcile.FaultError](err)
	if !is || fault.Value != "no such frame" || !strings.Contains(fault.Stack[0], "run_test.go:") {
		t.Errorf("Run: %v, want the panic and where it was", err)
	}
	after, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal has the modes %+v, had %+v", after, before)
	}
	const ending = "\x1b[?1049l"
	for deadline := time.Now().Add(time.Minute); !strings.Contains(drawn.String(), ending) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	for what, sequence := range map[string]string{"the former screen": ending, "the cursor": "\x1b[?25h"} {
		if !strings.Contains(drawn.String(), sequence) {
			t.Errorf("%s is not restored: %q", what, drawn.String())
		}
	}
}

// It takes 100 ms, more on a busy machine, and would have no end if it waited for the feed.
func TestTheDashboardQuitsPromptlyWhileTheFeedHangs(t *testing.T) {
	if took := marked(t); took > 5*time.Minute {
		t.Errorf("q took %s", took)
	}
}

func TestTheDashboardEndsWhenItsContextIsCanceled(t *testing.T) {
	in, _ := pipe(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			In: in, Out: &screenCapture{}, Now: func() time.Time { return noon }, Clusters: []string{"sample"},
			Feed: stuck{Entry{At: noon, Cluster: "sample"}},
		})
	}()
	cause := errors.New("terminated")
	cancel(cause)
	select {
	case err := <-ended:
		if !errors.Is(err, cause) {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(10 * time.Minute):
		t.Fatal("the end of the context did not end the dashboard")
	}
}

func TestShotsAreWhatAReplayShows(t *testing.T) {
	o := Options{Replay: frames(3), Now: func() time.Time { return noon.Add(time.Hour) }, Context: "prod", Namespace: "fdb"}
	all, err := Shots(o, 100, 24, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d shots, want one of each of 3 frames", len(all))
	}
	for i, want := range []string{"frame 1", "frame 2", "frame 3"} {
		if !strings.Contains(all[i].Screen, want) || !all[i].At.Equal(o.Replay[i].At) {
			t.Errorf("shot %d at %s has no %q:\n%s", i, all[i].At, want, all[i].Screen)
		}
	}
	for _, s := range all {
		if n := strings.Count(s.Screen, "\n") + 1; n > 24 {
			t.Errorf("a shot has %d lines of 24", n)
		}
	}
}

func TestShotsShowWhatKeysOpen(t *testing.T) {
	o := Options{Replay: frames(2), Now: func() time.Time { return noon }}
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"a view":         {[]string{"2"}, "[2 nodes]"},
		"help":           {[]string{"?"}, "the next cluster"},
		"help of a view": {[]string{"4", "?"}, "the next cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Shots(o, 100, 40, tc.keys)
			if err != nil || !strings.Contains(all[len(all)-1].Screen, tc.want) {
				t.Errorf("no %q: %v\n%s", tc.want, err, all[len(all)-1].Screen)
			}
		})
	}
	if _, err := Shots(o, 100, 40, []string{"f13"}); err == nil {
		t.Error("an unknown key is no error")
	}
}
