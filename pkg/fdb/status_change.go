package fdb

import (
	"reflect"
	"slices"
)

// ChangedSince reports whether a status document shows something else than an earlier one that a wait may be for: which
// processes report, hold roles, are excluded or were restarted, the recovery, replication and its health, exclusions,
// maintenance and coordinators. Measurements, such as rates, bytes and ages, are no changes.
func (s *Status) ChangedSince(before *Status) bool {
	if !reflect.DeepEqual(s.marks(), before.marks()) || len(s.Cluster.Processes) != len(before.Cluster.Processes) {
		return true
	}
	for id, p := range s.Cluster.Processes {
		then, known := before.Cluster.Processes[id]
		if !known || p.restartedSince(then) || !reflect.DeepEqual(p.marks(), then.marks()) {
			return true
		}
	}
	return false
}

// statusMarks are the parts of a document about the whole cluster that change only in steps.
type statusMarks struct {
	available, fullyRecovered, rolesKnown, healthy, canBounce bool

	recovery, connectionString, zone, primaryDC string
	generation                                  *int64
	fullReplication                             *bool
	tolerance                                   *ZoneTolerance
	replicas, logGenerations                    int
	excluded, incompatible                      []string
	coordinators                                []CoordinatorStatus
	lock                                        *LockState
}

func (s *Status) marks() statusMarks {
	maintenance, _ := s.Maintenance()
	replicas, _ := s.MinReplicasRemaining()
	canBounce, _ := s.CanCleanBounce()
	return statusMarks{
		available: s.Available(), fullyRecovered: s.FullyRecovered(), rolesKnown: s.RolesKnown(), healthy: s.DataHealthy(), canBounce: canBounce,
		recovery: s.RecoveryName(), connectionString: s.Cluster.ConnectionString, zone: maintenance.Zone, primaryDC: s.Cluster.ActivePrimaryDC,
		generation: s.Cluster.Generation, fullReplication: s.Cluster.FullReplication, tolerance: s.Cluster.FaultTolerance,
		replicas: replicas, logGenerations: len(s.Cluster.Logs),
		excluded: slices.Sorted(slices.Values(s.ExcludedTargets())), incompatible: slices.Sorted(slices.Values(s.Cluster.IncompatibleConnections)),
		coordinators: s.Client.Coordinators.Coordinators, lock: s.Cluster.DatabaseLockState,
	}
}

// processMarks are the parts of a process's entry that change only in steps.
type processMarks struct {
	reporting, excluded, maintained bool

	group, version, commandLine string
	address                     Address
	roles                       []string
}

func (p Process) marks() processMarks {
	var roles []string
	for _, r := range p.Roles {
		roles = append(roles, r.Role)
	}
	slices.Sort(roles)
	return processMarks{
		reporting: p.Reporting(), excluded: p.IsExcluded(), maintained: p.IsUnderMaintenance(),
		group: p.InstanceID(), version: p.Version, commandLine: p.CommandLine, address: p.Address, roles: roles,
	}
}

// restartedSince reports whether the process runs for a shorter time than in an earlier document.
func (p Process) restartedSince(then Process) bool {
	now, known := p.Uptime()
	before, knew := then.Uptime()
	return known && knew && now < before
}
