package ui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"

// ReconcileResult is the last line of `reconcile -o json`.
type ReconcileResult struct {
	Document
	// Outcome is how the last pass ended.
	Outcome reconcile.Outcome `json:"outcome"`
	// Passes is how many passes ran.
	Passes int `json:"passes"`
	// Acted counts the actions of all passes that ran without an error.
	Acted int `json:"acted"`
	// Reason is why the cluster does not match its spec; empty when every stage that ran is
	// done.
	Reason string `json:"reason,omitempty"`
	// ExitCode is what the program ends with.
	ExitCode int        `json:"exitCode"`
	Last     PassRecord `json:"lastPass"`
}
