package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/process"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/split"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/images"
)

// splitSidecar is the program of the split sidecar image.
func splitSidecar(args []string) (int, error) {
	version, err := images.StampedVersion("/proc/self/exe")
	if err != nil {
		return 1, err
	}
	address, err := os.ReadFile(filepath.Join(box.RunDir, box.AddressFile))
	if err != nil {
		return 1, fmt.Errorf("read the pod's address: %w", err)
	}
	s, err := split.ParseSidecar(args, version, strings.TrimSpace(string(address)), wire.Environment(os.Environ()))
	if err != nil {
		return 2, err
	}
	if err := s.CopyAll(); err != nil {
		return 1, err
	}
	if s.InitMode {
		return 0, nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return 0, s.Serve(ctx)
}

// fdbmonitor is the monitor of the split main image.
func fdbmonitor(args []string) (int, error) {
	m, err := split.ParseMonitor(args)
	if err != nil {
		return 2, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return 0, m.Run(ctx, process.Starter(os.Environ(), os.Stdout, os.Stderr), clock.RealClock{}, os.Stdout)
}
