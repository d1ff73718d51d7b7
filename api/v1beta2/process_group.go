package v1beta2

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stuckPendingAfter is how long a pod without an address must have been
// pending before its process group may be removed without proof of exclusion:
// a pod that never had an address never held data. Source: the operator's
// removal.
const stuckPendingAfter = time.Hour

// ProcessGroup returns the status of the process group with this ID, nil when
// there is none.
func (c *FoundationDBCluster) ProcessGroup(id ProcessGroupID) *ProcessGroupStatus {
	i := slices.IndexFunc(c.Status.ProcessGroups, func(g *ProcessGroupStatus) bool { return g.ProcessGroupID == id })
	if i < 0 {
		return nil
	}
	return c.Status.ProcessGroups[i]
}

// SortProcessGroups sorts process groups in the order in which they are
// stored, by ID. A stable order avoids writes that change nothing else.
func SortProcessGroups(groups []*ProcessGroupStatus) {
	slices.SortFunc(groups, func(a, b *ProcessGroupStatus) int {
		return strings.Compare(string(a.ProcessGroupID), string(b.ProcessGroupID))
	})
}

// IsMarkedForRemoval reports whether the process group is marked for removal.
func (s *ProcessGroupStatus) IsMarkedForRemoval() bool { return s.RemovalTimestamp != nil }

// MayBeExcluded reports whether an exclusion can concern the group: it is marked for
// removal, or its processes were observed to be excluded.
func (s *ProcessGroupStatus) MayBeExcluded() bool {
	return s.IsMarkedForRemoval() || s.HasCondition(ConditionProcessIsMarkedAsExcluded)
}

// MarkForRemoval marks the process group. An earlier mark keeps its time. Only
// the action KeepGroups reverts a mark.
func (s *ProcessGroupStatus) MarkForRemoval(now time.Time) {
	if s.RemovalTimestamp == nil {
		s.RemovalTimestamp = timestamp(now)
	}
}

// IsExcluded reports whether the exclusion is complete or skipped.
func (s *ProcessGroupStatus) IsExcluded() bool {
	return s.ExclusionTimestamp != nil || s.ExclusionSkipped
}

// IsRemovable reports whether the process group is marked for removal and requires
// no more exclusion: only its resources are left.
func (s *ProcessGroupStatus) IsRemovable() bool { return s.IsMarkedForRemoval() && s.IsExcluded() }

// SetExcluded records that the exclusion was observed to be complete, or
// keeps an earlier time. Only terminating resources matter from here on, so
// all other conditions are removed.
func (s *ProcessGroupStatus) SetExcluded(now time.Time) {
	if s.ExclusionTimestamp != nil {
		return
	}
	s.ExclusionTimestamp = timestamp(now)
	s.ProcessGroupConditions = slices.DeleteFunc(s.ProcessGroupConditions, func(c *ProcessGroupCondition) bool {
		return !s.outlivesRemoval(c.Type)
	})
}

// timestamp is a time as the API server stores it: in whole seconds.
func timestamp(at time.Time) *metav1.Time {
	t := metav1.NewTime(at).Rfc3339Copy()
	return &t
}

// ExclusionString is what FoundationDB excludes and includes for the process
// group when localities are used.
func (s *ProcessGroupStatus) ExclusionString() string { return s.ProcessGroupID.ExclusionString() }

// MergeAddresses merges the observed addresses. An empty list changes
// nothing: a pod without an address yet has not lost its former one.
func (s *ProcessGroupStatus) MergeAddresses(seen []string, merge AddressMerge) {
	seen = distinct(seen)
	if len(seen) == 0 {
		return
	}
	if merge == KeepFormerAddresses || s.IsMarkedForRemoval() {
		seen = distinct(append(slices.Clone(s.Addresses), seen...))
	}
	s.Addresses = seen
}

// AddressMerge defines what happens to addresses that are no longer observed.
type AddressMerge int

const (
	// DropFormerAddresses drops them, unless the process group is marked for
	// removal: every address it ever had must be excluded and included.
	DropFormerAddresses AddressMerge = iota
	// KeepFormerAddresses keeps them: the database is unavailable.
	KeepFormerAddresses
)

// distinct drops empty and repeated strings and keeps the order.
func distinct(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if text != "" && !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// AllAddressesExcluded reports whether no address of the process group in
// remaining holds data. remaining maps excluded addresses and exclusion
// strings to whether data still depends on them.
//
// It returns an error when the status has no address or ID to check, so that
// the answer is unknown. Unlike the operator, which trusts the exclusion
// string alone, it considers an address that still holds data as well: a log
// that the cluster controller cannot reach is only found by address.
func (s *ProcessGroupStatus) AllAddressesExcluded(remaining map[string]bool, now time.Time) (bool, error) {
	if s.IsExcluded() {
		return true, nil
	}
	if slices.ContainsFunc(s.Addresses, func(a string) bool { return remaining[a] }) {
		return false, nil
	}
	if left, known := remaining[s.ExclusionString()]; known {
		return !left, nil
	}
	if len(s.Addresses) == 0 {
		return s.withoutAddress(now)
	}
	for _, address := range s.Addresses {
		if _, known := remaining[address]; !known {
			return false, nil
		}
	}
	return true, nil
}

func (s *ProcessGroupStatus) withoutAddress(now time.Time) (bool, error) {
	if since, ok := s.Condition(ConditionPodPending); ok && now.Sub(since) > stuckPendingAfter {
		return true, nil
	}
	return false, fmt.Errorf("process group %s has no address, so its exclusion is unknown", s.ProcessGroupID)
}
