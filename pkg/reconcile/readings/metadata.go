package readings

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// MergeMetadata adds the labels and annotations of want that have lacks, and reports whether there
// were any. It changes have, a copy that the caller owns.
func MergeMetadata(have *metav1.ObjectMeta, want metav1.ObjectMeta) bool {
	labels, annotations := objects.MissingMetadata(*have, want)
	for key, value := range labels {
		metav1.SetMetaDataLabel(have, key, value)
	}
	for key, value := range annotations {
		metav1.SetMetaDataAnnotation(have, key, value)
	}
	return len(labels)+len(annotations) > 0
}
