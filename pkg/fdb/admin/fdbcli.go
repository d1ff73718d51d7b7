package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Paths in a pod of a cluster.
const (
	// MainBinary is the main container's own fdbcli.
	MainBinary = "/usr/bin/fdbcli"
	// LiveClusterFile is kept current by fdbserver.
	LiveClusterFile = "/var/fdb/data/fdb.cluster"
	// SeedClusterFile may be stale, and read-only; it exists from the start.
	SeedClusterFile = "/var/dynamic-conf/fdb.cluster"
)

// BinariesFor returns the paths at which an fdbcli of these versions can be: the main
// container's own, and the copies made for an upgrade by the unified image and by the
// split one. An unknown version has none.
func BinariesFor(versions ...fdb.Version) []string {
	binaries := []string{MainBinary}
	for _, v := range versions {
		for _, place := range []string{"/var/fdb/shared-binaries/bin/", "/var/dynamic-conf/bin/"} {
			if binary := place + v.String() + "/fdbcli"; !v.IsZero() && !slices.Contains(binaries, binary) {
				binaries = append(binaries, binary)
			}
		}
	}
	return binaries
}

// FDBCLIOptions are the options of FDBCLI. The zero value suits a pod of a
// cluster.
type FDBCLIOptions struct {
	// Binaries are tried in order until one exists. Default MainBinary.
	Binaries []string
	// ClusterFiles are tried in order until one can be read. Default LiveClusterFile,
	// then SeedClusterFile.
	ClusterFiles []string
	// Clock is the real one by default. It paces retries and read-backs.
	Clock clock.Clock
	// Jitter varies a pause so that concurrent runs do not stay in step. Default: up
	// to twice as long.
	Jitter func(time.Duration) time.Duration
}

// FDBCLI is Admin and KV through fdbcli's text protocol, recorded on FoundationDB
// 7.3.79 and checked in the sources of 7.1.67 and 7.4.6.
type FDBCLI struct {
	transport    Transport
	binaries     []string
	clusterFiles []string
	clock        clock.Clock
	jitter       func(time.Duration) time.Duration

	mu      sync.Mutex
	works   *place // the place that worked last
	version fdb.Version
}

var (
	_ Admin = (*FDBCLI)(nil)
	_ KV    = (*FDBCLI)(nil)
)

// NewFDBCLI returns an FDBCLI that runs fdbcli through t.
func NewFDBCLI(t Transport, o FDBCLIOptions) *FDBCLI {
	c := &FDBCLI{transport: t, binaries: o.Binaries, clusterFiles: o.ClusterFiles, clock: o.Clock, jitter: o.Jitter}
	if len(c.binaries) == 0 {
		c.binaries = []string{MainBinary}
	}
	if len(c.clusterFiles) == 0 {
		c.clusterFiles = []string{LiveClusterFile, SeedClusterFile}
	}
	if c.clock == nil {
		c.clock = clock.RealClock{}
	}
	if c.jitter == nil {
		c.jitter = func(d time.Duration) time.Duration { return wait.Jitter(d, 1) }
	}
	return c
}

// Limits after which fdbcli itself times out. An unconfigured or unavailable
// database takes up to 19 s for a status, a coordinator change up to 18 s, and
// creating a database up to 75 s.
const (
	readLimit      = 15 * time.Second
	statusLimit    = 40 * time.Second
	changeLimit    = 40 * time.Second
	configureLimit = 75 * time.Second
	sessionLimit   = 30 * time.Second
)

const (
	// wrapperGrace is how long after fdbcli's own limit the wrapper kills it.
	wrapperGrace = 10 * time.Second
	// clientGrace is how long after fdbcli's own limit the client stops waiting.
	clientGrace = 20 * time.Second
)

const (
	// maxInlineScript is the longest script that goes on a command line: those of
	// pods/exec travel in URLs. Longer ones go through stdin.
	maxInlineScript = 4 << 10
	// maxScript is the longest script at all: the system limits one argument to 128 KiB.
	maxScript = 120 << 10
)

// place is one combination of a binary and a cluster file.
type place struct{ binary, clusterFile string }

// interactive is the command line of a session.
func (p place) interactive() []string {
	return []string{p.binary, "--no-status", "-C", p.clusterFile}
}

// places returns all combinations to try, the one that worked last first.
func (c *FDBCLI) places() []place {
	var all []place
	for _, file := range c.clusterFiles {
		for _, binary := range c.binaries {
			all = append(all, place{binary, file})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works == nil {
		return all
	}
	best := *c.works
	all = slices.DeleteFunc(all, func(p place) bool { return p == best })
	return append([]place{best}, all...)
}

func (c *FDBCLI) remember(p place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.works = &p
}

// Binary returns the fdbcli that worked last; empty before any did.
func (c *FDBCLI) Binary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works == nil {
		return ""
	}
	return c.works.binary
}

// tryPlaces calls try for one place after the other while it fails because of the
// place, which also means that nothing was sent to the database.
func (c *FDBCLI) tryPlaces(try func(place) error) error {
	var first error
	for _, p := range c.places() {
		err := try(p)
		if kind := KindOf(err); kind != KindBinaryMissing && kind != KindBadClusterFile {
			c.remember(p)
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// run runs one script of fdbcli commands and returns its output if it has no
// error. That alone is no proof of success.
func (c *FDBCLI) run(ctx context.Context, operation, script string, limit time.Duration) (Result, error) {
	return c.runAs(ctx, operation, script, Command{Limit: limit})
}

// read is run for a script that changes nothing.
func (c *FDBCLI) read(ctx context.Context, operation, script string, limit time.Duration) (Result, error) {
	return c.runAs(ctx, operation, script, reading(script, limit))
}

// reading is like a command that runs a script which changes nothing.
func reading(script string, limit time.Duration) Command {
	return Command{Limit: limit, Reads: true, HedgeAfter: readHedgeDelay, Line: script}
}

// runAs fills in the rest of like, whose Limit is fdbcli's own.
func (c *FDBCLI) runAs(ctx context.Context, operation, script string, like Command) (Result, error) {
	if len(script) > maxScript {
		return Result{}, &Error{Kind: KindBadInput, Operation: operation, Detail: "too many or too long arguments"}
	}
	var r Result
	err := c.tryPlaces(func(p place) error {
		cmd := like
		argv := []string{p.binary, "-C", p.clusterFile, "--timeout", seconds(like.Limit), "--exec", script}
		cmd.Argv, cmd.Limit, cmd.Interactive = argv, like.Limit+wrapperGrace, p.interactive()
		if len(script) > maxInlineScript {
			cmd.Argv = append([]string{"sh", "-c", `exec "$0" "$@" --exec "$(cat)"`}, argv[:5]...)
			cmd.Stdin = strings.NewReader(script)
			cmd.Reads = false // stdin can be read only once
		}
		var err error
		r, err = c.start(ctx, operation, cmd)
		return err
	})
	return r, err
}

// readHedgeDelay is how long a pod may take to respond before another one runs the command as
// well. A healthy database responds sooner; for a pod on a dead node the API server takes
// half a minute to time out.
const readHedgeDelay = 6 * time.Second

func (c *FDBCLI) start(ctx context.Context, operation string, cmd Command) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, cmd.Limit-wrapperGrace+clientGrace)
	defer cancel()
	r, err := c.transport.Run(ctx, cmd)
	if err != nil {
		return r, transportError(operation, err)
	}
	if failure := failureOf(operation, r); failure != nil {
		return r, failure
	}
	return r, nil
}

// transportError returns a transport's error with a kind.
func transportError(operation string, err error) *Error {
	kind := KindTransport
	if !neverRan(err) && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		kind = KindTimeout
	}
	return &Error{Kind: kind, Operation: operation, Err: err}
}

// pause waits for d, or less when ctx ends.
func (c *FDBCLI) pause(ctx context.Context, d time.Duration) error { return pauseOn(ctx, c.clock, d) }

func pauseOn(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pass runs commands of fdbcli unchanged, and returns its output and exit code without
// checking them. Its errors mean that fdbcli did not run to its end, or was not found.
func (c *FDBCLI) Pass(ctx context.Context, script string, limit time.Duration) (Result, error) {
	r, err := c.run(ctx, "running fdbcli", script, limit)
	failed, ok := errors.AsType[*Error](err)
	if ok && failed.Err == nil && failed.Kind != KindBinaryMissing && len(script) <= maxScript {
		return r, nil // it ran, and its output has the error
	}
	return r, err
}
