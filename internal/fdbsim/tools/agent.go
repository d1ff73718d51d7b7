package tools

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// Agent is a running backup_agent.
type Agent struct {
	w *model.Simulation
	a *model.Agent
}

// StartAgent starts a backup_agent. It exits at once, with a code other than
// zero, when its command line or cluster file is wrong.
func StartAgent(w *model.Simulation, t Tool) (running *Agent, exit int) {
	c, exit := newBackupTool(context.Background(), w, t)
	if c == nil {
		return nil, exit
	}
	w.Lock()
	defer w.Unlock()
	exit, done := c.prepareAgent()
	if done {
		c.finish()
		return nil, exit
	}
	a := &model.Agent{Locate: c.Locate, Files: c.Files, Env: c.tool.Env}
	w.AddAgent(a)
	return &Agent{w, a}, exitOK
}

// Stop ends the agent.
func (h *Agent) Stop() {
	h.w.Lock()
	defer h.w.Unlock()
	h.w.RemoveAgent(h.a)
}

// runAgent is backup_agent as a process: it runs until it is killed.
func runAgent(ctx context.Context, w *model.Simulation, t Tool) int {
	running, exit := StartAgent(w, t) //nolint:contextcheck // an agent lives until it is stopped
	if running == nil {
		return exit
	}
	<-ctx.Done()
	running.Stop()
	return model.ExitKilled
}

// prepareAgent reads the command line and the cluster file of an agent.
func (c *backupTool) prepareAgent() (exit int, done bool) {
	if code, done := c.parse(agentOptions); done {
		return code, true
	}
	if !c.readClusterFile() {
		return exitFailed, true
	}
	return c.checkTLS()
}
