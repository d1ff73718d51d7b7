// Package admin accesses a FoundationDB database: the interfaces that the rest of
// the program uses, fdbcli's text protocol behind them, and the transports that run
// fdbcli in a pod or on this machine.
//
// A mutation succeeds when its expected text was printed and a read-back confirms
// it; an exit code alone proves nothing. An unknown result is reported as
// KindUnknownResult and never as success. The package must never decide what should
// be done to a database, force a command past FoundationDB's own checks, or repeat
// fdbcli's hints to do so.
package admin
