package frame

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

var (
	noon = inspecttest.Noon
	meta = inspect.Metadata{Cluster: "sample", Namespace: "fdb", Context: "prod", Tool: "kubectl-fdb test", RunID: "run1"}
)

// of returns what the documents are made of for a given cluster.
func of(g inspecttest.Given) inspect.Facts {
	return inspect.Facts{Snapshot: g.Snapshot, Gaps: g.Gaps, Desired: g.Desired, Recorded: g.Recorded, Lease: inspect.Lease{Read: true}}
}

func healthy(t *testing.T) inspect.Facts { t.Helper(); return of(inspecttest.Healthy(t)) }
