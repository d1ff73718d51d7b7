// Package v1beta2 holds the custom resources of apps.foundationdb.org/v1beta2:
// FoundationDBCluster, FoundationDBBackup and FoundationDBRestore, in the wire
// format of the FoundationDB operator, release 2.33.0.
//
// Besides the types it derives everything that depends on a resource alone:
// defaults, validation, process counts, names, labels, images and the
// generations reached. It never reads a cluster, a clock or a random number,
// and only methods documented to change a resource change it.
//
// +kubebuilder:object:generate=true
// +groupName=apps.foundationdb.org
package v1beta2
