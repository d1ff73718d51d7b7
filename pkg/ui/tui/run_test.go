package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// stuck is a feed that tells one thing and then hangs, whatever is asked of it.
type stuck struct{ entry Entry }

func (f stuck) Follow(_ context.Context, _ string, send func(Entry)) {
	send(f.entry)
	select {}
}

func (f stuck) Refresh() {}

func TestTheScreenEndsAtOnceThoughTheFeedHangs(t *testing.T) {
	in, keys := pipe(t)
	out := &screenCapture{}
	frame := &ui.Frame{Status: ui.StatusView{Summary: "all is well"}}
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
	case <-time.After(5 * time.Second):
		t.Fatal("q did not end the screen")
	}
	if took := time.Since(began); took > 200*time.Millisecond {
		t.Errorf("q took %s", took)
	}
	if !strings.HasSuffix(strings.TrimSpace(out.String()), "\x1b[?25h") && !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Errorf("the terminal is not as it was: %q", out.String())
	}
}

func TestTheScreenEndsWithItsContext(t *testing.T) {
	in, _ := pipe(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			In: in, Out: &screenCapture{}, Now: func() time.Time { return noon }, Clusters: []string{"sample"},
			Feed: stuck{Entry{At: noon, Cluster: "sample"}},
		})
	}()
	told := errors.New("told to end")
	cancel(told)
	select {
	case err := <-ended:
		if !errors.Is(err, told) {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the end of the context did not end the screen")
	}
}
