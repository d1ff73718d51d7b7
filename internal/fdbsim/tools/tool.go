package tools

import (
	"context"
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// FileSystem is the files that a tool sees.
type FileSystem = client.FileSystem

// Tool is one run of a command-line tool.
type Tool struct {
	// Name is the tool without its directory: fdbcli, fdbserver.
	Name string
	// Version is the full version of the binary.
	Version string
	// Host is the IP that servers see the tool come from. Default 127.0.0.1.
	Host string
	// Args are the arguments without argv[0].
	Args   []string
	Env    map[string]string
	Files  FileSystem
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Waits is called when a session begins to wait for input without an open transaction, and what it returns
	// when the session goes on. Nil is called for nothing.
	Waits func() (goesOn func())
}

// The exit codes of the tools.
const (
	exitOK       = 0
	exitFailed   = 1
	exitCrashed  = 139
	exitAborted  = 134
	exitNotFound = 127
)

// Run runs a tool to its end and returns its exit code. When ctx ends first
// the tool is killed (137), and what it had buffered is lost.
func Run(ctx context.Context, w *model.Simulation, t Tool) (exit int) {
	if t.Stdout == nil {
		t.Stdout = io.Discard
	}
	if t.Stderr == nil {
		t.Stderr = io.Discard
	}
	switch t.Name {
	case "fdbcli":
		return runCLI(ctx, w, t)
	case "fdbserver":
		return serverTool(t)
	case "fdbbackup":
		return runBackupTool(ctx, w, t, backupMain)
	case "fdbrestore":
		return runBackupTool(ctx, w, t, restoreMain)
	case "backup_agent":
		return runAgent(ctx, w, t)
	case "fdbdr", "dr_agent":
		fmt.Fprintf(t.Stderr, "ERROR: %s is not part of the simulated FoundationDB\n", t.Name)
		return exitFailed
	default:
		fmt.Fprintf(t.Stderr, "ERROR: no such tool: %s\n", t.Name)
		return exitNotFound
	}
}

// serverTool prints what fdbserver prints without becoming a server.
func serverTool(t Tool) int {
	if len(t.Args) == 1 && (t.Args[0] == "--version" || t.Args[0] == "-v") {
		fmt.Fprint(t.Stdout, versionText("FoundationDB", t.Version))
		return exitOK
	}
	fmt.Fprintln(t.Stderr, "ERROR: servers of the simulated FoundationDB are started by Simulation, not as a tool")
	return exitFailed
}
