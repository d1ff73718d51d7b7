package stagestest

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ForeignCluster returns a healthy cluster whose storage-114 was created by a tool with other hashes.
func ForeignCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	g := FirstOf(s, v1beta2.ProcessClassStorage)
	s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "theirs"
	s.Volumes[g.PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "theirs"
	return s
}
