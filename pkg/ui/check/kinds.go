package check

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Kinds returns the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{
		{Name: "CheckReport", PrintedBy: "check", Document: Report{}},
		{Name: "CheckReportList", PrintedBy: "check -A", Document: ReportList{}},
		{Name: "CheckRuleList", PrintedBy: "check --list", Document: RuleList{}},
	}
}
