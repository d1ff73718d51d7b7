package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Target is one thing that a command is about, and how far it is.
type Target struct {
	// ID is the process group, the node, or what else the command is about.
	ID string `json:"id"`
	// Phase is how far it is, in kebab-case; the phases are the command's own.
	Phase string `json:"phase"`
	// Note says more, for people; empty when there is nothing more to say.
	Note string `json:"note,omitempty"`
	// Reached is true once the target is where it should be.
	Reached bool `json:"reached"`
}

// ChangeResult is the last line of `-o json` of a command that changes something about
// targets of its own.
type ChangeResult struct {
	ReconcileResult
	// Command is the command's name: "replace".
	Command string `json:"command"`
	// Reached is true when all targets are where they should be.
	Reached bool     `json:"reached"`
	Targets []Target `json:"targets"`
}

// WriteProgress writes a line for each target that has moved on.
func WriteProgress(w io.Writer, before, now []Target) {
	for _, t := range now {
		if !slices.Contains(before, t) {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-27s  %-7s  %s", t.ID, t.Phase, t.Note), " "))
		}
	}
}
