// Package status holds the stage that compares a cluster with its spec and writes the result, with
// the conditions of every process group, to the status of the FoundationDBCluster.
package status
