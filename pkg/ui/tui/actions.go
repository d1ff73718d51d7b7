package tui

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

// Actions are the actions of the dashboard. They are the commands themselves: the same plan,
// the same gates, the same audit.
type Actions interface {
	// Propose returns what a command would do, and changes nothing.
	Propose(ctx context.Context, ask Ask) (Proposal, error)
	// CarryOut runs what the user approved, and sends its progress.
	CarryOut(ctx context.Context, p Proposal, send func(Entry)) error
}

// Ask is the action that a key requests.
type Ask struct {
	// Verb is the command: replace, exclude, include, restart, reconcile or cordon; keep is
	// replace --undo --include.
	Verb string
	// Cluster is the name of the FoundationDBCluster.
	Cluster string
	// Subjects are process groups, or nodes for cordon; empty for reconcile.
	Subjects []string
}

// Proposal is what a command would do.
type Proposal struct {
	Ask
	// CommandLine is the whole command that does the same, to copy.
	CommandLine string
	// Plan is what the command would do, null if the command has no plan.
	Plan *planned.PlanView
	// Words are what the command prints beside the plan, one line each.
	Words []string
	// Confirm is the text to type: y, or the name of the cluster if data can be lost. Empty if
	// no confirmation is required.
	Confirm string
	// Refused is why it cannot be done; empty if it can.
	Refused string
}
