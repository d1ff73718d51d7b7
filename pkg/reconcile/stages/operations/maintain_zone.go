package operations

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// maintenanceSlack is the difference between remaining and requested time of maintenance within
// which it is not set again.
const maintenanceSlack = 30 * time.Second

// MaintainZone returns a stage that puts a zone under maintenance for a user: for that time the
// database does not copy the data of the zone's storage processes that are down. For a zone
// under maintenance it sets the time again. The checks are those for updates of pods.
func MaintainZone(zone string, d time.Duration) plan.Stage {
	return plan.Stage{
		Name:  plan.StageMaintainZone,
		Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			under, _ := cluster.MaintenanceZone(s)
			if under == zone {
				if now, _ := s.Database.Status.Maintenance(); (now.Remaining - d).Abs() <= maintenanceSlack {
					return plan.Decision{}
				}
			}
			if under == zone && s.Cluster.ResetMaintenanceMode() && !s.Coordination.Read {
				return plan.Wait(plan.PodDelay, plan.HoldNotesUnread, "cannot determine which processes have restarted during this maintenance: its notes could not be read")
			}
			decision := plan.Decision{Checks: maintenanceChecks(s, zone)}
			if refused, ok := decision.Refused(); ok {
				decision.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("zone %s cannot be put under maintenance now", zone), Detail: refused.Evidence, RetryAfter: cluster.PodUpdateRetry}
				return decision
			}
			decision.Why = plan.RequestedByUser
			decision.Actions = []plan.Action{plan.StartMaintenance{Zone: zone, Duration: d, Groups: toNote(s, zone), At: s.Now}}
			return decision
		},
	}
}

// maintenanceChecks returns the checks before a zone is put under maintenance. A zone that is
// under maintenance already may be down: to set its time again changes nothing else.
func maintenanceChecks(s plan.Snapshot, zone string) []plan.Check {
	none := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain, OK: true, Evidence: "none is"}
	under, unread := cluster.MaintenanceZone(s)
	switch {
	case unread:
		none.OK, none.Evidence = false, safety.MaintenanceKnown(s.Database).Evidence
	case under != "" && under != zone:
		none.OK, none.Evidence = false, fmt.Sprintf("zone %s is, and its maintenance would end silently", under)
	}
	checks := []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database), none}
	if under == zone {
		return checks
	}
	settled, _ := safety.JustStarted(s).Elsewhere(zone)
	return append(checks, safety.FullFaultTolerance(s), settled)
}

// toNote returns the storage processes of a zone, where the spec lets notes end maintenance:
// once all noted processes have restarted, a pass ends it. Otherwise the notes would never be
// removed. When maintenance is only extended the notes stay as they are: a new note would wait
// for a restart that has already happened, and a process without one has restarted.
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
	if under, _ := cluster.MaintenanceZone(s); under == zone && slices.ContainsFunc(ids, noted) {
		return nil
	}
	return ids
}

// StopMaintenance ends the maintenance of any zone, and removes the notes for it: those of
// processes in the zone, and of processes that do not report.
var StopMaintenance = plan.Stage{
	Name:  plan.StageStopMaintenance,
	Reads: plan.ClusterResource | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		d := plan.Decision{Checks: []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database), safety.MaintenanceKnown(s.Database)}}
		if refused, ok := d.Refused(); ok {
			d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: "maintenance cannot be ended now", Detail: refused.Evidence, RetryAfter: plan.PodDelay}
			return d
		}
		zone, _ := cluster.MaintenanceZone(s)
		notes := notesOf(s, zone)
		d.Why = plan.RequestedByUser
		if zone != "" {
			d.Actions = append(d.Actions, plan.EndMaintenance{Zone: zone})
		}
		if len(notes) > 0 {
			d.Actions = append(d.Actions, plan.ForgetMaintenance{Groups: notes})
		}
		return d
	},
}

// notesOf returns the notes that are obsolete once the maintenance of a zone has ended. Those
// of another zone may have been written for the next maintenance.
func notesOf(s plan.Snapshot, zone string) []v1beta2.ProcessGroupID {
	var groups []v1beta2.ProcessGroupID
	for _, id := range slices.Sorted(maps.Keys(s.Coordination.Maintenance)) {
		processes := cluster.ReportingStorage(s.Database.Status, id)
		if len(processes) == 0 || zone == "" || processes[0].Zone() == zone {
			groups = append(groups, id)
		}
	}
	return groups
}
