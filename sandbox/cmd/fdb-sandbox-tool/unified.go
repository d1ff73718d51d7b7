package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/process"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/unified"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
)

// unifiedMonitor is the program of the unified image.
func unifiedMonitor(args []string) (int, error) {
	version, err := os.ReadFile(unified.VersionFile)
	if err != nil {
		return 1, fmt.Errorf("read the image's version: %w", err)
	}
	o, err := unified.ParseOptions(args, strings.TrimSpace(string(version)), wire.Environment(os.Environ()))
	if err != nil {
		return 2, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	out, err := logTo(o.LogPath)
	if err != nil {
		return 1, err
	}
	switch o.Mode {
	case unified.Init:
		return 0, unified.Copy(o)
	case unified.Sidecar:
		if err := unified.Copy(o); err != nil {
			return 1, err
		}
		<-ctx.Done()
		return 0, nil
	case unified.Launcher:
		return launcher(ctx, o, out)
	}
	return 2, fmt.Errorf("unknown mode %q", o.Mode)
}

// launcher runs the container's servers until it is signaled to end.
func launcher(ctx context.Context, o unified.Options, out io.Writer) (int, error) {
	pod, err := wire.WatchPod(ctx)
	if err != nil {
		return 1, err
	}
	defer func() { _ = pod.Close() }()
	facts := make(chan unified.Facts)
	go func() {
		defer close(facts)
		for f := range pod.Facts() {
			facts <- unified.Facts{Annotations: f.Annotations, NodeLabels: f.NodeLabels}
		}
	}()
	return 0, unified.RunLauncher(ctx, o, ownPod{pod, facts}, process.Starter(os.Environ(), os.Stdout, os.Stderr), clock.RealClock{}, out)
}

// ownPod is the container's pod as the sandbox reports it.
type ownPod struct {
	*wire.Pod
	facts <-chan unified.Facts
}

func (p ownPod) Facts() <-chan unified.Facts { return p.facts }

// logTo is standard output and, when a file is named, that file.
func logTo(file string) (io.Writer, error) {
	if file == "" {
		return os.Stdout, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return io.MultiWriter(os.Stdout, f), nil
}
