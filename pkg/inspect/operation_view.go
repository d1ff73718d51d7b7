package inspect

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// OperationView is a command that runs passes until its goal is reached.
type OperationView struct {
	// ID is the ID of the run; empty for one of an older release.
	ID string `json:"id,omitempty"`
	// UID is the UID of the cluster; absent for an operation of an older release, and of a backup or a restore.
	UID string `json:"uid,omitempty"`
	// Command is the command with the flags that affect what it does.
	Command string `json:"command"`
	// Holder identifies the run: user, host, process, and the reason given.
	Holder string `json:"holder"`
	// User is the user and host of the run.
	User   string     `json:"user,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Since  *time.Time `json:"since"`
	// Seen is when the run last reported that it goes on.
	Seen *time.Time `json:"seen"`
	// Active is false when that was so long ago that the run must have ended, or its process has.
	Active bool `json:"active"`
	// Progress is how far it was when it last reported.
	Progress reconcile.OperationProgress `json:"progress"`
	// Abort is the request to end it; absent without one.
	Abort *reconcile.OperationAbort `json:"abort,omitempty"`
}

// By returns who runs it, as text for users.
func (v OperationView) By() string {
	return reconcile.Operation{Holder: v.Holder, User: v.User}.By()
}

// Text returns its ID, the command, and who runs it, as text for users.
func (v OperationView) Text() string {
	words := v.Command + ", by " + v.By()
	if v.ID != "" {
		words = v.ID + ": " + words
	}
	return words
}

// View returns the operation of the Lease; nil for none.
func (l Lease) View() *OperationView {
	o := l.Operation
	if o == nil {
		return nil
	}
	return &OperationView{
		ID: o.ID, UID: string(o.UID), Command: o.Command, Holder: o.Holder, User: o.User, Reason: o.Reason, Since: Known(o.Since), Seen: Known(o.Seen),
		Active: l.OperationActive, Progress: o.Progress, Abort: l.Abort,
	}
}

// OperationListView is the document of `operations list`.
type OperationListView struct {
	Document
	Items []OperationItem `json:"items"`
}

// OperationItem is the operation of one cluster.
type OperationItem struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Read is false where the Lease could not be read: whether there is an operation is unknown.
	Read bool `json:"read"`
	// Operation is absent where the Lease could not be read.
	Operation *OperationView `json:"operation,omitempty"`
}

// OperationStatusView is the document of `operations follow` and `operations abort`.
type OperationStatusView struct {
	Document
	// Ended is true if the operation has ended, or there was none.
	Ended bool `json:"ended"`
	// Operation is the operation when it was last seen; absent if there was none.
	Operation *OperationView `json:"operation,omitempty"`
}
