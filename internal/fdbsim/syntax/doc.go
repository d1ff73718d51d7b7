// Package syntax reads and writes text as fdbcli does: lines of commands, quoted keys and
// values.
package syntax
