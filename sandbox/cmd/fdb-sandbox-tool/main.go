// Command fdb-sandbox-tool is what runs inside a sandbox's containers. Its name
// decides what it is: the init process of a container, one of the images' own
// programs, or a FoundationDB program, which the sandbox simulates. It is not
// meant to be started manually.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/images"
)

func main() {
	code, err := run(filepath.Base(os.Args[0]))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(name string) (int, error) {
	switch name {
	case box.HelperName:
		return 0, box.Main()
	case images.Idle:
		idle()
		return 0, nil
	case "fdb-kubernetes-monitor":
		return unifiedMonitor(os.Args[1:])
	case "foundationdb-kubernetes-sidecar":
		return splitSidecar(os.Args[1:])
	case "fdbmonitor":
		return fdbmonitor(os.Args[1:])
	}
	return simulated(name)
}

// idle waits until it is signaled to end.
func idle() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	<-ctx.Done()
}

// simulated makes the sandbox run a simulated FoundationDB program instead of this one.
func simulated(name string) (int, error) {
	version, err := images.StampedVersion("/proc/self/exe")
	if err != nil {
		return 1, fmt.Errorf("%s runs only in a container of a sandbox: %w", name, err)
	}
	r := wire.Run{Version: version, Argv: os.Args, Env: wire.Environment(os.Environ())}
	return wire.RunProgram(context.Background(), r, wire.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
