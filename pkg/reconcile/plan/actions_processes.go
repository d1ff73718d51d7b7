package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// RestartProcesses has servers end at once, so that their monitors start them anew with
// the configuration that is there now.
type RestartProcesses struct {
	Groups    []v1beta2.ProcessGroupID `json:"groups"`
	Addresses []fdb.Address            `json:"addresses"`
	// UpgradeTo is the version that the servers start in where it speaks another
	// protocol than the one that runs; empty otherwise. What instances announced for
	// it is used up before the servers end: a group that is ready now may not be later.
	UpgradeTo string `json:"upgradeTo,omitempty"`
	// Announced are the process groups of all instances that restart because they are
	// listed as ready to. Their restart entries are used up before the servers end, so
	// that nobody restarts them again for the same reason: whoever still has to restart
	// after a run that died is listed again. Empty in local synchronization mode.
	Announced []fdb.Member `json:"announced,omitempty"`
	// Wave is true when others are to follow and the database goes on meanwhile, so that
	// no other instance may take processes down before it shows what became of these.
	Wave bool `json:"wave,omitempty"`
}

// Describe implements Action.
func (a RestartProcesses) Describe() string {
	if a.UpgradeTo != "" {
		return fmt.Sprintf("restart %s at once in version %s", phrase.Count(len(a.Addresses), "process"), a.UpgradeTo)
	}
	return fmt.Sprintf("restart %s at once, of %s", phrase.Count(len(a.Addresses), "process"), phrase.Some(a.Groups, mostGroups))
}

// Subject implements Action.
func (a RestartProcesses) Subject() string { return phrase.List(a.Groups) }

func (a RestartProcesses) effect() Effect {
	e := Effect{Stale: Database | PodFiles | Coordination, Locked: true, Impact: ProcessRestart}
	if a.Wave {
		e.Quiet = fdb.DeathNoticedAfter
	}
	return e
}

// mostGroups is how many process groups a sentence lists at most.
const mostGroups = 6

// StartMaintenance notes which process groups are about to restart, and then puts their
// zone under maintenance, so that the database waits for them instead of moving their
// data. The notes come first: maintenance without them is ended by nobody but a person,
// or by time.
type StartMaintenance struct {
	Zone     string                   `json:"zone"`
	Duration time.Duration            `json:"-"`
	Groups   []v1beta2.ProcessGroupID `json:"groups"`
	At       time.Time                `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a StartMaintenance) Describe() string {
	words := fmt.Sprintf("put zone %s under maintenance for %s", a.Zone, a.Duration)
	if len(a.Groups) == 0 {
		return words
	}
	return words + ", for " + phrase.List(a.Groups)
}

// Subject implements Action.
func (a StartMaintenance) Subject() string {
	if len(a.Groups) == 0 {
		return "zone " + a.Zone
	}
	return phrase.List(a.Groups)
}

func (StartMaintenance) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: NoImpact}
}

// EndMaintenance ends the maintenance of a zone.
type EndMaintenance struct {
	Zone string `json:"zone"`
}

// Describe implements Action.
func (a EndMaintenance) Describe() string { return "end the maintenance of zone " + a.Zone }

// Subject implements Action.
func (a EndMaintenance) Subject() string { return "zone " + a.Zone }

func (EndMaintenance) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: NoImpact}
}

// ForgetMaintenance removes notes of process groups that were to restart during
// maintenance and have, or never will.
type ForgetMaintenance struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
}

// Describe implements Action.
func (a ForgetMaintenance) Describe() string {
	return "remove the notes that these restart during maintenance: " + strings.ReplaceAll(a.Subject(), ", ", " ")
}

// Subject implements Action.
func (a ForgetMaintenance) Subject() string { return phrase.List(a.Groups) }

func (ForgetMaintenance) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }
