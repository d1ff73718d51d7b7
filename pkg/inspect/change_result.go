package inspect

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
