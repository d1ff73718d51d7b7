package exit

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrMissingKind is in the chain of errors of an API server without the definitions of the resources.
var ErrMissingKind = errors.New("no FoundationDBCluster resources")

// MissingKind returns the failure of a command where the API server does not have the resource type.
func MissingKind(err error) error {
	return Usage(fmt.Errorf("this Kubernetes cluster has %w: %w", ErrMissingKind, err))
}

// IsMissingKind reports whether the API server does not have the resource type; it returns the
// same code as for an object that does not exist.
func IsMissingKind(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}
