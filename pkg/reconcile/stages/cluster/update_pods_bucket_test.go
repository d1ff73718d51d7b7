package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Two buckets may share a fault domain where the spec only prefers that they do not.
func TestOneBucketPerClassIsTakenDownAtATime(t *testing.T) {
	pod := func(name string, class v1beta2.ProcessClass, bucket string) outdatedPod {
		return outdatedPod{PodOfGroup: plan.PodOfGroup{Name: name}, class: class, bucket: bucket}
	}
	for name, tc := range map[string]struct {
		pods []outdatedPod
		want []string
	}{
		"pods that are not packed":    {[]outdatedPod{pod("a", "storage", ""), pod("b", "storage", ""), pod("c", "log", "")}, []string{"a", "b", "c"}},
		"one bucket":                  {[]outdatedPod{pod("a", "storage", "storage-1"), pod("b", "storage", "storage-1")}, []string{"a", "b"}},
		"two of a class":              {[]outdatedPod{pod("a", "storage", "storage-1"), pod("b", "storage", "storage-0"), pod("c", "storage", "storage-1")}, []string{"a", "c"}},
		"one of each class":           {[]outdatedPod{pod("a", "storage", "storage-1"), pod("b", "log", "log-0"), pod("c", "log", "log-2")}, []string{"a", "b"}},
		"all classes packed together": {[]outdatedPod{pod("a", "storage", "all-3"), pod("b", "log", "all-5"), pod("c", "storage", "all-5")}, []string{"a", "b"}},
		"packed and not packed":       {[]outdatedPod{pod("a", "storage", "stateful-1"), pod("b", "stateless", ""), pod("c", "storage", "stateful-0")}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, podNames(ofOneBucket(tc.pods))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
