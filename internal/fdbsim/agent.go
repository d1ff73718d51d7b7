package fdbsim

import (
	"context"
	"slices"
	"time"
)

// agent is one backup_agent.
type agent struct {
	w     *World
	tool  *cli
	db    *database // nil until it has found its database
	ended bool
}

// Agent is a running backup_agent.
type Agent struct{ a *agent }

// agentJoin is from the start of an agent to its first look for work.
const agentJoin = 100 * time.Millisecond

// StartBackupAgent starts a backup_agent. It exits at once, with a code other
// than zero, when its command line or cluster file is wrong.
func (w *World) StartBackupAgent(t Tool) (running *Agent, exit int) {
	c, exit := newBackupTool(context.Background(), w, t)
	if c == nil {
		return nil, exit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	exit, done := c.prepareAgent()
	if done {
		c.finish()
		return nil, exit
	}
	a := &agent{w: w, tool: c.cli}
	w.agents = append(w.agents, a)
	w.after(agentJoin, a.join)
	return &Agent{a}, exitOK
}

// Stop ends the agent.
func (h *Agent) Stop() {
	h.a.w.mu.Lock()
	defer h.a.w.mu.Unlock()
	h.a.ended = true
	h.a.w.agents = slices.DeleteFunc(h.a.w.agents, func(a *agent) bool { return a == h.a })
}

// join finds the database, or tries again later.
func (a *agent) join() {
	if a.ended {
		return
	}
	if a.db = a.tool.locate(); a.db == nil || !a.db.available() {
		a.w.after(time.Second, a.join)
		return
	}
	a.db.wakeBackups()
}

// agents are the agents that work for the database now. Paused ones do not
// even answer.
func (db *database) agents() []*agent {
	if db.backups.paused {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(db.w.agents), func(a *agent) bool { return a.db != db })
}

// runAgent is backup_agent as a process: it runs until it is killed.
func (w *World) runAgent(ctx context.Context, t Tool) int {
	running, exit := w.StartBackupAgent(t) //nolint:contextcheck // an agent lives until it is stopped
	if running == nil {
		return exit
	}
	<-ctx.Done()
	running.Stop()
	return exitKilled
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
