package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// recordingMode lets nobody else read what a cluster is made of.
const recordingMode fs.FileMode = 0o600

// recorded is a feed that is kept.
type recorded struct {
	tui.Feed
	keep func(tui.Entry)
}

// Follow implements tui.Feed.
func (r recorded) Follow(ctx context.Context, cluster string, send func(tui.Entry)) {
	r.Feed.Follow(ctx, cluster, func(e tui.Entry) {
		r.keep(e)
		send(e)
	})
}

// kept are actions of which it is kept what they do.
type kept struct {
	tui.Actions
	keep func(tui.Entry)
}

// CarryOut implements tui.Actions.
func (k kept) CarryOut(ctx context.Context, p tui.Proposal, send func(tui.Entry)) error {
	return k.Actions.CarryOut(ctx, p, func(e tui.Entry) {
		k.keep(e)
		send(e)
	})
}

// newRecorder keeps entries in a new file, whole lines at a time; without a path it keeps
// nothing. done closes the file, and returns what went wrong with it.
func newRecorder(path string) (keep func(tui.Entry), done func() error, err error) {
	if path == "" {
		return func(tui.Entry) {}, func() error { return nil }, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, recordingMode) //nolint:gosec // the file that the user names
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil, usagef("--record %s: the file exists already; choose another name, nothing is overwritten", path)
	case err != nil:
		return nil, nil, usage(fmt.Errorf("--record: %w", err))
	}
	r := &recorder{file: f}
	return r.keep, r.close, nil
}

// unchangedAnew is how often a frame is kept of a cluster in which nothing changes but
// ages: a recording that runs for days shall not fill a disk with them.
const unchangedAnew = 10 * time.Second

// recorder writes one entry per line.
type recorder struct {
	mu    sync.Mutex
	file  *os.File
	fault error // what the first write met that failed; nothing is written after it
	// clusters are those that frames were kept of.
	clusters map[string]*keptFrames
}

// keptFrames is what was kept of one cluster.
type keptFrames struct {
	teller ui.ChangeWriter
	last   time.Time
}

// isNews reports whether a frame is to be kept: something changed that can be said in
// words, or the last one is old.
func (r *recorder) isNews(e tui.Entry) bool {
	if r.clusters == nil {
		r.clusters = map[string]*keptFrames{}
	}
	k := r.clusters[e.Cluster]
	if k == nil {
		k = &keptFrames{}
		r.clusters[e.Cluster] = k
	}
	news := len(k.teller.Changes(*e.Frame)) > 0
	if !news && e.At.Sub(k.last) < unchangedAnew {
		return false
	}
	k.last = e.At
	return true
}

func (r *recorder) keep(e tui.Entry) {
	if e.Frame == nil && e.Pass == nil {
		return // a question is none that could be answered later
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil || r.file == nil || (e.Frame != nil && !r.isNews(e)) {
		return
	}
	text, err := json.Marshal(e) //nolint:gosec // a pass is no password
	if err == nil {
		line := append([]byte(ui.HideSecrets(string(bytes.TrimSpace(text)))), '\n')
		_, err = r.file.Write(line)
	}
	r.fault = err
}

func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := errors.Join(r.fault, r.file.Close())
	r.file = nil
	if err != nil {
		return fmt.Errorf("keeping what was shown: %w", err)
	}
	return nil
}
