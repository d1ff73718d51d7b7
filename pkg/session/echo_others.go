//go:build !linux && !darwin

package session

// setEchoOf does nothing: a console of Windows echoes keys only to a program that reads them.
func setEchoOf(int, echo) {}
