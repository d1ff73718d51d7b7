package inspect

import (
	"slices"
)

// Target is one object of a command, and its progress.
type Target struct {
	// ID is the process group, the node, or another object of the command.
	ID string `json:"id"`
	// Phase is its progress, in kebab-case; each command has its own phases.
	Phase string `json:"phase"`
	// Note has details for the user; empty without any.
	Note string `json:"note,omitempty"`
	// Reached is true once the target has its desired state.
	Reached bool `json:"reached"`
}

// AllReached reports whether all targets are reached.
func AllReached(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool { return !t.Reached })
}
