package inspect

import (
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CheckWords is a check in one line: its code, the question, the evidence.
func CheckWords(c plan.Check) string {
	if c.Gate == "" {
		return c.Text()
	}
	return string(c.Gate) + ": " + c.Text()
}

// OneLine keeps an error that holds several in one line.
func OneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }

// Commands makes whole command lines, for the cluster's context and namespace.
type Commands struct {
	FDB, Kubectl func(words ...string) string
}

// CompareTimes orders by time, unknown times last.
func CompareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return a.Compare(*b)
	}
}
