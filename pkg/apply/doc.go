// Package apply carries out what a command changes: the plan and its approval, the passes, waiting and watching,
// plan files and the audit. It knows no command line of its own.
package apply
