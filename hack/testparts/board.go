package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"
)

const (
	// logs has the whole output of each part.
	logs = "bin/test-logs"
	// every is the longest time without a line.
	every = 15 * time.Second
	// long is the duration of a test that has a line of its own.
	long = 5.0
	// atMost bounds the lines of one failure; all of them are in the logs.
	atMost = 200
	// named is how many running tests, and how many of the longest, are named.
	named = 3
	// module is left out of the names of packages.
	module = "github.com/kubectl-fdb/kubectl-fdb/"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// testKey identifies a test of a part. The whole package has no test.
type testKey struct{ pkg, test string }

// progress is what is known of a part.
type progress struct {
	*part
	log        io.WriteCloser
	begin, end time.Time
	err        error
	// running has the begin of each test that runs; a test that waits for others of its kind does not.
	running map[testKey]time.Time
	// output is kept until a test has passed. That of builds is kept by the package.
	output map[testKey][]string
	// plain is what no test printed.
	plain            []string
	passed, packages int
	failures         []testKey
	longest          []timed
}

type timed struct {
	testKey
	seconds float64
}

// board prints what happens.
type board struct {
	out   io.Writer
	clock clock.PassiveClock
	begin time.Time
	last  time.Time
	parts []*progress
	of    map[*part]*progress
	errs  []error
}

func newBoard(lanes []lane, out io.Writer, c clock.PassiveClock) *board {
	b := &board{out: out, clock: c, begin: c.Now(), last: c.Now(), of: map[*part]*progress{}}
	for _, l := range lanes {
		for _, p := range l {
			b.of[p] = &progress{part: p, running: map[testKey]time.Time{}, output: map[testKey][]string{}}
			b.parts = append(b.parts, b.of[p])
		}
	}
	return b
}

func (b *board) take(m message) {
	p := b.of[m.part]
	switch {
	case m.started:
		b.start(p)
	case m.ended:
		b.finish(p, m.err)
	default:
		b.line(p, m.line)
	}
}

func (b *board) start(p *progress) {
	p.begin = b.clock.Now()
	file, err := os.Create(p.logFile())
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("create the log of %s: %w", p.target, err))
		return
	}
	p.log = file
	b.print(p, "begins", "")
}

func (b *board) finish(p *progress, err error) {
	p.end, p.err = b.clock.Now(), err
	if p.log != nil {
		b.errs = append(b.errs, p.log.Close())
	}
	if err == nil {
		b.print(p, "passed", fmt.Sprintf("%.0fs", p.end.Sub(p.begin).Seconds()))
		return
	}
	text := p.plain
	if len(p.failures) > 0 {
		text = nil
	}
	b.fail(p, fmt.Sprintf("%v", err), text, p.again())
}

// again is the command that repeats a part. It builds what the part needs, which is built before all parts here.
func (p *progress) again() string {
	return strings.Join(append([]string{"make", p.name()}, p.variables...), " ")
}

func (p *part) name() string { return strings.TrimSuffix(p.target, "-built") }

// alone is the command that runs one test, or one package.
func (p *progress) alone(k testKey) string {
	command := p.again()
	if !strings.HasPrefix(p.target, "test-") || strings.Contains(k.test, "'") {
		return command
	}
	command += " PACKAGE=" + k.pkg
	if k.test == "" {
		return command
	}
	names := strings.Split(k.test, "/")
	for i, name := range names {
		names[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	return command + " RUN='" + strings.Join(names, "/") + "'"
}

func (b *board) line(p *progress, text string) {
	var e event
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &e) != nil || e.Action == "" {
		p.plain = append(p.plain, text+"\n")
		b.keep(p, text+"\n")
		return
	}
	if e.Package == "" {
		e.Package = e.ImportPath
	}
	k := testKey{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		b.keep(p, e.Output)
		p.output[k] = append(p.output[k], e.Output)
	case "run", "cont":
		p.running[k] = b.clock.Now()
	case "pause":
		delete(p.running, k)
	case "skip":
		if k.test != "" { // a package without tests has none to run
			b.passed(p, k, e.Elapsed)
		}
	case "pass":
		b.passed(p, k, e.Elapsed)
	case "fail":
		b.failedTest(p, k, e)
	}
}

func (p *part) logFile() string { return filepath.Join(logs, p.name()+".txt") }

func (b *board) keep(p *progress, text string) {
	if p.log == nil {
		return
	}
	if _, err := io.WriteString(p.log, text); err != nil {
		b.errs = append(b.errs, fmt.Errorf("write the log of %s: %w", p.target, err))
		p.log = nil
	}
}

func (b *board) passed(p *progress, k testKey, seconds float64) {
	out := p.output[k]
	delete(p.output, k)
	delete(p.running, k)
	p.count(k, seconds)
	if k.test != "" {
		p.passed++
		if seconds >= long {
			b.print(p, "ok", fmt.Sprintf("%s %s %.0fs", short(k.pkg), k.test, seconds))
		}
		return
	}
	p.packages++
	cached := ""
	if strings.Contains(strings.Join(out, ""), "(cached)") {
		cached = ", cached"
	}
	b.print(p, "ok", fmt.Sprintf("%s %.1fs%s", short(k.pkg), seconds, cached))
}

// count keeps the longest tests.
func (p *progress) count(k testKey, seconds float64) {
	if k.test == "" {
		return
	}
	p.longest = append(p.longest, timed{k, seconds})
	slices.SortStableFunc(p.longest, func(x, y timed) int { return int(y.seconds*1000) - int(x.seconds*1000) })
	p.longest = p.longest[:min(len(p.longest), 2*named)]
}

// failedTest prints a test that failed. Its parents fail as well, and add nothing, like a package of which a
// test failed.
func (b *board) failedTest(p *progress, k testKey, e event) {
	delete(p.running, k)
	p.count(k, e.Elapsed)
	within := func(f testKey) bool {
		return f.pkg == k.pkg && (k.test == "" || strings.HasPrefix(f.test, k.test+"/"))
	}
	repeats := slices.ContainsFunc(p.failures, within)
	if repeats && k.test != "" {
		delete(p.output, k)
		return
	}
	text := p.output[k]
	if k.test == "" {
		if repeats {
			return
		}
		text = append(p.output[testKey{e.FailedBuild, ""}], p.unfinished(k.pkg)...)
	}
	delete(p.output, k)
	p.failures = append(p.failures, k)
	b.fail(p, strings.TrimSpace(short(k.pkg)+" "+k.test), text, p.alone(k))
}

// unfinished is what a package, and its tests that have not ended, printed: one of them ended all.
func (p *progress) unfinished(pkg string) []string {
	var text []string
	for _, k := range slices.SortedFunc(maps.Keys(p.output), func(x, y testKey) int { return strings.Compare(x.test, y.test) }) {
		if k.pkg == pkg {
			text = append(text, p.output[k]...)
		}
	}
	return text
}

// fail prints a failure in one piece, since another program may print to the same place.
func (b *board) fail(p *progress, what string, text []string, command string) {
	all := strings.TrimRight(strings.Join(text, ""), "\n")
	lines := slices.DeleteFunc(strings.Split(all, "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "=== ") })
	var block strings.Builder
	if left := len(lines) - atMost; left > 0 {
		fmt.Fprintf(&block, "    (%d lines before these are in %s)\n", left, p.logFile())
		lines = lines[left:]
	}
	for _, line := range lines {
		fmt.Fprintf(&block, "    %s\n", line)
	}
	b.print(p, "FAILED", fmt.Sprintf("%s\n%s    alone: %s", what, block.String(), command))
}

func short(pkg string) string { return strings.TrimPrefix(pkg, module) }

func (b *board) print(p *progress, what, more string) {
	b.last = b.clock.Now()
	fmt.Fprintln(b.out, strings.TrimRight(fmt.Sprintf("%s %-12s %-6s %s", b.time(), p.name(), what, more), " "))
}

func (b *board) time() string {
	seconds := int(b.clock.Since(b.begin).Seconds())
	return fmt.Sprintf("%3d:%02d", seconds/60, seconds%60)
}

// tick prints what runs, when nothing was printed for a while.
func (b *board) tick() {
	if b.clock.Since(b.last) < every-time.Second {
		return
	}
	for _, p := range b.parts {
		if p.begin.IsZero() || !p.end.IsZero() {
			continue
		}
		b.print(p, "runs", fmt.Sprintf("%d tests and %d packages passed%s%s", p.passed, p.packages, p.failedSoFar(), p.now(b.clock.Now())))
	}
}

func (p *progress) failedSoFar() string {
	if len(p.failures) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d failed", len(p.failures))
}

// now names the tests that run for the longest time, without those that only wait for their subtests.
func (p *progress) now(at time.Time) string {
	var all []timed
	for k, begin := range p.running {
		parent := func(other testKey) bool { return other.pkg == k.pkg && strings.HasPrefix(other.test, k.test+"/") }
		if k.test != "" && !slices.ContainsFunc(slices.Collect(maps.Keys(p.running)), parent) {
			all = append(all, timed{k, at.Sub(begin).Seconds()})
		}
	}
	slices.SortFunc(all, func(x, y timed) int { return int(y.seconds*1000) - int(x.seconds*1000) })
	text := ""
	for i, t := range all {
		if i == named {
			return text + fmt.Sprintf(", and %d more", len(all)-named)
		}
		text += fmt.Sprintf(", %s for %.0fs", t.test, t.seconds)
	}
	return text
}

func (b *board) failed() bool {
	return slices.ContainsFunc(b.parts, func(p *progress) bool { return p.err != nil || len(p.failures) > 0 })
}

// summary prints all parts, and their longest tests, and again how to run alone what failed.
func (b *board) summary() {
	fmt.Fprintln(b.out)
	for _, p := range b.parts {
		state := "passed"
		if p.err != nil || len(p.failures) > 0 {
			state = "FAILED"
		}
		fmt.Fprintf(b.out, "%-12s %s in %.0fs, %d tests\n", p.name(), state, p.end.Sub(p.begin).Seconds(), p.passed)
		for _, t := range p.longest {
			if t.seconds >= long {
				fmt.Fprintf(b.out, "    %4.0fs %s %s\n", t.seconds, short(t.pkg), t.test)
			}
		}
		for _, k := range p.failures {
			fmt.Fprintf(b.out, "    FAILED %s %s\n           alone: %s\n", short(k.pkg), k.test, p.alone(k))
		}
	}
}
