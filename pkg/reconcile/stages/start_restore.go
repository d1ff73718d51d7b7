package stages

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// startRestore starts a restore that was never started. One that is over does not keep
// another one from being started, as it does with the operator; one that is not does.
// What was started once is never started again, whatever became of it.
var startRestore = plan.Stage{
	Name:  plan.StageStartRestore,
	Reads: plan.Record | plan.Restore | plan.RestoreStatus | plan.RestoreSource,
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

// dueRestore returns what the tools are to start, with the checks that passed, or nil and
// the decision that stands without a read of the target.
func dueRestore(s plan.Snapshot) (*fdb.RestoreStart, plan.Decision) {
	if WasStarted(s.Restore) || s.Restore.DeletionTimestamp != nil {
		return nil, plan.Decision{}
	}
	if why := s.RestoreStatus.Why(); why != "" {
		return nil, plan.Wait(restoreDelay, plan.HoldRestoreStateUnknown, "nobody can tell whether a restore runs: "+why)
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
		return nil, contradiction(err)
	}
	if latestIsToCome(s, start) {
		return nil, plan.Wait(restoreDelay, plan.HoldNotRestorableYet, "FoundationDBBackup "+s.RestoreSource.Backup+" writes to the place to restore from: "+
			cmp.Or(s.RestoreSource.Restorable.Why, "nothing there can be restored before its first snapshot is written"))
	}
	return &start, plan.Decision{Checks: []plan.Check{alone}}
}

// latestIsToCome reports whether the latest version is asked for while the first one is being
// written. Who names a version knows of one, and what is there already can be restored.
func latestIsToCome(s plan.Snapshot, start fdb.RestoreStart) bool {
	source := s.RestoreSource
	return start.Version == nil && source.Begins(start.URL) && (source.There == nil || !source.There.Restorable)
}

// nothingIsRestored asks whether another restore runs. The tools would wait for its end
// without a word, or refuse.
func nothingIsRestored(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherRestore, Question: "is nothing else being restored into the database?", Gate: plan.GateRestore, OK: true, Evidence: "no restore runs"}
	if i := slices.IndexFunc(s.RestoreStatus.All, fdb.RestoreStatus.Active); i >= 0 {
		other := s.RestoreStatus.All[i]
		c.OK, c.Evidence = false, fmt.Sprintf("the restore of tag %s from %s is %s", other.Tag, fdb.WithoutSecrets(other.URL), other.State)
	}
	return c
}

// restoreStart is what the spec asks the tools for.
func restoreStart(s plan.Snapshot) (fdb.RestoreStart, error) {
	spec := s.Restore.Spec
	url, err := objects.RestoreURL(s.Restore)
	if err != nil {
		return fdb.RestoreStart{}, err
	}
	v, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return fdb.RestoreStart{}, fmt.Errorf("the version of cluster %s: %w", spec.DestinationClusterName, err)
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
