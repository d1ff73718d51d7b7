package inspect

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// CoordinatorListView is the document of `get coordinators`.
type CoordinatorListView struct {
	Document
	Desired int `json:"desired"`
	// Reachable is how many answer; null when that was not checked.
	Reachable       *int                    `json:"reachable"`
	QuorumReachable *bool                   `json:"quorumReachable"`
	Items           []CoordinatorDetailView `json:"items"`
}

// CoordinatorDetailView is one coordinator and its process group.
type CoordinatorDetailView struct {
	CoordinatorView
	// Group is the process group; empty where none of the cluster is known to have the address.
	Group string `json:"processGroup,omitempty"`
	Zone  string `json:"zone,omitempty"`
	DC    string `json:"dc,omitempty"`
	// Removing is whether its process group is marked for removal or excluded: then the
	// next pass moves the coordinator. Null when its group is unknown.
	Removing *bool `json:"removing"`
	TLS      bool  `json:"tls"`
}

// NewCoordinatorListView makes the document: from the database, and while that does not
// answer from the connection string in the status.
func NewCoordinatorListView(m Metadata, f Facts) CoordinatorListView {
	seen := f.Coordinators()
	v := CoordinatorListView{
		Document: NewDocument("CoordinatorList", m, f.Now, seen.Source),
		Desired:  seen.Desired, Reachable: seen.Reachable, QuorumReachable: seen.QuorumReachable, Items: []CoordinatorDetailView{},
	}
	v.AsOf = seen.AsOf
	v.Warnings = append(v.Warnings, f.Warnings...)
	v.Warnings = append(v.Warnings, f.CoordinatorWarnings()...)
	for _, c := range seen.Items {
		v.Items = append(v.Items, f.Coordinator(c))
	}
	return v
}

// CoordinatorWarnings are what has to be known of the source of coordinators.
func (f Facts) CoordinatorWarnings() []string {
	switch why := f.Database.Why(); {
	case why == "":
		return nil
	case f.CoordinatorDocument() != nil:
		return []string{why}
	default:
		return []string{"no answer from " + f.Database.Respondent() + ", so the coordinators are those in the status: " + why}
	}
}

func (f Facts) Coordinator(c CoordinatorView) CoordinatorDetailView {
	v := CoordinatorDetailView{CoordinatorView: c}
	address, err := fdb.ParseAddress(c.Address)
	if err != nil {
		return v
	}
	v.TLS, address.FromHostname = address.TLS, false
	if f.Database.Status != nil {
		for _, p := range f.Database.Status.ProcessList() {
			if p.ListensAt(address) {
				v.Group, v.Zone, v.DC = p.InstanceID(), p.Zone(), p.DC()
			}
		}
	}
	if g := f.GroupAt(v.Group, address); g != nil {
		removing := g.IsMarkedForRemoval() || g.IsExcluded() || f.IsExcludedInDatabase(g)
		v.Group, v.Removing = string(g.ProcessGroupID), &removing
		v.Zone = phrase.Or(v.Zone, string(g.FaultDomain))
	}
	return v
}

// GroupAt returns the process group with an ID, or the one at a coordinator's address: by one
// of its IPs, or by its pod's DNS name.
func (f Facts) GroupAt(id string, c fdb.Address) *v1beta2.ProcessGroupStatus {
	for _, g := range f.Groups() {
		switch {
		case id != "":
			if string(g.ProcessGroupID) == id {
				return g
			}
		case slices.Contains(g.Addresses, c.Host), strings.HasPrefix(c.Host, g.PodName(f.Cluster)+"."):
			return g
		}
	}
	return nil
}

// List returns the coordinators with their columns.
func (v CoordinatorListView) List() list.Table { return list.Of(CoordinatorColumns, v.Items) }

// Notes returns whether a quorum answers.
func (v CoordinatorListView) Notes() []string { return []string{v.Quorum()} }

// Quorum returns how many coordinators answer, and whether a quorum does.
func (v CoordinatorListView) Quorum() string {
	return fmt.Sprintf("%s of %d reachable, %d desired; quorum reachable: %s", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items), v.Desired, phrase.YesNo(v.QuorumReachable, phrase.UnknownCell))
}

// CoordinatorColumns are the columns of coordinators.
var CoordinatorColumns = []list.Column[CoordinatorDetailView]{
	{Title: "ADDRESS", Meaning: "Address in the connection string", Min: 16, Below: true, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Text(c.Address) }},
	{Title: "ID", Meaning: "ID of the process group that has the address", Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Known(c.Group) }},
	{Title: "ZONE", Meaning: "Fault domain of the process group", Drop: 1, Min: 10, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Known(c.Zone) }},
	{Title: "DC", Meaning: "Data center, where processes report one", Drop: 3, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Text(c.DC) }},
	{Title: "REACHABLE", Meaning: "Whether the coordinator answers", Typical: 9, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.YesNo(c.Reachable).In(c.Tone()) }},
	{Title: "REMOVAL", Meaning: "Whether its process group is marked for removal or excluded, so that the next pass moves the coordinator", Typical: 7, Drop: 2, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.YesNo(c.Removing) }},
	{Title: "TLS", Meaning: "Whether the address is one of TLS", Typical: 3, Drop: 4, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.YesNo(&c.TLS) }},
}

// Tone is how bad the state of a coordinator is.
func (v CoordinatorDetailView) Tone() list.Tone {
	switch {
	case !ptr.Deref(v.Reachable, true):
		return list.Bad
	case ptr.Deref(v.Removing, false):
		return list.Warn
	case v.Reachable == nil:
		return list.Unsure
	default:
		return list.Good
	}
}
