package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// verdict is what became of a mutant.
type verdict string

// The verdicts. Those that do not compile are not counted.
const (
	killed      verdict = "killed"
	survived    verdict = "SURVIVED"
	notCompiled verdict = "not compiled"
)

// trial is a mutant and what became of it.
type trial struct {
	mutation
	verdict verdict
	by      string // the package whose tests killed it
}

// runner compiles and tests mutants. The working tree is never written to: the compiler
// reads a mutated file in place of the real one by its -overlay flag.
type runner struct {
	root, dir string
	own       bool // ask only the tests of the mutated package
	clock     clock.Clock
	mu        sync.Mutex
	limits    map[string]time.Duration
}

func newRunner(root string, own bool) (*runner, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	return &runner{root: absolute, dir: dir, own: own, clock: clock.RealClock{}, limits: map[string]time.Duration{}}, nil
}

func (l *runner) close() { _ = os.RemoveAll(l.dir) }

// tryAll tries mutants in their order until as many as the options ask for were counted.
func (l *runner) tryAll(ctx context.Context, candidates []mutation, o options, out io.Writer) (report, error) {
	var r report
	for batch := range slices.Chunk(candidates, o.workers) {
		tried, err := l.tryBatch(ctx, batch)
		if err != nil {
			return r, err
		}
		for _, s := range tried {
			if r.counted() == o.n {
				break
			}
			r.add(s)
			fmt.Fprintln(out, r.line(s))
		}
		if r.counted() == o.n {
			break
		}
	}
	return r, nil
}

// tryBatch tries mutants side by side.
func (l *runner) tryBatch(ctx context.Context, batch []mutation) ([]trial, error) {
	tried, errs := make([]trial, len(batch)), make([]error, len(batch))
	var wg sync.WaitGroup
	for i, m := range batch {
		wg.Go(func() { tried[i], errs[i] = l.try(ctx, m) })
	}
	wg.Wait()
	return tried, errors.Join(errs...)
}

// try asks the tests of the mutated package first, and then those of the packages that are
// built on it.
func (l *runner) try(ctx context.Context, m mutation) (trial, error) {
	dir, err := os.MkdirTemp(l.dir, "")
	if err != nil {
		return trial{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := l.overlay(dir, m)
	if err != nil {
		return trial{}, err
	}
	for _, suite := range l.suitesFor(m) {
		limit, err := l.limit(ctx, suite)
		if err != nil {
			return trial{}, err
		}
		binary := filepath.Join(dir, "test")
		switch built, err := l.build(ctx, suite, binary, "-overlay", overlay); {
		case err != nil:
			return trial{}, err
		case !built:
			return trial{mutation: m, verdict: notCompiled}, nil
		}
		passed, err := l.pass(ctx, suite, binary, limit)
		if err != nil {
			return trial{}, err
		}
		if !passed {
			return trial{mutation: m, verdict: killed, by: suite}, nil
		}
	}
	return trial{mutation: m, verdict: survived}, nil
}

// suitesFor returns the packages whose tests run for a mutant.
func (l *runner) suitesFor(m mutation) []string {
	first := slices.Index(suites, m.pkg)
	if l.own {
		return suites[first : first+1]
	}
	return suites[first:]
}

// overlay writes the mutated file and the description that the compiler reads.
func (l *runner) overlay(dir string, m mutation) (string, error) {
	original := filepath.Join(l.root, m.file)
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	mutated, description := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(mutated, m.apply(source), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	return description, os.WriteFile(description, text, 0o600)
}

// limit is how long the tests of a package may take: several times as long as they take
// without a mutant, which they have to pass.
func (l *runner) limit(ctx context.Context, suite string) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit, ok := l.limits[suite]; ok {
		return limit, nil
	}
	binary := filepath.Join(l.dir, "unmutated")
	if built, err := l.build(ctx, suite, binary); err != nil || !built {
		return 0, errors.Join(fmt.Errorf("the tests of %s did not compile", suite), err)
	}
	begin := l.clock.Now()
	if passed, err := l.pass(ctx, suite, binary, time.Hour); err != nil || !passed {
		return 0, errors.Join(fmt.Errorf("the tests of %s fail without a mutant", suite), err)
	}
	l.limits[suite] = 5*l.clock.Since(begin) + 30*time.Second
	return l.limits[suite], nil
}

func (l *runner) build(ctx context.Context, suite, binary string, flags ...string) (bool, error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+suite)...)
	cmd.Dir = l.root
	return succeeded(ctx, cmd)
}

// pass reports whether the tests of a package pass. Those that do not end fail.
func (l *runner) pass(ctx context.Context, suite, binary string, limit time.Duration) (bool, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.failfast", "-test.short", "-test.timeout", limit.String())
	cmd.Dir = filepath.Join(l.root, suite)
	cmd.Env = append(os.Environ(), "GOGC=400")
	return succeeded(ctx, cmd)
}

// succeeded distinguishes a program that failed from one that could not be
// run.
func succeeded(ctx context.Context, cmd *exec.Cmd) (bool, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return false, nil
	}
	return err == nil, err
}
