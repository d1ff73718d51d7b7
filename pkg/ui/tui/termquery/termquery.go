// Package termquery prevents programs that only link Bubble Tea from querying the terminal
// for its colors. Bubble Tea does so in an init function, for every command of the program,
// and waits up to five seconds for terminals that do not answer.
//
// There is no query if the environment variable CI is set. Go initializes packages without
// pending dependencies in the order of their paths, so this one, which needs only os, comes
// before termenv and Bubble Tea; Restore, called when the package of the dashboard is
// initialized, comes after them.
package termquery

import "os"

const variable = "CI"

var set = disable()

// disable sets the variable unless it is set, and reports whether it did.
func disable() bool {
	if os.Getenv(variable) != "" {
		return false
	}
	return os.Setenv(variable, "termquery") == nil
}

// Restore restores the environment. It returns true, so that a variable can be initialized
// with it.
func Restore() bool {
	if set {
		_ = os.Unsetenv(variable) // it was set, so it can be unset
	}
	return true
}
