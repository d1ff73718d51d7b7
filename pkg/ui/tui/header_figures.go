package tui

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// figures returns the numbers that describe a cluster, as many as fit into a line; nil before the first frame.
func (s clusterView) figures(width int) []line {
	if s.frame == nil {
		return nil
	}
	pieces := []line{{s.version()}, {s.groupsUp()}, {s.coordinatorsUp()}, {styled(plain, s.rate())}, {styled(plain, s.latency())}, {s.disk()}}
	return flowed(pieces, styled(faint, " · "), 0, width)[:1]
}

// version returns what the database runs, and how it replicates as far as that is known.
func (s clusterView) version() span {
	v := s.frame.Status
	text := phrase.Or(v.Database.Version, phrase.UnknownCell)
	if live := v.Configuration.Live; live != nil && live.RedundancyMode != "" {
		text += " " + live.RedundancyMode
	}
	return styled(plain, text)
}

// groupsUp returns how many process groups have processes that report.
func (s clusterView) groupsUp() span {
	up, unknown, all := 0, false, s.frame.Groups.Items
	for _, g := range all {
		unknown = unknown || g.Processes == nil
		if ptr.Deref(g.Processes, 0) > 0 {
			up++
		}
	}
	switch {
	case unknown:
		return styled(warn, fmt.Sprintf("%s/%d groups", phrase.UnknownCell, len(all)))
	case up < len(all):
		return styled(warn, fmt.Sprintf("%d/%d groups", up, len(all)))
	default:
		return styled(plain, fmt.Sprintf("%d/%d groups", up, len(all)))
	}
}

// coordinatorsUp returns how many coordinators answer.
func (s clusterView) coordinatorsUp() span {
	v, t := s.frame.Coordinators, plain
	if v.Reachable == nil || *v.Reachable < len(v.Items) {
		t = warn
	}
	if !ptr.Deref(v.QuorumReachable, true) {
		t = bad
	}
	return styled(t, fmt.Sprintf("%s/%d coordinators", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items)))
}

// rate returns how many transactions are committed per second.
func (s clusterView) rate() string {
	if v := s.frame.Workload; v != nil && v.Load.Transactions.CommittedPerSecond != nil {
		return workload.Rate(*v.Load.Transactions.CommittedPerSecond) + " tx/s"
	}
	return phrase.UnknownCell + " tx/s"
}

// latency returns what a commit takes.
func (s clusterView) latency() string {
	if v := s.frame.Workload; v != nil && v.Load.Latency.CommitSeconds != nil {
		return workload.Time(*v.Load.Latency.CommitSeconds) + " per commit"
	}
	return phrase.UnknownCell + " per commit"
}

// disk returns how full the fullest disk is.
func (s clusterView) disk() span {
	var fullest *float64
	for _, g := range s.frame.Groups.Items {
		if g.SpaceUsed != nil && (fullest == nil || *g.SpaceUsed > *fullest) {
			fullest = g.SpaceUsed
		}
	}
	if fullest == nil {
		return styled(plain, phrase.UnknownCell+" disk")
	}
	t := map[workload.Effect]tone{"": plain, workload.Near: warn, workload.Slows: bad}[workload.RuleOf(workload.DiskSpace).Effect(*fullest)]
	return styled(t, workload.Percent(*fullest)+" disk")
}
