// Package targets follows the objects that a command changes: which have reached their goal, and what the others
// wait for.
package targets
