package session

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func TestTheRESTMapperKnowsCronJobs(t *testing.T) {
	if _, err := NewMapper().RESTMapping(batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind(), "v1"); err != nil {
		t.Error(err)
	}
}
