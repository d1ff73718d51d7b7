// Package exit holds the errors that end a command, with their exit codes and hints.
package exit
