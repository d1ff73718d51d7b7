package workload

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Section is one line about the database as a whole.
type Section struct{ Name, Text string }

// Sections returns the figures of the database in words, a line each.
func Sections(l workload.Load) []Section {
	t, o, q := l.Transactions, l.Operations, l.Queues
	return []Section{
		{"Transactions", fmt.Sprintf("%s started, %s committed, %s conflicted", rate(t.StartedPerSecond), rate(t.CommittedPerSecond), rate(t.ConflictedPerSecond))},
		{"Operations", fmt.Sprintf("%s reads (%s), %s writes (%s)", rate(o.ReadsPerSecond), bytesRate(o.ReadBytesPerSecond), rate(o.WritesPerSecond), bytesRate(o.WrittenBytesPerSecond))},
		{"Latency", fmt.Sprintf("start %s, read %s, commit %s", seconds(l.Latency.StartSeconds), seconds(l.Latency.ReadSeconds), seconds(l.Latency.CommitSeconds))},
		{"Ratekeeper", ratekeeper(l.Ratekeeper)},
		{"Queues", fmt.Sprintf("storage %s, log %s", phrase.BytesOr(q.StorageBytes, phrase.UnknownCell), phrase.BytesOr(q.LogBytes, phrase.UnknownCell))},
		{"Lag", fmt.Sprintf("data %s, durability %s", lag(l.Lag.DataSeconds), lag(l.Lag.DurabilitySeconds))},
		{"Data", fmt.Sprintf("%s stored, %s in flight, %s queued", phrase.BytesOr(l.Data.StoredBytes, phrase.UnknownCell), phrase.BytesOr(l.Data.InFlightBytes, phrase.UnknownCell), phrase.BytesOr(l.Data.QueuedBytes, phrase.UnknownCell))},
	}
}

func ratekeeper(r workload.Ratekeeper) string {
	limit := phrase.UnknownCell
	if r.LimitedBy != nil {
		limit = r.LimitedBy.Code
		if r.LimitedBy.Process != "" {
			limit += " of " + r.LimitedBy.Process
		}
	}
	return fmt.Sprintf("%s of at most %s started, limited by %s", rate(r.ReleasedPerSecond), rate(r.LimitPerSecond), limit)
}

func rate(n *float64) string { return in(workload.PerSecond, n, phrase.UnknownCell) }

func bytesRate(n *float64) string { return in(workload.BytesRate, n, phrase.UnknownCell) }

func seconds(n *float64) string { return in(workload.Seconds, n, phrase.UnknownCell) }

// in returns a figure in words, and absent where it is unknown.
func in(u workload.Unit, n *float64, absent string) string {
	if n == nil {
		return absent
	}
	return u.Text(*n)
}

// lag returns a lag in words. Milliseconds do not matter there.
func lag(n *float64) string {
	if n != nil && *n < 1 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", *n), ".0") + "s"
	}
	return seconds(n)
}

// barCells is the width of a bar.
const barCells = 6

// Bar returns a share as a percentage with a short bar of eighths of a cell before it, so that rows
// are compared at once.
func Bar(share *float64) string {
	if share == nil {
		return phrase.UnknownCell
	}
	return bar(*share) + " " + percent(share)
}

// percent returns a share in words of one width.
func percent(share *float64) string {
	if share == nil {
		return phrase.UnknownCell
	}
	return fmt.Sprintf("%3.0f%%", 100**share)
}

func bar(share float64) string {
	const parts = 8
	eighths := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	n := int(max(0, min(1, share))*barCells*parts + 0.5)
	text := strings.Repeat("█", n/parts) + eighths[n%parts]
	return text + strings.Repeat("·", barCells-(n+parts-1)/parts)
}
