package tui

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Actions are what can be done from the screen. They are the commands themselves: the
// same plan, the same gates, the same audit.
type Actions interface {
	// Propose works out what a command would do, and changes nothing.
	Propose(ctx context.Context, ask Ask) (Proposal, error)
	// CarryOut does what a person approved, and sends what happens meanwhile.
	CarryOut(ctx context.Context, p Proposal, send func(Entry)) error
}

// Ask is what a key asks for.
type Ask struct {
	// Verb is the command: replace, exclude, include, restart, reconcile or cordon.
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
	// Plan is what the command would do, null when it does not end in one.
	Plan *ui.PlanView
	// Words are what the command says of it beyond the plan, one line each.
	Words []string
	// Confirm is what has to be typed: y, or the name of the cluster when data can be
	// lost. Empty when nothing has to be confirmed.
	Confirm string
	// Refused is why it cannot be done; empty when it can.
	Refused string
}
