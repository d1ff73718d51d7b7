// Package objects builds the desired Kubernetes objects of a cluster: pods, PVCs, services,
// the ConfigMap, and the command lines of the processes in the pods. It also reads back from
// a pod how that pod was created.
//
// Every function is pure and takes a cluster whose spec is normalized and whose status is
// freshly computed. The package does no input or output and changes none of its arguments.
// The objects must equal the operator's byte for byte: the operator recognizes its pods by a
// hash of their desired spec, and with another hash every pod of a running cluster would be
// recreated.
package objects
