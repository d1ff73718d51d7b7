package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps/ring"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// The defaults of the flags.
const (
	DefaultDumpInterval = 5 * time.Minute
	DefaultDumpKeep     = 24 * time.Hour
	DefaultDumpBytes    = "1Gi"
	// MinDumpInterval bounds the load of dumps on API server and database, and is the least time
	// that one may take.
	MinDumpInterval = time.Minute
	// dumpLogBytes bounds the logs and trace files of one of many dumps.
	dumpLogBytes = 4 << 20
)

// WriteDump writes a dump of a cluster to a path, as a whole or not at all.
type WriteDump func(ctx context.Context, env *session.Env, key types.NamespacedName, path string, logBytes int64) error

// DumpFlags are the flags of a watch that writes dumps.
type DumpFlags struct {
	// Write is set by the command.
	Write WriteDump

	Dir            string
	Interval, Keep time.Duration
	MaxBytes       string
}

// changed reports whether a flag has another value than its default. Without flags it is zero.
func (d *DumpFlags) changed() bool {
	return d.Dir != "" || d.Interval != 0 && d.Interval != DefaultDumpInterval || d.Keep != 0 && d.Keep != DefaultDumpKeep || d.MaxBytes != "" && d.MaxBytes != DefaultDumpBytes
}

func (d *DumpFlags) check() error {
	if d.Dir == "" {
		if d.changed() {
			return exit.Usagef("--dump-interval, --dump-keep and --dump-max-bytes require --dump-dir")
		}
		return nil
	}
	if _, err := d.parseMaxBytes(); err != nil {
		return err
	}
	if d.Keep < d.Interval {
		return exit.Usagef("--dump-keep (%s) must not be less than --dump-interval (%s)", d.Keep, d.Interval)
	}
	return nil
}

func (d *DumpFlags) parseMaxBytes() (int64, error) {
	quantity, err := resource.ParseQuantity(d.MaxBytes)
	if err != nil || quantity.Value() <= 0 {
		return 0, exit.Usagef("invalid --dump-max-bytes %q: must be a number of bytes such as 1048576, 64Mi or 1Gi", d.MaxBytes)
	}
	return quantity.Value(), nil
}

// dumper writes dumps beside passes, which it never fails: what goes wrong is reported.
type dumper struct {
	ring     ring.Ring
	interval time.Duration
	clock    clock.WithTicker
	write    func(ctx context.Context, path string) error
	// written and failed report how each dump ended.
	written func(at time.Time, bytes int64)
	failed  func(error)
}

// startDumps begins to write dumps. The returned function ends that, and removes one that is incomplete.
func (w *watching) startDumps(ctx context.Context, written func(time.Time, int64), failed func(error)) (stop func(), err error) {
	most, err := w.Dumps.parseMaxBytes()
	if err != nil {
		return nil, err
	}
	d := &dumper{
		ring:     ring.Ring{Dir: w.Dumps.Dir, Name: w.Key.Name, Keep: w.Dumps.Keep, MaxBytes: most},
		interval: w.Dumps.Interval, clock: w.Env.Clock, written: written, failed: failed,
		write: func(ctx context.Context, path string) error {
			return w.Dumps.Write(ctx, w.Env.Beside(io.Discard), w.Key, path, dumpLogBytes)
		},
	}
	if err := d.ring.Prepare(); err != nil {
		return nil, exit.Usage(fmt.Errorf("--dump-dir: %w", err))
	}
	ctx, cancel := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() { d.run(ctx) })
	return func() {
		cancel()
		writing.Wait()
	}, nil
}

// run writes a dump at each interval until the context ends.
func (d *dumper) run(ctx context.Context) {
	for {
		if bytes, err := d.one(ctx); ctx.Err() == nil {
			if err != nil {
				d.failed(err)
			} else {
				d.written(d.clock.Now(), bytes)
			}
		}
		timer := d.clock.NewTimer(d.interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// one writes one dump, and removes those that exceed the limits, also if it could not be written. It
// returns the size of all.
func (d *dumper) one(ctx context.Context) (bytes int64, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("panic: %v", problem)
		}
	}()
	limited, cancel := context.WithTimeout(ctx, d.interval)
	defer cancel()
	now := d.clock.Now()
	err = d.write(limited, d.ring.Path(now))
	bytes, pruned := d.ring.Prune(now)
	return bytes, errors.Join(err, pruned)
}

// reportDump returns a function that prints why dumps are not written: at most as often as what cannot be
// watched is.
func (w *watching) reportDump() func(error) {
	var last time.Time
	return func(err error) {
		if now := w.Env.Clock.Now(); last.IsZero() || now.Sub(last) >= session.ProblemInterval {
			last = now
			w.Env.Logf("warning: write dump to %s: %s; passes continue", w.Dumps.Dir, exit.Explain(err))
		}
	}
}
