package waiting

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// WaitCondition is something that a script can wait for.
type WaitCondition struct {
	// Text is the condition as the user wrote it: "tolerance=2".
	Text string
	// evaluate decides the condition. It is met only if the facts show that.
	evaluate func(inspect.Facts) verdict
	// Exclusions is true if it needs the exclusions in force and in progress, also where the spec does not.
	Exclusions bool
	// Group is the process group that has to exist when the wait begins; empty for none.
	Group v1beta2.ProcessGroupID
}

// verdict is yes, no or unknown, with the reason when it is not yes.
type verdict struct {
	met    *bool
	reason string
}

func yes() verdict { return verdict{met: new(true)} }

func no(reason string) verdict { return verdict{met: new(false), reason: reason} }

func unknown(reason string) verdict { return verdict{reason: reason} }

// WaitAvailable holds when the database itself reports that it is available.
func WaitAvailable() WaitCondition { return WaitCondition{Text: "available", evaluate: isAvailable} }

// WaitHealthy holds when the state that status shows is healthy, the last recovery has ended
// and data distribution reports healthy data.
func WaitHealthy() WaitCondition { return WaitCondition{Text: "healthy", evaluate: isHealthy} }

// WaitReconciled holds when the cluster matches its spec.
func WaitReconciled() WaitCondition { return WaitCondition{Text: "reconciled", evaluate: isReconciled} }

// WaitFullyReplicated holds when all data and all logs have all their copies.
func WaitFullyReplicated() WaitCondition {
	return WaitCondition{Text: "fully-replicated", evaluate: isFullyReplicated}
}

// WaitTolerance holds when as many more zones may fail without loss of data.
func WaitTolerance(zones int) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("tolerance=%d", zones), evaluate: func(f inspect.Facts) verdict { return tolerates(f, zones) }}
}

// WaitNoExclusions holds when the database has no exclusions.
func WaitNoExclusions() WaitCondition {
	return WaitCondition{Text: "exclusions=none", evaluate: hasNoExclusions}
}

// WaitExclusionsSafe holds when the database depends on nothing that is excluded, or is to be.
func WaitExclusionsSafe() WaitCondition {
	return WaitCondition{Text: "exclusions=safe", Exclusions: true, evaluate: func(f inspect.Facts) verdict { return areSafe(f, inspect.ExclusionQuestion{}) }}
}

// WaitSafe holds when a process group is excluded and the database depends on nothing of it, or when it was
// removed during the wait.
func WaitSafe(id v1beta2.ProcessGroupID) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("pg=%s:safe", id), Exclusions: true, Group: id, evaluate: func(f inspect.Facts) verdict { return isSafe(f, id) }}
}

// WaitBackup holds when a backup matches its spec, see Wait.Report.
func WaitBackup() WaitCondition { return WaitCondition{Text: "reconciled"} }

// WaitRestore holds when a restore is done, see Wait.Report.
func WaitRestore() WaitCondition { return WaitCondition{Text: "done"} }

// WaitRemoved holds when nothing of a process group is left: no status entry, no process,
// no exclusion, and no object.
func WaitRemoved(id v1beta2.ProcessGroupID) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("pg=%s:removed", id), evaluate: func(f inspect.Facts) verdict { return isRemoved(f, id) }}
}

// WaitNoCondition holds when no process group has the condition.
func WaitNoCondition(c v1beta2.ProcessGroupConditionType) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("no-condition=%s", c), evaluate: func(f inspect.Facts) verdict { return noneHas(f, c) }}
}

// WaitLockFree holds when no run holds the Lease and no control-plane instance the lock.
func WaitLockFree() WaitCondition { return WaitCondition{Text: "lock-free", evaluate: isUnlocked} }

// WaitVersion holds when all expected processes report, all of them with this version.
func WaitVersion(v fdb.Version) WaitCondition {
	return WaitCondition{Text: "version=" + v.String(), evaluate: func(f inspect.Facts) verdict { return runs(f, v) }}
}
