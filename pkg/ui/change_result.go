package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
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

// ChangeResult is the last line of `-o json` of a command that changes something about
// targets of its own.
type ChangeResult struct {
	ReconcileResult
	// Command is the command's name: "replace".
	Command string `json:"command"`
	// Reached is true when all targets have their desired state.
	Reached bool     `json:"reached"`
	Targets []Target `json:"targets"`
}

// WriteProgress prints a line for each target that has changed.
func WriteProgress(w io.Writer, before, now []Target) {
	for _, t := range now {
		if !slices.Contains(before, t) {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-27s  %-7s  %s", t.ID, t.Phase, t.Note), " "))
		}
	}
}
