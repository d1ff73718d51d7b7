package dashboard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// runReplay shows a recording. It requires neither a cluster nor a kubeconfig.
func (o ScreenOptions) runReplay(ctx context.Context, env *session.Env) error {
	f, err := os.Open(o.Replay)
	if err != nil {
		return exit.Usage(fmt.Errorf("--replay: %w", err))
	}
	defer f.Close()
	entries, cut, err := ReadRecording(f)
	if err != nil {
		return exit.Usage(fmt.Errorf("--replay %s: %w", o.Replay, err))
	}
	if cut {
		env.Logf("warning: the recording is truncated: line %d is ignored", len(entries)+1)
	}
	if o.plain {
		return o.replayPlain(ctx, env, entries)
	}
	s := Screen(env, clustersOf(entries))
	s.Replay = entries
	s.Context, s.Namespace, s.Command, s.Kubectl = asRecorded(firstFrame(entries).Metadata)
	if o.export.given() {
		return o.export.write(env, s) //nolint:contextcheck // the recording is drawn at once, and no task begins
	}
	return tui.Run(ctx, s)
}

// expansion is what a compressed recording expands to. A frame in which only ages changed is compressed to a thousandth.
var expansion = limit.Expansion{Most: 4 << 30, Free: 256 << 20, Ratio: 2000}

// zstdMagic begins what is compressed with zstd (RFC 8878, 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// ReadRecording reads all entries, compressed or not. A truncated last line, after a crash or on a full disk, is
// ignored; any other invalid line is an error with its number.
func ReadRecording(r io.Reader) (entries []tui.Entry, cut bool, err error) {
	lines := bufio.NewReader(r)
	if magic, err := lines.Peek(len(zstdMagic)); err == nil && string(magic) == zstdMagic {
		unpacked, release, err := expansion.Unpacked(lines)
		if err != nil {
			return nil, false, err
		}
		defer release()
		lines = bufio.NewReader(unpacked)
	}
	return readEntries(lines)
}

// readEntries reads the lines of a recording. A compressed one that was not closed has no proper end.
func readEntries(lines *bufio.Reader) (entries []tui.Entry, cut bool, err error) {
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return nil, false, fmt.Errorf("line %d: %w", n, err)
		}
		if ended && len(bytes.TrimSpace(line)) == 0 {
			return entries, false, holdsFrames(entries)
		}
		e, err := readEntry(line)
		switch {
		case err != nil && ended && n > 1:
			return entries, true, holdsFrames(entries)
		case err != nil:
			return nil, false, fmt.Errorf("line %d: invalid entry: %w", n, err)
		}
		entries = append(entries, e)
	}
}

func readEntry(line []byte) (tui.Entry, error) {
	var e tui.Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return e, err
	}
	switch {
	case e.Cluster == "" || e.At.IsZero():
		return e, errors.New("time or cluster is missing")
	case e.Frame == nil && e.Pass == nil:
		return e, errors.New("entry is empty")
	case e.Frame != nil && (e.Frame.Kind != "Frame" || e.Frame.APIVersion != inspect.APIVersion):
		return e, fmt.Errorf("unsupported %q of %q: must be a Frame of %s", e.Frame.Kind, e.Frame.APIVersion, inspect.APIVersion)
	}
	return e, nil
}

func holdsFrames(entries []tui.Entry) error {
	if !slices.ContainsFunc(entries, func(e tui.Entry) bool { return e.Frame != nil }) {
		return errors.New("the recording has no frame")
	}
	return nil
}

// clustersOf returns the clusters of a recording, in order of appearance.
func clustersOf(entries []tui.Entry) []string {
	var names []string
	for _, e := range entries {
		if !slices.Contains(names, e.Cluster) {
			names = append(names, e.Cluster)
		}
	}
	return names
}

// asRecorded sets the location of a recorded cluster, for command lines about it: not that of
// the current kubeconfig.
func asRecorded(m inspect.Metadata) (where, namespace string, fdb, kubectl func(...string) string) {
	line := func(program ...string) func(...string) string {
		return func(words ...string) string {
			return session.Where{Namespace: m.Namespace, Context: m.Context}.ShellLine(slices.Concat(program, words), nil)
		}
	}
	return m.Context, m.Namespace, line("kubectl", "fdb"), line("kubectl")
}

// firstFrame returns the first frame of a recording, which has one.
func firstFrame(entries []tui.Entry) frame.Frame {
	i := slices.IndexFunc(entries, func(e tui.Entry) bool { return e.Frame != nil })
	return *entries[i].Frame
}
