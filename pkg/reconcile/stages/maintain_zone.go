package stages

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// maintenanceSlack is how far the time that is left of maintenance may be from the one
// asked for without being set anew.
const maintenanceSlack = 30 * time.Second

// MaintainZone puts a zone under maintenance for a person: for so long the database waits
// for storage processes of the zone that are down, instead of copying their data. Of a
// zone that is under maintenance it sets the time anew. The rules are those by which pods
// are updated.
func MaintainZone(zone string, d time.Duration) plan.Stage {
	return plan.Stage{
		Name:  plan.StageMaintainZone,
		Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			under := maintenanceZone(s)
			if under == zone && (s.Database.Status.Maintenance().Remaining-d).Abs() <= maintenanceSlack {
				return plan.Decision{}
			}
			if under == zone && s.Cluster.ResetMaintenanceMode() && !s.Coordination.Read {
				return plan.Wait(podDelay, plan.HoldNotesUnread, "who has restarted during this maintenance is not known: the notes could not be read")
			}
			decision := plan.Decision{Checks: maintenanceChecks(s, zone)}
			if refused, ok := decision.Refused(); ok {
				decision.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("zone %s is not put under maintenance now", zone), Detail: refused.Words(), RetryAfter: podUpdateRetry}
				return decision
			}
			decision.Why = "a person asks for it"
			decision.Actions = []plan.Action{plan.StartMaintenance{Zone: zone, Duration: d, Groups: toNote(s, zone), At: s.Now}}
			return decision
		},
	}
}

// maintenanceChecks are asked before the database is told to put up with a zone that is
// down. A zone that is under maintenance already may be down by now: then setting its time
// anew keeps things as they are.
func maintenanceChecks(s plan.Snapshot, zone string) []plan.Check {
	none := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain, OK: true, Evidence: "none is"}
	under := maintenanceZone(s)
	if under != "" && under != zone {
		none.OK, none.Evidence = false, fmt.Sprintf("zone %s is, and the database would forget that without a word", under)
	}
	checks := []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database), none}
	if under == zone {
		return checks
	}
	settled, _ := safety.JustStarted(s).Elsewhere(zone)
	return append(checks, safety.FullFaultTolerance(s), settled)
}

// toNote are the storage processes of a zone, where the spec has maintenance ended by
// notes: once all that are noted have restarted, a pass ends it. Elsewhere nobody would
// ever remove the notes. Of maintenance that is only to last longer the notes stay as they
// are: one that was written anew would have everybody wait for a restart that has been, and
// of a process without one the note has gone because it restarted.
func toNote(s plan.Snapshot, zone string) []v1beta2.ProcessGroupID {
	if !s.Cluster.ResetMaintenanceMode() {
		return nil
	}
	groups := map[v1beta2.ProcessGroupID]bool{}
	for _, p := range s.Database.Status.Cluster.Processes {
		if p.Zone() == zone && p.InstanceID() != "" && v1beta2.ProcessClass(p.ClassType).IsAffectedByMaintenance() {
			groups[v1beta2.ProcessGroupID(p.InstanceID())] = true
		}
	}
	noted := func(id v1beta2.ProcessGroupID) bool { return !s.Coordination.Maintenance[id].IsZero() }
	ids := slices.Sorted(maps.Keys(groups))
	if maintenanceZone(s) == zone && slices.ContainsFunc(ids, noted) {
		return nil
	}
	return ids
}

// StopMaintenance ends the maintenance of whatever zone, and removes the notes of what was
// to restart during it: those of processes of the zone, and of processes that are away.
var StopMaintenance = plan.Stage{
	Name:  plan.StageStopMaintenance,
	Reads: plan.Record | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		d := plan.Decision{Checks: []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database)}}
		if refused, ok := d.Refused(); ok {
			d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: "maintenance is not ended now", Detail: refused.Words(), RetryAfter: podDelay}
			return d
		}
		zone := maintenanceZone(s)
		notes := notesOf(s, zone)
		d.Why = "a person asks for it"
		if zone != "" {
			d.Actions = append(d.Actions, plan.EndMaintenance{Zone: zone})
		}
		if len(notes) > 0 {
			d.Actions = append(d.Actions, plan.ForgetMaintenance{Groups: notes})
		}
		return d
	},
}

// notesOf are the notes that mean nothing once the maintenance of a zone has ended. Those
// of another zone may have been written for the maintenance that comes next.
func notesOf(s plan.Snapshot, zone string) []v1beta2.ProcessGroupID {
	var groups []v1beta2.ProcessGroupID
	for _, id := range slices.Sorted(maps.Keys(s.Coordination.Maintenance)) {
		processes := reportingStorage(s.Database.Status, id)
		if len(processes) == 0 || zone == "" || processes[0].Zone() == zone {
			groups = append(groups, id)
		}
	}
	return groups
}
