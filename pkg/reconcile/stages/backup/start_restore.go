package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// startRestore starts a restore that was never started. A finished other restore does not prevent
// that, as it does with the operator; a running one does. A restore is never started twice,
// whatever its state.
var startRestore = plan.Stage{
	Name:  plan.StageStartRestore,
	Reads: plan.ClusterResource | plan.Restore | plan.RestoreStatus | plan.RestoreSource,
	More:  plan.RestoreTarget,
	Matters: func(s plan.Snapshot) bool {
		start, _ := dueRestore(s)
		return start != nil
	},
	Decide: func(s plan.Snapshot) plan.Decision {
		start, decided := dueRestore(s)
		if start == nil {
			return decided
		}
		target := nothingIsOverwritten(s.RestoreTarget)
		checks := append(slices.Clip(decided.Checks), target)
		if !target.OK {
			return plan.Decision{Checks: checks, Hold: overData(s, target)}
		}
		return plan.Decision{
			Why: "it was never started", Checks: checks,
			Actions: []plan.Action{plan.StartRestore{Restore: s.Restore.Name, Cluster: s.Restore.Spec.DestinationClusterName, Start: *start}},
		}
	},
}

// dueRestore returns the arguments of the tools for a restore to start, with the checks that
// passed, or nil and the decision that needs no read of the target.
func dueRestore(s plan.Snapshot) (*fdb.RestoreStart, plan.Decision) {
	if WasStarted(s.Restore) || s.Restore.DeletionTimestamp != nil {
		return nil, plan.Decision{}
	}
	if why := s.RestoreStatus.Why(); why != "" {
		return nil, plan.Wait(restoreDelay, plan.HoldRestoreStateUnknown, "cannot determine whether a restore runs: "+why)
	}
	if !s.Cluster.Status.Configured {
		return nil, plan.Wait(restoreDelay, plan.HoldNoDatabase, "cluster "+s.Cluster.Name+" has no database yet")
	}
	alone := nothingIsRestored(s)
	if !alone.OK {
		return nil, plan.Decision{Checks: []plan.Check{alone}, Hold: &plan.Hold{Code: plan.HoldOtherRestoreActive, Reason: "waiting for the end of another restore", Detail: alone.Evidence, RetryAfter: restoreDelay}}
	}
	start, err := restoreStart(s)
	if err != nil {
		return nil, readings.InvalidSpec(err)
	}
	if latestPending(s, start) {
		return nil, plan.Wait(restoreDelay, plan.HoldNotRestorableYet, "FoundationDBBackup "+s.RestoreSource.Backup+" writes to the destination to restore from: "+
			cmp.Or(s.RestoreSource.Restorable.Why, "it is not restorable before its first snapshot is written"))
	}
	return &start, plan.Decision{Checks: []plan.Check{alone}}
}

// latestPending reports whether the latest version is to be restored while the first one is being
// written. A version in the spec is assumed to exist, and what is in the store can be restored.
func latestPending(s plan.Snapshot, start fdb.RestoreStart) bool {
	source := s.RestoreSource
	return start.Version == nil && source.Begins(start.URL) && (source.There == nil || !source.There.Restorable)
}

// nothingIsRestored checks whether no other restore runs. The tools would wait for its end
// silently, or refuse.
func nothingIsRestored(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherRestore, Question: "is no other restore into the database active?", Gate: plan.GateRestore, OK: true, Evidence: "no restore runs"}
	if i := slices.IndexFunc(s.RestoreStatus.All, fdb.RestoreStatus.Active); i >= 0 {
		other := s.RestoreStatus.All[i]
		c.OK, c.Evidence = false, fmt.Sprintf("the restore on tag %s from %s is %s", other.Tag, fdb.WithoutSecrets(other.URL), other.State)
	}
	return c
}

// restoreStart returns the arguments of the tools for the spec.
func restoreStart(s plan.Snapshot) (fdb.RestoreStart, error) {
	spec := s.Restore.Spec
	url, err := objects.RestoreURL(s.Restore)
	if err != nil {
		return fdb.RestoreStart{}, err
	}
	v, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return fdb.RestoreStart{}, fmt.Errorf("parse the version of cluster %s: %w", spec.DestinationClusterName, err)
	}
	key, err := encryptionKey(spec.EncryptionKeyPath, v)
	if err != nil {
		return fdb.RestoreStart{}, err
	}
	return fdb.RestoreStart{URL: url, Version: spec.BackupVersion, EncryptionKeyFile: key, Ranges: keyRanges(spec.KeyRanges)}, nil
}

func keyRanges(ranges []v1beta2.FoundationDBKeyRange) [][2]string {
	var all [][2]string
	for _, r := range ranges {
		all = append(all, [2]string{r.Start, r.End})
	}
	return all
}

// nothingIsOverwritten checks that the key ranges to restore hold no data. fdbrestore refuses
// them otherwise; the check shows that before anything is started. Unknown is refused.
func nothingIsOverwritten(target plan.TargetFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRestoreTargetEmpty, Question: "are the key ranges to restore empty?", Gate: plan.GateRestore}
	switch {
	case !target.Read:
		c.Evidence = "cannot be determined: " + target.Why()
	case len(target.Occupied) > 0:
		c.Evidence = "keys found in " + shortRanges(target.Occupied)
	default:
		c.OK, c.Evidence = true, "no key found"
	}
	return c
}

// shortRanges names the first ranges in full.
func shortRanges(ranges [][2]string) string {
	const most = 3
	var words []string
	for _, keys := range ranges[:min(len(ranges), most)] {
		words = append(words, keys[0]+" to "+keys[1])
	}
	if len(ranges) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// overData returns the hold of a restore whose target is not proven to be empty. Neither data
// nor a lock disappears without a user; a read that failed for another reason is repeated.
func overData(s plan.Snapshot, target plan.Check) *plan.Hold {
	cluster := s.Restore.Spec.DestinationClusterName
	switch {
	case s.RestoreTarget.Locked:
		return &plan.Hold{Code: plan.HoldRestoreTargetUnknown, Reason: "cannot determine whether the database of cluster " + cluster + " holds data: " + s.RestoreTarget.Why() +
			"; no restore is running, so another lock has to be released first", Manual: true}
	case !s.RestoreTarget.Read:
		return &plan.Hold{Code: plan.HoldRestoreTargetUnknown, Reason: "cannot determine whether the database of cluster " + cluster + " holds data: " + s.RestoreTarget.Why(), RetryAfter: restoreDelay}
	default:
		return &plan.Hold{Code: plan.HoldRestoreTargetOccupied, Reason: "the database of cluster " + cluster + " holds data (" + target.Evidence + "), and a restore never overwrites data: " +
			"restore into a cluster without data, or make sure that the data is not needed before you remove it", Manual: true}
	}
}
