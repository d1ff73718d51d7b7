// Package hush keeps the terminal from being asked for its colors by programs that only
// link Bubble Tea. That asks in an init function, for every command of the program, and
// waits up to five seconds for terminals that do not answer.
//
// It is not asked where the environment has CI. Go initializes packages that could be next
// in the order of their paths, so this one, which needs os alone, comes before termenv and
// Bubble Tea; Over, called when the package of the screen is initialized, comes after them.
package hush

import "os"

const variable = "CI"

var set = pretend()

// pretend sets the variable unless it is there, and says whether it did.
func pretend() bool {
	if os.Getenv(variable) != "" {
		return false
	}
	return os.Setenv(variable, "hush") == nil
}

// Over leaves the environment as it was.
func Over() bool {
	if set {
		_ = os.Unsetenv(variable) // it was set, so it can be unset
	}
	return true
}
