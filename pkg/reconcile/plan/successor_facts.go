package plan

import "github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"

// SuccessorFacts are whether the API server accepts the objects of one more process group of each class, by a dry run.
type SuccessorFacts struct {
	// Read is false when nothing was tried: nothing is about to be replaced.
	Read bool
	// Refused are the classes whose objects are not accepted.
	Refused map[v1beta2.ProcessClass]Refusal
	// Unknown is why the dry run of a class did not show it.
	Unknown map[v1beta2.ProcessClass]string
	// Namespace are the quotas and ranges that decide about more than one object, and about larger ones.
	Namespace NamespaceFacts
}
