package workload

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Kinds returns the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{
		{Name: "PerformanceReport", PrintedBy: "why --performance", Document: workload.Report{}},
		{Name: "ProcessLoadList", PrintedBy: "top processes", Document: workload.ProcessList{}},
		{Name: "Workload", PrintedBy: "top", Document: workload.View{}},
	}
}
