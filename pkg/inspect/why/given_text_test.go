package why_test

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

var (
	noon = inspecttest.Noon
	meta = inspect.Metadata{Cluster: "sample", Namespace: "fdb", Context: "prod", Tool: "kubectl-fdb test", RunID: "run1"}
)
