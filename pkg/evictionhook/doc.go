// Package evictionhook answers the API server's question whether a pod may be evicted: a validating
// admission webhook on pods/eviction. It finds the cluster of the pod and asks a Decider, which
// knows the eviction rules; until they allow the eviction it is denied with the status 429, as a
// PodDisruptionBudget denies it, so that whoever drains a node tries again.
//
// Of all evictions of a cluster one is decided at a time, by all replicas together: two that are
// allowed on the same facts could be one too many.
package evictionhook
