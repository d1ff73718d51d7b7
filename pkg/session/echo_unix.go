//go:build linux || darwin

package session

import "golang.org/x/sys/unix"

// setEchoOf turns the echo of typed keys on a terminal on or off. A process in the background would be stopped for that, and
// changes nothing.
func setEchoOf(fd int, to echo) {
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return
	}
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return
	}
	mode.Lflag &^= unix.ECHO
	if to == echoOn {
		mode.Lflag |= unix.ECHO
	}
	_ = unix.IoctlSetTermios(fd, setTermios, mode) // the keys are echoed then
}
