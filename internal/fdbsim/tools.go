package fdbsim

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/tools"
)

// RunTool runs a tool to its end and returns its exit code. When ctx ends first
// the tool is killed (137), and what it had buffered is lost.
func (w *World) RunTool(ctx context.Context, t Tool) (exit int) { return tools.Run(ctx, w.inner, t) }

// RunCommand runs an argument vector as a container would: env and timeout in
// front of a tool do what they do there, the latter on the model's clock, and a
// shell runs the arguments of its script. Name and Args of t are taken from argv.
func (w *World) RunCommand(ctx context.Context, argv []string, t Tool) (exit int) {
	return tools.RunCommandLine(ctx, w.inner, argv, t)
}

// StartBackupAgent starts a backup_agent. It exits at once, with a code other
// than zero, when its command line or cluster file is wrong.
func (w *World) StartBackupAgent(t Tool) (running *Agent, exit int) {
	return tools.StartAgent(w.inner, t)
}
