package sim

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// adoptDatabase gives the simulated database the observed configuration, data, exclusions and
// maintenance.
func (w *Cluster) adoptDatabase(ctx context.Context, s plan.Snapshot) error {
	status := s.Database.Status
	w.FDB.Advance(joining)
	tokens, err := status.Cluster.Configuration.Tokens()
	if err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: err.Error()}
	}
	if err := w.configureTo(ctx, append([]string{"new"}, tokens...)); err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("configuration: %v", err)}
	}
	w.FDB.Advance(settling)
	for _, db := range w.FDB.Databases() {
		db.LoadBytes(dataOf(status) / w.scale)
	}
	drained, moving := exclusionsOf(s)
	if err := w.adoptExclusions(ctx, drained); err != nil {
		return err
	}
	w.adoptRecovery(s)
	w.FDB.Advance(s.Now.Sub(w.Now()) - joining)
	if err := w.adoptExclusions(ctx, moving); err != nil {
		return err
	}
	if zone, left := status.Cluster.MaintenanceZone, status.Cluster.MaintenanceSecondsRemaining; zone != "" && left != nil {
		err := w.change(ctx, func(c *client.Client) error { return c.StartMaintenance(zone, math.Trunc(*left)) })
		if err != nil {
			return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("maintenance of zone %s: %v", zone, err)}
		}
	}
	return nil
}

// adoptRecovery makes the simulated database recover at the time of the last observed recovery, if that was
// after the simulated one had settled.
func (w *Cluster) adoptRecovery(s plan.Snapshot) {
	age, known := s.Database.Status.RecoveryAge()
	until := s.Now.Add(-max(age, joining)).Sub(w.Now())
	if !known || until <= settling {
		return
	}
	w.FDB.Advance(until)
	for _, db := range w.FDB.Databases() {
		db.Recover()
	}
}

func (w *Cluster) adoptExclusions(ctx context.Context, targets []string) error {
	if len(targets) == 0 {
		return nil
	}
	if err := w.exclude(ctx, targets, client.Exclusion{Force: true}); err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("exclusions of %s: %v", strings.Join(targets, ", "), err)}
	}
	return nil
}

// exclusionsOf are the exclusions in force: those whose processes have moved everything away, and
// the others.
func exclusionsOf(s plan.Snapshot) (drained, moving []string) {
	all := s.Database.Status.ExcludedTargets()
	if s.Coordination.ExclusionsRead {
		all = s.Coordination.Exclusions
	}
	busy := map[string]bool{}
	for _, p := range s.Database.Status.Cluster.Processes {
		if p.HasRole(fdb.RoleStorage) || p.HasRole(fdb.RoleLog) {
			for _, name := range exclusionNames(p) {
				busy[name] = true
			}
		}
	}
	for _, target := range all {
		if busy[target] {
			moving = append(moving, target)
		} else {
			drained = append(drained, target)
		}
	}
	return drained, moving
}

// exclusionNames are the targets by which an exclusion can mean a process.
func exclusionNames(p fdb.Process) []string {
	names := []string{p.Address.Host, p.Address.HostPort()}
	for key, value := range p.Locality {
		names = append(names, fdb.LocalityExclusion(key, value))
	}
	return names
}
