package reconcile

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Operation is a command that runs passes until its goal is reached, or carries out steps. It is stored with the Lease from
// its first change to its end, and stays there while it waits between two passes: the Lease itself
// then is free.
type Operation struct {
	// ID is the ID of the run, as in all its output and audit lines; empty for one of an older release.
	ID string `json:"id,omitempty"`
	// UID is the UID of the cluster; empty for one of an older release, and for a backup or a restore.
	UID types.UID `json:"uid,omitempty"`
	// Command is the command with the flags that affect what it does: "replace sample storage-1 --wait".
	Command string `json:"command"`
	// Holder identifies the run: user, host, process, and the reason given.
	Holder string `json:"holder"`
	// User is the user and host of the run, as shown to users; empty for one of an older release.
	User string `json:"user,omitempty"`
	// Reason is the text of --reason; empty without one.
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	// Seen is when the run last reported that the operation is active.
	Seen time.Time `json:"seen"`
	// Progress is how far it was then.
	Progress OperationProgress `json:"progress"`
}

// OperationAbort is a request to end an operation.
type OperationAbort struct {
	// ID is the ID of the operation.
	ID string `json:"id"`
	// By is the user and host that requested it.
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// Text returns the command, who runs it and why, as text for users.
func (o Operation) Text() string {
	words := o.Command + ", by " + o.By()
	if o.Reason != "" && o.User != "" {
		words += " (" + o.Reason + ")"
	}
	return words
}

// By returns who runs it, as text for users.
func (o Operation) By() string {
	if o.User == "" {
		return o.Holder
	}
	return o.User
}

// UserOf returns the user and host of the holder of a Lease.
func UserOf(holder string) string {
	who, _, _ := strings.Cut(holder, " ")
	return who
}

// A run reports every OperationRenewal that its operation is active, also while it waits between two
// passes. Without a report for OperationTerm the operation counts as ended: it lives as long as a Lease.
const (
	OperationRenewal = 20 * time.Second
	OperationTerm    = time.Minute
)

// Until returns when the operation counts as ended unless its run reports again.
func (o Operation) Until() time.Time { return o.Seen.Add(OperationTerm) }

// IsActive reports whether the run has reported within OperationTerm. A time in the future is
// that of a machine whose clock is ahead.
func (o Operation) IsActive(now time.Time) bool { return now.Sub(o.Seen) <= OperationTerm }

// OperationKeeper stores the operation to which the passes of an actor belong.
type OperationKeeper interface {
	// OtherOperation returns the active operation of another run; nil for none.
	OtherOperation(ctx context.Context) (*Operation, error)
	// RefuseBesideOthers makes the next changes fail with an ActiveOperationError while another run's
	// operation is active. Without it that is only reported.
	RefuseBesideOthers()
	// SetOperation names the operation. It is stored with the next change of the Lease.
	SetOperation(o Operation)
	// RenewOperation reports that the operation goes on, where it was stored, and its progress changed
	// or OperationRenewal has passed.
	RenewOperation(ctx context.Context, p OperationProgress) error
	// KeepOperation reports that the operation goes on, where it was stored and that is due, while no
	// pass does it by renewing the Lease.
	KeepOperation(ctx context.Context) error
	// AbortRequest returns the request to end this operation; nil for none.
	AbortRequest(ctx context.Context) (*OperationAbort, error)
	// EndOperation removes the operation, where it was stored.
	EndOperation(ctx context.Context) error
}

// Operator is an actor that stores operations.
type Operator interface {
	Operations() OperationKeeper
}
