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
	// Reason is what keeps the cluster from being as its spec asks; empty when no step
	// that ran knows of anything.
	Reason string `json:"reason,omitempty"`
	// ExitCode is what the program ends with.
	ExitCode int        `json:"exitCode"`
	Last     PassRecord `json:"lastPass"`
}
