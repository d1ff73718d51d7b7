// Package operations holds the commands for operations: commands with --wait, as other users see them.
package operations
