package inspect

import (
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// NotReachable is the word for a coordinator that does not answer.
const NotReachable = "not reachable"

// coordinates adds the coordinator of a group by the connection string: a process that does not
// report remains a coordinator, and the database counts it.
func (f Facts) coordinates(v *GroupView, g *v1beta2.ProcessGroupStatus) {
	for _, c := range f.Coordinators().Items {
		address, err := fdb.ParseAddress(c.Address)
		if err != nil || !mayBeAt(f.Cluster, g, address) || f.Coordinator(c).Group != v.ID {
			continue
		}
		v.Coordinator, v.CoordinatorReachable = new(true), c.Reachable
		if ptr.Deref(c.Reachable, false) {
			return
		}
	}
}

// mayBeAt reports whether an address is one of a group's, by its IPs or its pod's DNS name.
// Another group may have come to it since.
func mayBeAt(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, at fdb.Address) bool {
	return slices.Contains(g.Addresses, at.Host) || strings.HasPrefix(at.Host, g.PodName(c)+".")
}

// CoordinatorWords returns whether the group has a coordinator, and whether that answers.
func (v GroupView) CoordinatorWords() string {
	if ptr.Deref(v.Coordinator, false) && v.CoordinatorReachable != nil && !*v.CoordinatorReachable {
		return "yes, " + NotReachable
	}
	return phrase.YesNo(v.Coordinator, phrase.UnknownCell)
}
