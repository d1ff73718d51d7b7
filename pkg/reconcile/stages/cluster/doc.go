// Package cluster holds the stages of a pass over a FoundationDBCluster, one file each, and the
// questions about them that commands ask. Package stages lists them in order.
package cluster
