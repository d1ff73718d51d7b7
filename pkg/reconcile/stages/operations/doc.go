// Package operations holds the stages of what users ask for beside a pass: replacing, restarting,
// excluding and including process groups, draining nodes, maintenance, pauses and locks.
package operations
