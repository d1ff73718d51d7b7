// Package realdb runs the built plugin against real FoundationDB programs in the sandbox,
// and compares what the plugin reports with what the real fdbcli answers. It runs by
// `make test-real` only; docs/sandbox.md describes it.
package realdb
