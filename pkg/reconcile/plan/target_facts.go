package plan

import "time"

// TargetFacts report whether the key ranges that a restore writes hold data. They are read
// only where a restore is about to be started.
type TargetFacts struct {
	// Read is false when it is unknown whether the ranges hold data.
	Read bool
	// Occupied are the ranges that hold at least one key, as fdbcli takes them; none when
	// the restore finds no data.
	Occupied [][2]string
	// NotQueried is the reason why no tool was run; empty when one was.
	NotQueried string
	// Unreachable is the error of the read; empty when it succeeded.
	Unreachable string
	// Locked is true where the read failed because the database is locked.
	Locked bool
	// AsOf is the time of the read.
	AsOf time.Time
}

// Why returns the reason why it is unknown whether the ranges hold data; empty when it is
// known.
func (f TargetFacts) Why() string {
	if f.Read {
		return ""
	}
	return whyNot(f.NotQueried, f.Unreachable)
}
