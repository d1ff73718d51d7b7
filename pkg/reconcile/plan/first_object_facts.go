package plan

// FirstObjectFacts are whether the API server accepts the objects of a cluster that has none yet, by a dry run of one
// of each kind and class, and whether the storage classes of its PVCs exist.
type FirstObjectFacts struct {
	// Read is false when nothing was tried: the cluster has process groups.
	Read bool
	// Refused are the objects that are not accepted.
	Refused []Refusal
	// Unknown is why the dry run of an object did not show it.
	Unknown []string
	// NoClass are the storage classes that the PVCs name, if neither such a class nor a PersistentVolume of it exists.
	// PVCs that name none bind to the volumes that there are.
	NoClass []string
	// ClassesHidden is why that cannot be determined. Missing permission is a fact: both belong to no namespace.
	ClassesHidden string
}
