package model

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// Agent is one backup_agent.
type Agent struct {
	// Locate finds the agent's database, nil while there is none.
	Locate func() *Database
	// Files and env are what it reaches stores with.
	Files store.Files
	Env   map[string]string
	db    *Database // nil until it has found its database
	ended bool
}

// agentJoin is from the start of an agent to its first look for work.
const agentJoin = 100 * time.Millisecond

// AddAgent starts an agent.
func (w *Simulation) AddAgent(a *Agent) {
	w.Agents = append(w.Agents, a)
	w.After(agentJoin, func() { w.joinAgent(a) })
}

// RemoveAgent ends an agent.
func (w *Simulation) RemoveAgent(a *Agent) {
	a.ended = true
	w.Agents = slices.DeleteFunc(w.Agents, func(o *Agent) bool { return o == a })
	if a.db != nil {
		a.db.Backups.reported = w.Now
	}
}

// reportLife is how long the status document keeps what the last agent reported, after that agent has ended. A report is
// valid for 120 s and is renewed every 40 s (FoundationDB's fdbbackup/backup.actor.cpp): 80 to 120 s remain of it.
const reportLife = 100 * time.Second

// Reporting are the agents that report what backups do, paused ones too. Without any there may still be what the last one
// reported.
func (db *Database) Reporting() (agents int, reported bool) {
	for _, a := range db.Simulation.Agents {
		if a.db == db {
			agents++
		}
	}
	last := db.Backups.reported
	return agents, agents > 0 || !last.IsZero() && db.Simulation.Now.Sub(last) < reportLife
}

// joinAgent has an agent find its database, or try again later.
func (w *Simulation) joinAgent(a *Agent) {
	if a.ended {
		return
	}
	if a.db = a.Locate(); a.db == nil || !a.db.Available() {
		w.After(time.Second, func() { w.joinAgent(a) })
		return
	}
	a.db.wakeBackups()
}

// Agents are the agents that work for the database now. Paused ones do not
// even answer.
func (db *Database) Agents() []*Agent {
	if db.Backups.Paused {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(db.Simulation.Agents), func(a *Agent) bool { return a.db != db })
}
