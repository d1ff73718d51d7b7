package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// SetPriorities sets the priorities of regions in the spec of every FoundationDBCluster of a database, that
// of the pass last. It writes no other field of the spec.
type SetPriorities struct {
	// Cluster is the resource of the pass.
	Cluster string `json:"cluster"`
	// To is the data center whose region becomes primary.
	To        string            `json:"to"`
	Resources []RegionsResource `json:"resources"`
}

// RegionsResource is a FoundationDBCluster whose regions are changed.
type RegionsResource struct {
	Name string `json:"name"`
	// UID and Generation are those of the resource that was read: of another one nothing is changed.
	UID        types.UID `json:"uid"`
	Generation int64     `json:"generation"`
	// Changes are the data centers whose priority is changed.
	Changes []PriorityChange `json:"changes"`
	// Regions are all regions of the spec, with the priorities changed.
	Regions []v1beta2.Region `json:"regions"`
}

// PriorityChange is another priority of a data center.
type PriorityChange struct {
	DataCenter string `json:"dataCenter"`
	// Path is the field in the spec.
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// NewRegionsResource returns the change of a resource; false if it has these regions.
func NewRegionsResource(c *v1beta2.FoundationDBCluster, regions []v1beta2.Region) (r RegionsResource, differs bool) {
	r = RegionsResource{Name: c.Name, UID: c.UID, Generation: c.Generation, Regions: regions}
	for i, region := range c.Spec.DatabaseConfiguration.Regions {
		for j, dc := range region.Datacenters {
			if i >= len(regions) || j >= len(regions[i].Datacenters) || regions[i].Datacenters[j].Priority == dc.Priority {
				continue
			}
			r.Changes = append(r.Changes, PriorityChange{
				DataCenter: dc.ID, Path: fmt.Sprintf("spec.databaseConfiguration.regions[%d].datacenters[%d].priority", i, j), From: dc.Priority, To: regions[i].Datacenters[j].Priority,
			})
		}
	}
	return r, len(r.Changes) > 0
}

// Describe implements Action.
func (a SetPriorities) Describe() string {
	var words []string
	for _, r := range a.Resources {
		for _, c := range r.Changes {
			words = append(words, fmt.Sprintf("%s: %s (%s) from %d to %d", r.Name, c.Path, c.DataCenter, c.From, c.To))
		}
	}
	return "set priorities of regions: " + strings.Join(words, "; ")
}

// Subject implements Action.
func (a SetPriorities) Subject() string { return a.Cluster }

func (SetPriorities) effect() Effect {
	return Effect{Stale: ClusterResource | OtherClusters, Impact: NoImpact}
}

// Apply implements Edit.
func (a SetPriorities) Apply(s Snapshot) Snapshot {
	for _, r := range a.Resources {
		if s.Cluster != nil && r.Name == s.Cluster.Name {
			s.Cluster = s.Cluster.DeepCopy()
			s.Cluster.Spec.DatabaseConfiguration.Regions = r.Regions
		}
	}
	s.OtherClusters.All = slices.Clone(s.OtherClusters.All)
	for i := range s.OtherClusters.All {
		for _, r := range a.Resources {
			if s.OtherClusters.All[i].Name == r.Name {
				s.OtherClusters.All[i].Spec.DatabaseConfiguration.Regions = r.Regions
			}
		}
	}
	return s
}
