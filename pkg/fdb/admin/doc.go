// Package admin talks to a FoundationDB database: the interfaces that the rest of
// the program uses, fdbcli's text protocol behind them, and the transports that run
// fdbcli in a pod or on this machine.
//
// A mutation succeeds when its expected text came and a read-back agrees; an exit
// code alone proves nothing. What may or may not have happened is reported as
// KindUnknownResult and never as success. The package must never decide what should
// be done to a database, force a command past FoundationDB's own checks, or repeat
// the hints in which fdbcli recommends that.
package admin
