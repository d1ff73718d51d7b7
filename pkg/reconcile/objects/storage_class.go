package objects

import (
	"strconv"

	storagev1 "k8s.io/api/storage/v1"
)

// Annotations of the default class, the second one of old versions.
const (
	AnnotationDefaultClass    = "storageclass.kubernetes.io/is-default-class"
	oldAnnotationDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

// IsDefaultClass reports whether a storage class is that of PVCs which name none.
func IsDefaultClass(c storagev1.StorageClass) bool {
	return c.Annotations[AnnotationDefaultClass] == strconv.FormatBool(true) || c.Annotations[oldAnnotationDefaultClass] == strconv.FormatBool(true)
}
