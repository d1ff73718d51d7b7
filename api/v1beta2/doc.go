// Package v1beta2 holds the custom resources of apps.foundationdb.org/v1beta2:
// FoundationDBCluster, FoundationDBBackup and FoundationDBRestore, in the wire
// format of the FoundationDB operator, release 2.33.0.
//
// Besides the types it answers every question that a resource alone can
// answer: defaults, validation, process counts, names, labels, images and the
// generations reached. It never reads a cluster, a clock or a random number,
// and no method here changes a resource that it does not say it changes.
//
// +kubebuilder:object:generate=true
// +groupName=apps.foundationdb.org
package v1beta2
