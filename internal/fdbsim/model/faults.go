package model

import "time"

// Faults are the ways in which a database can be made difficult. The zero value
// is a database that behaves.
type Faults struct {
	// MoveBytesPerSecond overrides the pace of each stream of data movement.
	// Zero keeps the [Simulation]'s pace.
	MoveBytesPerSecond int64
	// StaleStatus makes status show the cluster as it was when the fault was
	// set.
	StaleStatus bool
	// PartialStatus makes status lack what processes report about themselves:
	// localities, command lines, versions and uptimes.
	PartialStatus bool
	// StatusTimeout makes status come without the cluster's part.
	StatusTimeout bool
	// StatusDeadline makes status end at its deadline, as from 7.3.78 and 7.4.7: without
	// processes, with the reason, and available if the database is.
	StatusDeadline bool
	// BounceImpactLies makes status refuse a restart of all processes after every
	// recovery, as 7.4.7 does.
	BounceImpactLies bool
	// FullDisks makes all disks report less free space than FoundationDB requires, and ratekeeper a limit
	// of no transactions. Those of the tools do not stop.
	FullDisks bool
	// ClientReads and ClientWrites are what clients read and write per second, in transactions
	// of ten operations, beside what the tools do.
	ClientReads, ClientWrites int64
	// Delay is what every command takes in addition.
	Delay time.Duration
	// UnknownCommits is how many of the next commits end with an unknown
	// result; ApplyUnknown is whether those are applied.
	UnknownCommits int
	ApplyUnknown   bool
	// DropCommands is how many of the next commands that change something are
	// cut off: they take effect when ApplyUnknown is set, and the tool ends
	// with exit code 137 and without a word either way.
	DropCommands int
}

// SetFaults replaces the faults. The queues of storage servers begin to fill when clients begin to
// write more.
func (db *Database) SetFaults(f Faults) {
	if f.ClientWrites != db.Faults.ClientWrites {
		db.LoadedSince = db.Simulation.Now
	}
	db.Faults = f
}

func (f *Faults) takeUnknownCommit() (lost, applied bool) {
	if f.UnknownCommits == 0 {
		return false, false
	}
	f.UnknownCommits--
	return true, f.ApplyUnknown
}

// TakeDrop reports whether the command that starts now is cut off.
func (f *Faults) TakeDrop() bool {
	if f.DropCommands == 0 {
		return false
	}
	f.DropCommands--
	return true
}
