// Package check prints the report of `check`: as tables, Markdown, JUnit and SARIF.
package check

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Kinds returns the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{
		{Name: "CheckReport", PrintedBy: "check", Document: check.Report{}},
		{Name: "CheckReportList", PrintedBy: "check -A", Document: check.ReportList{}},
		{Name: "CheckRuleList", PrintedBy: "check --list", Document: check.RuleList{}},
	}
}
