// Package runbook holds procedures as data: what a runbook file contains, whether it is valid, and
// which step of it comes next after what has run. It runs no command, reads no file and has no
// clock.
package runbook
