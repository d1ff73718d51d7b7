package fdbsim

import (
	"context"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/clientlib"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/tools"
)

// RunTool runs a tool to its end and returns its exit code. When ctx ends first
// the tool is killed (137), and what it had buffered is lost.
func (w *Simulation) RunTool(ctx context.Context, t Tool) (exit int) {
	return tools.Run(ctx, w.inner, t)
}

// RunCommand runs an argument vector as a container would: env and timeout in
// front of a tool do what they do there, the latter on the model's clock, and a
// shell runs the arguments of its script. Name and Args of t are taken from argv.
func (w *Simulation) RunCommand(ctx context.Context, argv []string, t Tool) (exit int) {
	return runCommandLine(ctx, w.inner, argv, t)
}

// StartBackupAgent starts a backup_agent. It exits at once, with a code other
// than zero, when its command line or cluster file is wrong.
func (w *Simulation) StartBackupAgent(t Tool) (running *Agent, exit int) {
	return tools.StartAgent(w.inner, t)
}

// BeginClient begins a transaction of a program that uses a version of FoundationDB's client
// library and a cluster file among files. It is canceled when ctx ends.
func (w *Simulation) BeginClient(ctx context.Context, version string, files FileSystem, clusterFile string) (*ClientTransaction, error) {
	return tools.BeginClient(ctx, w.inner, version, files, clusterFile)
}

// ServeClient serves a connection of the client library in libfdb_c, which is one
// transaction of a program that links it, until the connection or ctx ends. The simulation is
// that of the cluster file which the program names.
func ServeClient(ctx context.Context, of func(clusterFile string) *Simulation, version string, files FileSystem, connection io.ReadWriteCloser) error {
	return clientlib.Serve(ctx, func(clusterFile string) *model.Simulation { return of(clusterFile).inner }, version, files, connection)
}
