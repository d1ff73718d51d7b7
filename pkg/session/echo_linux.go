package session

import "golang.org/x/sys/unix"

// The requests that read and write the mode of a terminal.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
