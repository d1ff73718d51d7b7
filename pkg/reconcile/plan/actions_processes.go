package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// RestartProcesses ends processes at once, so that their monitors restart them with the
// current configuration.
type RestartProcesses struct {
	Groups    []v1beta2.ProcessGroupID `json:"groups"`
	Addresses []fdb.Address            `json:"addresses"`
	// UpgradeTo is the version that the processes start in if its protocol differs from the
	// running one; empty otherwise. The announcements for it are removed before the processes
	// end: a group that is ready now may not be later.
	UpgradeTo string `json:"upgradeTo,omitempty"`
	// Announced are the process groups of all control-plane instances that restart because
	// they are listed as ready to. Their restart entries are removed before the processes end,
	// so that they are not restarted twice for the same reason: a group that was not restarted
	// when a run died is listed again. Empty in local synchronization mode.
	Announced []fdb.Member `json:"announced,omitempty"`
	// Wave is true when more waves follow while the database continues, so that no other
	// control-plane instance may stop processes before the result of this wave shows.
	Wave bool `json:"wave,omitempty"`
}

// Describe implements Action.
func (a RestartProcesses) Describe() string {
	if a.UpgradeTo != "" {
		return fmt.Sprintf("restart %s at once in version %s", phrase.Count(len(a.Addresses), "process"), a.UpgradeTo)
	}
	return fmt.Sprintf("restart %s of %s at once", phrase.Count(len(a.Addresses), "process"), phrase.Some(a.Groups, maxGroups))
}

// Subject implements Action.
func (a RestartProcesses) Subject() string { return phrase.List(a.Groups) }

func (a RestartProcesses) effect() Effect {
	e := Effect{Stale: Database | PodFiles | Coordination, Locked: true, Impact: ProcessRestart}
	if a.Wave {
		e.Cooldown = fdb.DeathNoticedAfter
	}
	return e
}

// maxGroups is how many process groups a description lists at most.
const maxGroups = 6

// StartMaintenance records which process groups are about to restart, and then sets
// maintenance mode for their zone, so that the database waits for them instead of moving
// their data. The entries come first: maintenance without them is ended only by a user, or
// by time.
type StartMaintenance struct {
	Zone     string                   `json:"zone"`
	Duration time.Duration            `json:"-"`
	Groups   []v1beta2.ProcessGroupID `json:"groups"`
	At       time.Time                `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a StartMaintenance) Describe() string {
	words := fmt.Sprintf("set maintenance mode of zone %s for %s", a.Zone, a.Duration)
	if len(a.Groups) == 0 {
		return words
	}
	return words + ", to restart " + phrase.List(a.Groups)
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

// EndMaintenance ends maintenance mode of a zone.
type EndMaintenance struct {
	Zone string `json:"zone"`
}

// Describe implements Action.
func (a EndMaintenance) Describe() string { return "end maintenance mode of zone " + a.Zone }

// Subject implements Action.
func (a EndMaintenance) Subject() string { return "zone " + a.Zone }

func (EndMaintenance) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: NoImpact}
}

// ForgetMaintenance removes maintenance entries of process groups that have restarted, or
// never will.
type ForgetMaintenance struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
}

// Describe implements Action.
func (a ForgetMaintenance) Describe() string {
	return "remove maintenance entries of " + a.Subject()
}

// Subject implements Action.
func (a ForgetMaintenance) Subject() string { return phrase.List(a.Groups) }

func (ForgetMaintenance) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }
