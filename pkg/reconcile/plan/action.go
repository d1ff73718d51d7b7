package plan

import (
	"reflect"
	"time"
)

// Action is one change to the cluster state, as data. Only the actor knows how to carry it
// out.
//
//sumtype:decl
type Action interface {
	// Describe returns one imperative line about what the action does.
	Describe() string
	// Subject names what the action changes: a process group, an object, "database".
	Subject() string
	effect() Effect
}

// Effect is what the engine must know to run an action.
type Effect struct {
	// Stale are the facets that are out of date once the action has run.
	Stale Facet
	// Locked is true when the action may run only under the cluster lock.
	Locked bool
	// Cooldown is how long after the action no other control-plane instance may act, because
	// the database does not show yet which processes were stopped. Zero when it shows at once.
	Cooldown time.Duration
	// AtMost is how long the action may last, if that is more than minutes. The end of the run
	// interrupts such an action, and the same action later continues with the rest. Zero for an
	// action that is not interrupted.
	AtMost time.Duration
	// Parallel is true when actions of this kind may run at the same time.
	Parallel bool
	// Impact is what the action does to a running database.
	Impact Impact
}

// Impact is what an action does to a running database, for users who approve it.
type Impact string

// The impacts, from none to the worst.
const (
	NoImpact       Impact = "none"
	Recovery       Impact = "recovery"        // a short pause of all commits
	ProcessRestart Impact = "process-restart" // fdbserver processes restart
	DataMove       Impact = "data-move"       // data moves between processes
	DataLoss       Impact = "data-loss"       // replicas of data, or a backup, are deleted
	DataRestore    Impact = "data-restore"    // the database is locked until the restore is complete
)

// EffectOf returns the effect of running a.
func EffectOf(a Action) Effect { return a.effect() }

// LosesData reports whether an action deletes what cannot be recovered: a plain confirmation
// is not enough for it.
func LosesData(a Action) bool { return a.effect().Impact == DataLoss }

// KindOf returns the action's kind, the name of its type: "CreatePod".
func KindOf(a Action) string { return reflect.TypeOf(a).Name() }

// Records reports whether an action only writes what a pass observed. It differs in every
// snapshot, and needs no approval beside the approved actions.
func Records(a Action) bool { return RecordsKind(KindOf(a)) }

// RecordsKind is Records, by the kind of the action.
func RecordsKind(kind string) bool {
	return kind == KindOf(WriteStatus{}) || kind == KindOf(RecordTaints{}) || kind == KindOf(RecordFailures{}) ||
		kind == KindOf(WriteBackupStatus{}) || kind == KindOf(WriteRestoreStatus{})
}

// Edit is an action whose whole effect is a known change of the snapshot, so a
// preview can apply it without running it.
type Edit interface {
	Action
	// Apply returns the snapshot as it will be; it does not change s or what s points to.
	Apply(s Snapshot) Snapshot
}
