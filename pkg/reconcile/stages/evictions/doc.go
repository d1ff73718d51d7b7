// Package evictions holds the stages by which the eviction rules reach other clients of Kubernetes:
// whoever drains a node, and Kubernetes itself where a node is lost. A stage runs only where an
// annotation of the resource requests it.
package evictions
