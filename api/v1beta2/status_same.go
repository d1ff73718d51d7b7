package v1beta2

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SameAs reports whether two statuses are equal, as equality.Semantic.DeepEqual does: absent and
// empty lists are the same. Process groups are compared field by field, without reflection, since
// there may be a thousand of them.
func (s *FoundationDBClusterStatus) SameAs(other *FoundationDBClusterStatus) bool {
	if !slices.EqualFunc(s.ProcessGroups, other.ProcessGroups, (*ProcessGroupStatus).SameAs) {
		return false
	}
	a, b := *s, *other
	a.ProcessGroups, b.ProcessGroups = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}

// SameAs reports whether two process groups are equal in the same sense.
func (g *ProcessGroupStatus) SameAs(other *ProcessGroupStatus) bool {
	if g == nil || other == nil {
		return g == other
	}
	return g.ProcessGroupID == other.ProcessGroupID && g.ProcessClass == other.ProcessClass && g.FaultDomain == other.FaultDomain &&
		slices.Equal(g.Addresses, other.Addresses) &&
		sameTime(g.RemovalTimestamp, other.RemovalTimestamp) && sameTime(g.ExclusionTimestamp, other.ExclusionTimestamp) &&
		g.ExclusionSkipped == other.ExclusionSkipped &&
		slices.EqualFunc(g.ProcessGroupConditions, other.ProcessGroupConditions, sameCondition)
}

func sameTime(a, b *metav1.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

func sameCondition(a, b *ProcessGroupCondition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
