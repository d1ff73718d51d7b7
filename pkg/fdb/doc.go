// Package fdb is FoundationDB as data: versions, addresses, connection strings,
// the status document, the configuration, the monitor's configuration and the
// lock. Everything in it is a pure function of its arguments.
//
// It must never access a database, Kubernetes, a clock, random numbers, or the
// machine it runs on.
package fdb
