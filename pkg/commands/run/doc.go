// Package run holds run: the runner of runbooks. A step is a command line of this program, which
// runs in the same process.
package run
