// Package syntax reads and writes text as fdbcli does: lines of commands, quoted keys and
// values, and JSON with mistakes in it.
package syntax
