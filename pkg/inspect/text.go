package inspect

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CheckWords is a check in one line: its code, the question, the evidence.
func CheckWords(c plan.Check) string {
	if c.Gate == "" {
		return c.Words()
	}
	return string(c.Gate) + ": " + c.Words()
}

// OneLine keeps an error that holds several in one line.
func OneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }
