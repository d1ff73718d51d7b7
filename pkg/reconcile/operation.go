package reconcile

import (
	"context"
	"time"
)

// Operation is a command that runs passes until its goal is reached. It is stored with the Lease from
// its first change to its end, and stays there while it waits between two passes: the Lease itself
// then is free.
type Operation struct {
	// Command is the command with the flags that affect what it does: "replace sample storage-1 --wait".
	Command string `json:"command"`
	// Holder identifies the run: user, host, process, and the reason given.
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	// Seen is when the run last reported that it goes on.
	Seen time.Time `json:"seen"`
}

// The intervals in which a run reports that it goes on, and after which one that did not has ended.
const (
	OperationRenewal = time.Minute
	OperationTerm    = 3 * time.Minute
)

// IsActive reports whether the run has reported recently that it goes on. A time in the future is
// that of a machine whose clock is ahead.
func (o Operation) IsActive(now time.Time) bool { return now.Sub(o.Seen) <= OperationTerm }

// OperationKeeper is an actor that stores the operation to which its passes belong.
type OperationKeeper interface {
	// SetOperation names the operation. It is stored with the next change of the Lease.
	SetOperation(o Operation)
	// RenewOperation reports that the operation goes on, where it was stored and OperationRenewal has passed.
	RenewOperation(ctx context.Context) error
	// EndOperation removes the operation, where it was stored.
	EndOperation(ctx context.Context) error
}
