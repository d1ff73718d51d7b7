package cluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// MaintenanceModeChecker ends the maintenance of a zone once every storage process that was
// noted to restart during it has done so, whichever control-plane instance noted it.
//
// The operator ends any maintenance without remaining notes, including one that a user began,
// and takes every note for its own where its IDs have no prefix. Here only maintenance with a
// note written for it is ended; notes of other zones are just removed. Notes are removed after
// the maintenance ends: a run that dies in between leaves notes that the next one removes, not
// a zone that stays under maintenance.
var MaintenanceModeChecker = plan.Stage{
	Name:  plan.StageMaintenanceModeChecker,
	Reads: plan.ClusterResource | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.ResetMaintenanceMode() || !s.Cluster.Status.Configured {
			return plan.Decision{}
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "cannot determine whether maintenance is over", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
		}
		if !s.Coordination.Read {
			return plan.Wait(plan.PodDelay, plan.HoldNotesUnread, "the notes of restarts during maintenance could not be read")
		}
		return endOfMaintenance(s, classifyNotes(s))
	},
}

// How long notes are valid. A process of another zone than the one under maintenance may have
// been noted for the next zone; a process that never reports again is not waited for. Source:
// the operator's flags maintenance-list-wait-duration and maintenance-list-stale-duration.
const (
	noteOfNextZoneFor = 5 * time.Minute
	noteStaleAfter    = 4 * time.Hour
)

// notes are the noted restarts, classified.
type notes struct {
	over    []v1beta2.ProcessGroupID // restarted, or removed
	pending []string                 // still to restart
	// ofZone is whether any of over was written for the zone under maintenance.
	ofZone bool
}

func classifyNotes(s plan.Snapshot) notes {
	var n notes
	for _, id := range slices.Sorted(maps.Keys(s.Coordination.Maintenance)) {
		since := s.Coordination.Maintenance[id]
		switch judgeNote(s, id, since) {
		case restarted:
			n.over = append(n.over, id)
			n.ofZone = n.ofZone || isForMaintenance(s, id, since)
		case awaited:
			n.pending = append(n.pending, string(id))
		case elsewhere:
		}
	}
	return n
}

// noteState is the state of a process group that was noted to restart.
type noteState int

const (
	restarted noteState = iota // or never reporting again
	awaited
	elsewhere // in another zone, and not waited for
)

func judgeNote(s plan.Snapshot, id v1beta2.ProcessGroupID, since time.Time) noteState {
	age := s.Now.Sub(since)
	processes := ReportingStorage(s.Database.Status, id)
	zone, _ := MaintenanceZone(s)
	switch {
	case len(processes) == 0 && (age > noteStaleAfter || readings.IsOwnAndRemoved(s, id)):
		return restarted
	case len(processes) == 0:
		return awaited
	case !slices.ContainsFunc(processes, func(p fdb.Process) bool { return !startedAfter(s, p, since) }):
		return restarted
	case processes[0].Zone() == zone, age < noteOfNextZoneFor:
		return awaited
	case age > noteStaleAfter:
		return restarted
	default:
		return elsewhere
	}
}

// noteSlack is the maximum difference between a note and the beginning of its maintenance: the
// note is written first, and the database measures the remaining time by its own versions.
const noteSlack = time.Minute

// isForMaintenance reports whether a note was written for the present maintenance: its process
// is in the zone, or reports from another one after maintenance of the spec's length began with
// the note. Any other note may be left from another zone's maintenance.
func isForMaintenance(s plan.Snapshot, id v1beta2.ProcessGroupID, since time.Time) bool {
	current, _ := s.Database.Status.Maintenance()
	if zoneOfNote(s, id) == current.Zone {
		return true
	}
	begun := s.Database.AsOf.Add(current.Remaining - s.Cluster.MaintenanceModeTime())
	return current.Remaining > 0 && begun.Sub(since).Abs() <= noteSlack
}

// zoneOfNote returns the zone that a process reports, or last reported; empty if unknown.
func zoneOfNote(s plan.Snapshot, id v1beta2.ProcessGroupID) string {
	if processes := ReportingStorage(s.Database.Status, id); len(processes) > 0 {
		return processes[0].Zone()
	}
	if g := s.Cluster.ProcessGroup(id); g != nil {
		return string(g.FaultDomain)
	}
	return ""
}

// ReportingStorage returns the processes of a group that report and are affected by maintenance mode.
func ReportingStorage(status *fdb.Status, id v1beta2.ProcessGroupID) []fdb.Process {
	return slices.DeleteFunc(status.ProcessesOf(string(id)), func(p fdb.Process) bool {
		return !p.Reporting() || !v1beta2.ProcessClass(p.ClassType).IsAffectedByMaintenance()
	})
}

// startedAfter reports whether a process is younger than a note. One that does not report its
// age counts as old.
func startedAfter(s plan.Snapshot, p fdb.Process, since time.Time) bool {
	uptime, known := p.Uptime()
	return known && s.Database.AsOf.Add(-uptime).After(since)
}

func endOfMaintenance(s plan.Snapshot, n notes) plan.Decision {
	zone, unread := MaintenanceZone(s)
	switch {
	case len(n.over)+len(n.pending) > 0 && unread:
		known := safety.MaintenanceKnown(s.Database)
		return plan.Decision{Checks: []plan.Check{known}, Hold: &plan.Hold{Code: plan.HoldCheckRefused, Reason: "cannot determine whether maintenance is over", Detail: known.Evidence, RetryAfter: plan.PodDelay}}
	case zone == "" && len(n.over) == 0:
		return plan.Decision{}
	case zone == "":
		return plan.Decision{Why: "no zone is under maintenance", Actions: []plan.Action{plan.ForgetMaintenance{Groups: n.over}}}
	case len(n.pending) > 0:
		return plan.Wait(plan.PodDelay, plan.HoldRestartsPending, fmt.Sprintf("zone %s stays under maintenance until these process groups have restarted: %s", zone, readings.SomeOf(n.pending)))
	case len(n.over) == 0:
		return plan.Decision{} // maintenance that no note is for
	case !n.ofZone:
		return plan.Decision{Why: "the notes are not for the maintenance of zone " + zone, Actions: []plan.Action{plan.ForgetMaintenance{Groups: n.over}}}
	}
	d := plan.Decision{Checks: []plan.Check{safety.Unlocked(s.Database), safety.FewGenerations(s.Database), safety.LoadWithinLimits(s.Database)}}
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("all processes of zone %s have restarted; the end of its maintenance waits", zone), Detail: refused.Evidence, RetryAfter: plan.PodDelay}
		return d
	}
	d.Why = "all storage processes noted to restart during it have restarted"
	d.Actions = []plan.Action{plan.EndMaintenance{Zone: zone}, plan.ForgetMaintenance{Groups: n.over}}
	return d
}
