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
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/picture"
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

// showPlain prints a line per change until something ends it.
func (o ScreenOptions) showPlain(ctx context.Context, env *session.Env, clusters []string, feed tui.Feed, keep func(tui.Entry)) error {
	p := &plainWriter{out: env.Out, reporters: map[string]*ui.ChangeWriter{}}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var following sync.WaitGroup
	for _, name := range clusters {
		following.Go(func() {
			feed.Follow(ctx, name, func(e tui.Entry) {
				keep(e)
				if err := p.write(e); err != nil {
					stop(err) // the reader has ended
				}
			})
		})
	}
	following.Wait()
	if ctx.Err() == nil {
		return fmt.Errorf("cannot watch any cluster: %s", p.problem())
	}
	return context.Cause(ctx)
}

// replayPlain prints the lines of a recording.
func (o ScreenOptions) replayPlain(ctx context.Context, env *session.Env, entries []tui.Entry) error {
	p := &plainWriter{out: env.Out, reporters: map[string]*ui.ChangeWriter{}}
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.write(e); err != nil {
			return err
		}
	}
	return nil
}

// plainWriter prints entries as text, one line per change.
type plainWriter struct {
	mu        sync.Mutex
	out       io.Writer
	reporters map[string]*ui.ChangeWriter
	last      string
}

func (p *plainWriter) write(e tui.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	if e.Frame != nil && !isEarly(e) {
		if p.reporters[e.Cluster] == nil {
			p.reporters[e.Cluster] = &ui.ChangeWriter{}
		}
		lines = p.reporters[e.Cluster].Changes(*e.Frame)
	}
	if words := frame.LineWords(e.Pass); words != "" {
		lines = append(lines, words)
	}
	for _, line := range lines {
		p.last = line
		if _, err := fmt.Fprintf(p.out, "%s %s: %s\n", e.At.UTC().Format(time.TimeOnly), e.Cluster, line); err != nil {
			return err
		}
	}
	return nil
}

// isEarly reports whether a frame is one of the first, before the answer of its database.
func isEarly(e tui.Entry) bool {
	s, k := e.Frame.Source(frame.SourceOfDatabase), e.Frame.Source(frame.SourceOfKubernetes)
	if s == nil || k == nil || k.Problem != "" || s.AsOf != nil || s.Problem != "" {
		return false
	}
	return s.RequestedAt == nil || e.At.Sub(*s.RequestedAt) < session.SlowDatabase
}

// problem returns the last printed error.
func (p *plainWriter) problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// exportFlags say how a recording is drawn.
type exportFlags struct {
	format string
	size   string
	light  bool
	keys   []string
}

// The formats of an export.
const (
	exportSVG  = "svg"
	exportHTML = "html"
	exportCast = "cast"
)

func exportFormats() []string { return []string{exportSVG, exportHTML, exportCast} }

// The sizes of a picture that make sense: smaller than a phone shows nothing, larger is a mistake.
const (
	minColumns, minRows = 20, 5
	maxColumns, maxRows = 400, 200
)

func (f *exportFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "export", "", "format in which to print what --replay shows: svg for its last moment, html or cast for all of it")
	flags.StringVar(&f.size, "size", "120x40", "columns and rows of --export")
	flags.BoolVar(&f.light, "light", false, "If true, draw the picture or page of --export as a terminal with a light background shows it")
	flags.StringSliceVar(&f.keys, "keys", nil, "comma-separated keys to press before --export, such as 2 or down,enter")
	complete.Flag(cmd, "export", exportFormats)
}

func (f exportFlags) given() bool { return f.format != "" }

func (f exportFlags) check(o ScreenOptions) error {
	switch {
	case !slices.Contains(exportFormats(), f.format):
		return exit.Usagef("--export must be one of %s, not %q", phrase.List(exportFormats()), f.format)
	case o.Replay == "":
		return exit.Usagef("--export requires --replay: record with --record first")
	case o.plain:
		return exit.Usagef("--export conflicts with --plain")
	case f.light && f.format == exportCast:
		return exit.Usagef("--light requires --export=svg or html: a cast has the colors of the terminal that plays it")
	}
	_, _, err := f.dimensions()
	return err
}

// dimensions returns the columns and rows of --size.
func (f exportFlags) dimensions() (columns, rows int, err error) {
	if n, err := fmt.Sscanf(f.size+"\n", "%dx%d\n", &columns, &rows); err != nil || n != 2 || columns < minColumns || columns > maxColumns || rows < minRows || rows > maxRows {
		return 0, 0, exit.Usagef("invalid --size %q: must be COLUMNSxROWS, from %dx%d to %dx%d", f.size, minColumns, minRows, maxColumns, maxRows)
	}
	return columns, rows, nil
}

// write prints the recording as a picture, a page or a cast.
func (f exportFlags) write(env *session.Env, o tui.Options) error {
	columns, rows, err := f.dimensions()
	if err != nil {
		return err
	}
	o.Color = env.Global.Color != session.ColorNever && env.Getenv("NO_COLOR") == ""
	shots, err := tui.Shots(o, columns, rows, f.keys)
	if err != nil {
		return exit.Usage(fmt.Errorf("--keys: %w", err))
	}
	out, ground := layout.Raw(env.Out), picture.Dark
	if f.light {
		ground = picture.Light
	}
	switch f.format {
	case exportSVG:
		return ground.DrawSVG(out, shots[len(shots)-1].Screen)
	case exportHTML:
		return ground.DrawHTML(out, strings.Join(o.Clusters, ", "), shots)
	default:
		return picture.DrawCast(out, shots, columns, rows)
	}
}
