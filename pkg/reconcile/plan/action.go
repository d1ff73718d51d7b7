package plan

import (
	"reflect"
	"time"
)

// Action is one change to the world, as data. What it takes to carry an action
// out is known to the actor alone.
//
//sumtype:decl
type Action interface {
	// Describe says in one line, imperative, what the action does.
	Describe() string
	// Subject names what the action changes: a process group, an object, "database".
	Subject() string
	effect() Effect
}

// Effect is what the engine has to know about running an action.
type Effect struct {
	// Stale are the facets that are out of date once the action has run.
	Stale Facet
	// Locked is true when the action may run only under the cluster lock.
	Locked bool
	// Quiet is for how long after the action no other instance may act: the database does
	// not show yet what was taken down. Zero when it shows at once.
	Quiet time.Duration
	// AtMost is how long the action may last, where that is more than minutes. What ends the
	// run cuts such an action off, and the same action goes on with what is left. Zero for one
	// that is finished once it has begun.
	AtMost time.Duration
	// Parallel is true when actions of this kind may run at the same time.
	Parallel bool
	// Impact is what the action does to a running database.
	Impact Impact
}

// Impact is what an action does to a running database, for people who approve it.
type Impact string

// The impacts, from none to the worst.
const (
	NoImpact       Impact = "none"
	Recovery       Impact = "recovery"        // a short pause of all commits
	ProcessRestart Impact = "process-restart" // fdbserver processes restart
	DataMove       Impact = "data-move"       // data moves between processes
	DataLoss       Impact = "data-loss"       // copies of data go without having been moved, or a backup
	DataRestore    Impact = "data-restore"    // the database is locked until a backup is in it
)

// EffectOf returns the effect of running a.
func EffectOf(a Action) Effect { return a.effect() }

// LosesData reports whether what an action takes away cannot be had back: a yes is not
// enough for it.
func LosesData(a Action) bool { return a.effect().Impact == DataLoss }

// KindOf returns the action's kind, the name of its type: "CreatePod".
func KindOf(a Action) string { return reflect.TypeOf(a).Name() }

// Records reports whether an action only writes down what a pass saw. It says something else
// at every look, and nobody has to approve it beside what else was approved.
func Records(a Action) bool { return RecordsKind(KindOf(a)) }

// RecordsKind is Records, by the kind of the action.
func RecordsKind(kind string) bool {
	return kind == KindOf(WriteStatus{}) || kind == KindOf(RecordTaints{}) ||
		kind == KindOf(WriteBackupStatus{}) || kind == KindOf(WriteRestoreStatus{})
}

// Edit is an action whose whole effect is a known change of the snapshot, so a
// preview can apply it without running it.
type Edit interface {
	Action
	// Apply returns the snapshot as it will be; it does not change s or what s points to.
	Apply(s Snapshot) Snapshot
}
