// Package objects says what the Kubernetes objects of a cluster should be: pods,
// volume claims, services, the config map, and the command lines of the servers
// in the pods. It also reads back from a pod how that pod was made.
//
// Every function is pure and takes a cluster whose spec is normalised and whose
// status is freshly computed. The package talks to nobody and changes nothing
// that it is given. What it builds must come out byte for byte as the operator's
// does: the operator recognizes its pods by a hash of their wanted spec, and a
// hash that differs makes every pod of a running cluster look wrong.
package objects
