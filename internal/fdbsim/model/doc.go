// Package model is what FoundationDB clusters do: processes on data directories,
// coordinators, recoveries, data distribution, transactions, backups and restores.
//
// A [Simulation] has one lock. Callers of its methods, or of methods of anything in it, must hold
// it, taken with [Simulation.Lock]: packages fdbsim and tools do that for their callers.
package model
