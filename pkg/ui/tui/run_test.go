package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
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
