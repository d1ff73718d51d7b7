// Package sites opens the sites of one database: Kubernetes clusters with a FoundationDBCluster each.
package sites
