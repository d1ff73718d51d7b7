// Package logs has the command logs: lines of containers and events of trace files, of all pods of
// a cluster.
package logs
