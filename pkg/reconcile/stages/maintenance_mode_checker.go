package stages

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// maintenanceModeChecker ends the maintenance of a zone once every storage process that
// was noted to restart during it has done so, whichever instance noted it.
//
// The operator ends any maintenance that no note is left of, one that a person began
// included, and takes every note for its own where its IDs have no prefix. Here only
// maintenance is ended that a note was written for; notes of other zones just go. The notes
// go after the maintenance: a run that dies in between leaves notes that the next one
// removes, not a zone that nobody watches.
var maintenanceModeChecker = plan.Stage{
	Name:  plan.StageMaintenanceModeChecker,
	Reads: plan.Record | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.ResetMaintenanceMode() || !s.Cluster.Status.Configured {
			return plan.Decision{}
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "whether maintenance is over is not known", Detail: available.Evidence, RetryAfter: podDelay}}
		}
		if !s.Coordination.Read {
			return plan.Wait(podDelay, plan.HoldNotesUnread, "the notes of what restarts during maintenance could not be read")
		}
		return endOfMaintenance(s, sortNotes(s))
	},
}

// How long notes mean something. A process of another zone than the one under
// maintenance may have been noted for a zone that comes next; a process that never
// comes back is not waited for. Source: the operator's flags
// maintenance-list-wait-duration and maintenance-list-stale-duration.
const (
	noteOfNextZoneFor = 5 * time.Minute
	noteStaleAfter    = 4 * time.Hour
)

// notes are what is left of the restarts that were noted.
type notes struct {
	over    []v1beta2.ProcessGroupID // restarted, or never coming back
	pending []string                 // still to restart, in words
	// ofZone is whether any that is over was written for the zone under maintenance.
	ofZone bool
}

func sortNotes(s plan.Snapshot) notes {
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

// fate is what became of a process group that was to restart.
type fate int

const (
	restarted fate = iota // or never coming back
	awaited
	elsewhere // in another zone, and nothing to wait for
)

func judgeNote(s plan.Snapshot, id v1beta2.ProcessGroupID, since time.Time) fate {
	age := s.Now.Sub(since)
	processes := reportingStorage(s.Database.Status, id)
	switch {
	case len(processes) == 0 && (age > noteStaleAfter || isOursAndGone(s, id)):
		return restarted
	case len(processes) == 0:
		return awaited
	case !slices.ContainsFunc(processes, func(p fdb.Process) bool { return !startedAfter(s, p, since) }):
		return restarted
	case processes[0].Zone() == maintenanceZone(s), age < noteOfNextZoneFor:
		return awaited
	case age > noteStaleAfter:
		return restarted
	default:
		return elsewhere
	}
}

// noteSlack is how far apart a note and the begin of its maintenance may be: the note is
// written first, and the database counts the time that is left by its own versions.
const noteSlack = time.Minute

// isForMaintenance reports whether a note was written for the maintenance there is now: its
// process is in the zone, or came back in another one after maintenance of the spec's length
// began with the note. A note that tells neither may be left from another zone's.
func isForMaintenance(s plan.Snapshot, id v1beta2.ProcessGroupID, since time.Time) bool {
	current := s.Database.Status.Maintenance()
	if zoneOfNote(s, id) == current.Zone {
		return true
	}
	begun := s.Database.AsOf.Add(current.Remaining - s.Cluster.MaintenanceModeTime())
	return current.Remaining > 0 && begun.Sub(since).Abs() <= noteSlack
}

// zoneOfNote is where a process reports from, or did when it was last seen; empty when
// nobody knows.
func zoneOfNote(s plan.Snapshot, id v1beta2.ProcessGroupID) string {
	if processes := reportingStorage(s.Database.Status, id); len(processes) > 0 {
		return processes[0].Zone()
	}
	if g := s.Cluster.ProcessGroup(id); g != nil {
		return string(g.FaultDomain)
	}
	return ""
}

func reportingStorage(status *fdb.Status, id v1beta2.ProcessGroupID) []fdb.Process {
	return slices.DeleteFunc(status.ProcessesOf(string(id)), func(p fdb.Process) bool {
		return !p.Reporting() || !v1beta2.ProcessClass(p.ClassType).IsAffectedByMaintenance()
	})
}

// startedAfter reports whether a process is younger than a note. One that does not tell
// its age counts as old.
func startedAfter(s plan.Snapshot, p fdb.Process, since time.Time) bool {
	uptime, known := p.Uptime()
	return known && s.Database.AsOf.Add(-uptime).After(since)
}

// isOursAndGone reports whether a process group is ours by its ID and exists no more.
func isOursAndGone(s plan.Snapshot, id v1beta2.ProcessGroupID) bool {
	prefix, _, _, err := id.Split()
	return err == nil && prefix == s.Cluster.Spec.ProcessGroupIDPrefix && s.Cluster.ProcessGroup(id) == nil
}

func endOfMaintenance(s plan.Snapshot, n notes) plan.Decision {
	zone := maintenanceZone(s)
	switch {
	case zone == "" && len(n.over) == 0:
		return plan.Decision{}
	case zone == "":
		return plan.Decision{Why: "no zone is under maintenance any more", Actions: []plan.Action{plan.ForgetMaintenance{Groups: n.over}}}
	case len(n.pending) > 0:
		return plan.Wait(podDelay, plan.HoldRestartsPending, fmt.Sprintf("zone %s stays under maintenance until these have restarted: %s", zone, someOf(n.pending)))
	case len(n.over) == 0:
		return plan.Decision{} // somebody else's maintenance
	case !n.ofZone:
		return plan.Decision{Why: "they were written for other maintenance than that of zone " + zone, Actions: []plan.Action{plan.ForgetMaintenance{Groups: n.over}}}
	}
	d := plan.Decision{Checks: []plan.Check{safety.Unlocked(s.Database), safety.FewGenerations(s.Database), safety.LoadWithinLimits(s.Database)}}
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("all processes of zone %s have restarted, but its maintenance does not end yet", zone), Detail: refused.Words(), RetryAfter: podDelay}
		return d
	}
	d.Why = "all storage processes that were to restart during it have done so"
	d.Actions = []plan.Action{plan.EndMaintenance{Zone: zone}, plan.ForgetMaintenance{Groups: n.over}}
	return d
}
