package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

// recordingMode is readable by the user only: a recording has all of a cluster.
const recordingMode fs.FileMode = 0o600

// Recorded is a feed that is recorded.
type Recorded struct {
	tui.Feed
	Keep func(tui.Entry)
}

// Follow implements tui.Feed.
func (r Recorded) Follow(ctx context.Context, cluster string, send func(tui.Entry)) {
	r.Feed.Follow(ctx, cluster, func(e tui.Entry) {
		r.Keep(e)
		send(e)
	})
}

// Kept are actions that are recorded.
type Kept struct {
	tui.Actions
	Keep func(tui.Entry)
}

// CarryOut implements tui.Actions.
func (k Kept) CarryOut(ctx context.Context, p tui.Proposal, send func(tui.Entry)) error {
	return k.Actions.CarryOut(ctx, p, func(e tui.Entry) {
		k.Keep(e)
		send(e)
	})
}

// CompressedSuffix ends the name of a recording that is compressed with zstd.
const CompressedSuffix = ".zst"

// NewRecorder records entries to a new file, whole lines at a time; without a path it records
// nothing. A name that ends with CompressedSuffix is that of a compressed one. done closes the file, and returns its error.
func NewRecorder(path string) (keep func(tui.Entry), done func() error, err error) {
	if path == "" {
		return func(tui.Entry) {}, func() error { return nil }, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, recordingMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil, exit.Usagef("--record %s: file already exists and is not overwritten", path)
	case err != nil:
		return nil, nil, exit.Usage(fmt.Errorf("--record: %w", err))
	}
	r := &recorder{file: f, out: f}
	if strings.HasSuffix(path, CompressedSuffix) {
		if err := r.compress(); err != nil {
			return nil, nil, err
		}
	}
	return r.keep, r.close, nil
}

// unchangedInterval is how often a frame is recorded while only ages change: a recording of
// days must not fill a disk.
const unchangedInterval = 10 * time.Second

// recorder writes one entry per line.
type recorder struct {
	mu     sync.Mutex
	file   *os.File
	out    io.Writer     // of the file
	packed *zstd.Encoder // nil if it is not compressed
	fault  error         // the first failed write; nothing is written after it
	// clusters are the clusters with recorded frames.
	clusters map[string]*keptFrames
}

// keptFrames are the recorded frames of one cluster.
type keptFrames struct {
	reporter ui.ChangeWriter
	last     time.Time
}

// compress has a file compressed. Each entry is written at once: a recording must have what came before a crash.
func (r *recorder) compress() (err error) {
	r.packed, err = entries.NewCompressor(r.file)
	r.out = r.packed
	return err
}

func (r *recorder) write(text string) error {
	_, err := io.WriteString(r.out, text)
	if err == nil && r.packed != nil {
		err = r.packed.Flush()
	}
	return err
}

// isNews reports whether to record a frame: something changed that has a text, or the last one
// is old.
func (r *recorder) isNews(e tui.Entry) bool {
	if r.clusters == nil {
		r.clusters = map[string]*keptFrames{}
	}
	k := r.clusters[e.Cluster]
	if k == nil {
		k = &keptFrames{}
		r.clusters[e.Cluster] = k
	}
	news := len(k.reporter.Changes(*e.Frame)) > 0
	if !news && e.At.Sub(k.last) < unchangedInterval {
		return false
	}
	k.last = e.At
	return true
}

func (r *recorder) keep(e tui.Entry) {
	if e.Frame == nil && e.Pass == nil {
		return // a prompt cannot be answered in a replay
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil || r.file == nil || (e.Frame != nil && !r.isNews(e)) {
		return
	}
	var text bytes.Buffer
	err := ui.WriteJSON(&text, e)
	if err == nil {
		err = r.write(redact.Kept(text.String()))
	}
	r.fault = err
}

func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.fault
	if r.packed != nil {
		err = errors.Join(err, r.packed.Close())
	}
	err = errors.Join(err, r.file.Close())
	r.file = nil
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}
