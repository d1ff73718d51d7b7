// Package fdb is FoundationDB as data: versions, addresses, connection strings,
// the status document, the configuration, the monitor's configuration and the
// lock record. Everything in it is a pure function of its arguments.
//
// It must never talk to a database or to Kubernetes, read a clock, draw a random
// number, or look at the machine it runs on.
package fdb
