// Package model is what FoundationDB clusters do: processes on data directories,
// coordinators, recoveries, data distribution, transactions, backups and restores.
//
// A [World] has one lock. Whoever calls a method of the world, or of anything the world
// holds, has taken it with [World.Lock]: packages fdbsim and tools do that for their callers.
package model
