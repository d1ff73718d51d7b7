package plan

import "time"

// Options are settings of a pass that no field of the spec has.
type Options struct {
	// ReplaceOnSecurityContextChange also replaces process groups whose pods were created with
	// another file group, user or group. Without it such pods are recreated, and keep their
	// volumes. Default false.
	ReplaceOnSecurityContextChange bool
	// Adopt adopts pods and PVCs as they are, before anything is replaced or recreated because
	// of them. Default false.
	Adopt bool
}

// PodDelay is the shortest useful wait for a pod to be scheduled, started, or to load a file. The
// operator waits 15 s; this tool has a user who waits for it.
const PodDelay = 5 * time.Second

// RequestedByUser is the reason of actions that a command requests directly.
const RequestedByUser = "requested by a user"
