package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// ReconcileResultList is the last line of `reconcile --with-backups -o json`: the results of a
// cluster, its backups and its restores, in the order of their passes.
type ReconcileResultList struct {
	Document
	// Outcome is the worst of all.
	Outcome reconcile.Outcome `json:"outcome"`
	// Acted counts the actions over all resources that ran without an error.
	Acted int `json:"acted"`
	// ExitCode is what the program ends with: the most important of all.
	ExitCode  int                 `json:"exitCode"`
	Resources []ResourceReconcile `json:"resources"`
}

// ResourceReconcile is the result of one of them.
type ResourceReconcile struct {
	// Resource is a cluster's name, fdbbackup/NAME or fdbrestore/NAME.
	Resource string            `json:"resource"`
	Outcome  reconcile.Outcome `json:"outcome"`
	// Passes is how many passes ran; 0 where it was not its turn.
	Passes int `json:"passes"`
	Acted  int `json:"acted"`
	// Reason is why it does not match its spec; empty when it does.
	Reason   string `json:"reason,omitempty"`
	ExitCode int    `json:"exitCode"`
}
