package apply

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps/ring"
)

// dumped is what a dumper reports.
type dumped struct {
	mu     sync.Mutex
	bytes  []int64
	errors []string
}

func (d *dumped) count() (written, failed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.bytes), len(d.errors)
}

func newDumper(t *testing.T, write func(ctx context.Context, path string) error) (*dumper, *dumped, *clocktesting.FakeClock) {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	reported := &dumped{}
	return &dumper{
		ring: ring.Ring{Dir: t.TempDir(), Name: "sample", Keep: 12 * time.Minute, MaxBytes: 1000}, interval: 5 * time.Minute, clock: clock, write: write,
		written: func(_ time.Time, bytes int64) {
			reported.mu.Lock()
			defer reported.mu.Unlock()
			reported.bytes = append(reported.bytes, bytes)
		},
		failed: func(err error) {
			reported.mu.Lock()
			defer reported.mu.Unlock()
			reported.errors = append(reported.errors, err.Error())
		},
	}, reported, clock
}

// until lets time pass until a condition holds.
func until(t *testing.T, clock *clocktesting.FakeClock, step time.Duration, holds func() bool) {
	t.Helper()
	for start := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Minute {
			t.Fatal("it takes too long")
		}
		if clock.HasWaiters() {
			clock.Step(step)
		}
	}
}

func TestDumpsAreWrittenAtIntervalsAndTheOldestAreRemoved(t *testing.T) {
	d, reported, clock := newDumper(t, func(_ context.Context, path string) error { return os.WriteFile(path, make([]byte, 100), 0o600) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { d.run(ctx); close(ended) }()
	until(t, clock, 5*time.Minute, func() bool { n, _ := reported.count(); return n >= 6 })
	cancel()
	<-ended
	files, err := os.ReadDir(d.ring.Dir)
	if err != nil || len(files) != 3 { // those of the last twelve minutes
		t.Errorf("%d files, %v", len(files), err)
	}
	if reported.bytes[0] != 100 || reported.bytes[5] != 300 || len(reported.errors) > 0 {
		t.Errorf("sizes %v, errors %v", reported.bytes, reported.errors)
	}
}

func TestAFailedPeriodicDumpIsReportedAndTheNextIsWritten(t *testing.T) {
	var mu sync.Mutex
	n := 0
	d, reported, clock := newDumper(t, func(_ context.Context, path string) error {
		mu.Lock()
		defer mu.Unlock()
		switch n++; n {
		case 1:
			return errors.New("no space left on device")
		case 2:
			panic("a mistake in a view")
		default:
			return os.WriteFile(path, make([]byte, 100), 0o600)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { d.run(ctx); close(ended) }()
	until(t, clock, 5*time.Minute, func() bool { written, _ := reported.count(); return written >= 1 })
	cancel()
	<-ended
	if len(reported.errors) != 2 || reported.errors[0] != "no space left on device" || !strings.Contains(reported.errors[1], "a mistake in a view") {
		t.Errorf("errors %q", reported.errors)
	}
}

func TestAnInterruptedPeriodicDumpIsNotReportedAsFailed(t *testing.T) {
	begun := make(chan struct{})
	d, reported, _ := newDumper(t, func(ctx context.Context, _ string) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { d.run(ctx); close(ended) }()
	<-begun
	cancel()
	<-ended
	if written, failed := reported.count(); written+failed > 0 {
		t.Errorf("%d written, %d failed", written, failed)
	}
}
