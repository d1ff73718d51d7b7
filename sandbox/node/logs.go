package node

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// containerLog is the file one run of a container writes. Each line begins
// with its time.
type containerLog struct{ stdout, stderr *os.File }

// openLog opens the file and the two streams that are written to it line by line.
func openLog(file string, clock Clock) (*containerLog, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("create the log directory: %w", err)
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the container's log: %w", err)
	}
	var l containerLog
	var open sync.WaitGroup
	for _, stream := range []**os.File{&l.stdout, &l.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("create the container's streams: %w", err)
		}
		*stream = w
		open.Go(func() { copyLines(out, r, clock) })
	}
	go func() { open.Wait(); out.Close() }()
	return &l, nil
}

// closeWriters lets go of the streams; the container's processes hold their own.
func (l *containerLog) closeWriters() {
	l.stdout.Close()
	l.stderr.Close()
}

func copyLines(out io.Writer, in io.ReadCloser, clock Clock) {
	defer in.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			fmt.Fprintf(out, "%s %s\n", clock.Now().UTC().Format(time.RFC3339Nano), strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return
		}
	}
}

// logRequest is what `kubectl logs` asks for.
type logRequest struct {
	follow, previous, timestamps bool
	tail                         int // -1 is all
	limit                        int64
	since                        time.Time
}

func parseLogRequest(q url.Values, now time.Time) (logRequest, error) {
	r := logRequest{
		follow: q.Get("follow") == "true", previous: q.Get("previous") == "true", timestamps: q.Get("timestamps") == "true", tail: -1, limit: -1,
	}
	var err error
	if text := q.Get("tailLines"); text != "" {
		if r.tail, err = strconv.Atoi(text); err != nil {
			return r, fmt.Errorf("read tailLines: %w", err)
		}
	}
	if text := q.Get("limitBytes"); text != "" {
		if r.limit, err = strconv.ParseInt(text, 10, 64); err != nil {
			return r, fmt.Errorf("read limitBytes: %w", err)
		}
	}
	if text := q.Get("sinceSeconds"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil {
			return r, fmt.Errorf("read sinceSeconds: %w", err)
		}
		r.since = now.Add(-time.Duration(seconds) * time.Second)
	}
	if text := q.Get("sinceTime"); text != "" {
		if r.since, err = time.Parse(time.RFC3339, text); err != nil {
			return r, fmt.Errorf("read sinceTime: %w", err)
		}
	}
	return r, nil
}

func (a *Agent) serveLogs(w http.ResponseWriter, q *http.Request) {
	request, err := parseLogRequest(q.URL.Query(), a.Clock.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r, err := a.runner(q.PathValue("namespace"), q.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	file, running, err := r.currentLog(q.PathValue("container"), request.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := request.send(q.Context(), w, file, running); err != nil && q.Context().Err() == nil {
		a.Log.Info("sending logs", "error", err)
	}
}

// currentLog is the file of the container's current, last or previous run.
func (r *runner) currentLog(name string, previous bool) (file string, running func() bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[name]
	if c == nil {
		return "", nil, fmt.Errorf("container %s is not valid for pod %s", name, r.name)
	}
	run := c.status.RestartCount
	if c.process == nil && c.status.State.Terminated == nil {
		run-- // it waits for its next run
	}
	if previous {
		run = c.status.RestartCount - 1
	}
	if run < 0 {
		return "", nil, fmt.Errorf("container %q in pod %q is waiting to start", name, r.name)
	}
	process := c.process
	running = func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return process != nil && c.process == process
	}
	return r.logFile(name, run), running, nil
}

// followInterval is how often a followed log is looked at.
const followInterval = 100 * time.Millisecond

func (l logRequest) send(ctx context.Context, w http.ResponseWriter, file string, running func() bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	out := &limitedLines{w: w, left: l.limit, request: l}
	if err := out.existing(f); err != nil || !l.follow || out.full() {
		return err
	}
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for {
		last := !running()
		if err := out.copy(f); err != nil || last || out.full() {
			return err
		}
		http.NewResponseController(w).Flush() // a caller that has ended ends ctx
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// limitedLines writes log lines as requested.
type limitedLines struct {
	w       io.Writer
	left    int64 // bytes; -1 is no limit
	request logRequest
	partial string // the beginning of a line whose end is not written yet
}

func (l *limitedLines) existing(f io.Reader) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(data), "\n")
	l.partial = lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	if l.request.tail >= 0 && len(lines) > l.request.tail {
		lines = lines[len(lines)-l.request.tail:]
	}
	return l.write(lines)
}

func (l *limitedLines) copy(f io.Reader) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(l.partial+string(data), "\n")
	l.partial = lines[len(lines)-1]
	return l.write(lines[:len(lines)-1])
}

// full reports whether the byte limit is reached.
func (l *limitedLines) full() bool { return l.left == 0 }

func (l *limitedLines) write(lines []string) error {
	for _, line := range lines {
		stamp, text, _ := strings.Cut(line, " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil {
			return err
		}
		if at.Before(l.request.since) {
			continue
		}
		if l.request.timestamps {
			text = line
		}
		if l.left >= 0 {
			text = text[:min(int64(len(text)), l.left)]
			l.left -= int64(len(text))
		}
		if _, err := io.WriteString(l.w, text); err != nil {
			return err
		}
		if l.full() {
			return nil
		}
	}
	return nil
}
