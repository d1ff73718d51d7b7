// Package operating holds the commands for operations: commands with --wait, as other users see them.
package operating
