// Package tools runs the command-line tools: fdbcli, fdbbackup, fdbrestore and
// backup_agent.
package tools
