// Package locks holds the commands for locks, maintenance and pauses.
package locks
