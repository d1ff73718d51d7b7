// Package nodes holds the commands for nodes: get, cordon, uncordon and drain.
package nodes
