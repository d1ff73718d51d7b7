// Package fdbsim is a deterministic model of FoundationDB clusters: servers,
// coordinators, recoveries, data distribution and the fdbcli that talks to
// them, on an explicit clock and from a seed.
//
// What a tool prints, and when, follows what FoundationDB 7.3.79 was recorded
// to print. The truth about the data (see [Database.Replicas]) is kept
// separate from what status reports about it, because the two differ for a
// while after every failure.
//
// The model never reads the machine's clock, never sleeps and never touches
// the network or the file system: time passes in [Simulation.Advance], files are
// handed in, and host names are resolved by [Options.Resolve].
//
// This package is the way in for tests and the sandbox; pkg/reconcile/sim, which is in the plugin, runs no
// tools and goes in through package locked. Both take the lock of a [Simulation]; the model expects it to be held.
// The packages below are, from top to bottom: tools, locked, client, status, model, store, keyspace.
package fdbsim
