package stagestest

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RecordedInput is what most decisions were recorded with.
type RecordedInput struct {
	Now          opcases.Seconds              `json:"now"`
	Cluster      *v1beta2.FoundationDBCluster `json:"cluster"`
	ProcessGroup *v1beta2.ProcessGroupStatus  `json:"processGroup"`
	Status       opcases.Document             `json:"status"`
}

// Snapshot returns the snapshot of a recorded cluster, with a status document where it is not nil.
func (in *RecordedInput) Snapshot(status *fdb.Status) plan.Snapshot {
	now := in.Now.Time()
	if in.Cluster == nil {
		in.Cluster = &v1beta2.FoundationDBCluster{}
	}
	s := plan.Snapshot{Now: now, Cluster: in.Cluster, Successors: plan.SuccessorFacts{Read: true}}
	if status != nil {
		s.Database = plan.DatabaseFacts{Status: status, AsOf: now}
	}
	return s
}

// RecordedVerdict is the outcome of a function that returns an error or a truth value.
type RecordedVerdict struct {
	Err opcases.Failure `json:"err"`
	R0  *bool           `json:"r0"`
}

// Outcome returns the verdict as an outcome to compare.
func (v RecordedVerdict) Outcome() opcases.Outcome {
	return opcases.Verdict(v.Err == "" && (v.R0 == nil || *v.R0))
}
