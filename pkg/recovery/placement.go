package recovery

import "fmt"

// Placement is where coordinators can be, and which volumes of lost PVCs may still exist.
type Placement struct {
	// Desired is how many coordinators the redundancy mode requires.
	Desired int `json:"desired"`
	// Shared is why the pods of the cluster are not all processes of a database in one data center;
	// empty if they are.
	Shared string `json:"shared,omitempty"`
	// Regions is how many regions the spec has: in several, each has resources of its own.
	Regions int `json:"regions,omitempty"`
	// Candidates are the process groups that can be coordinators: of an eligible class, not marked for
	// removal, in a known zone, and with a process that runs.
	Candidates []Candidate `json:"candidates"`
	// Volumes are PersistentVolumes of a deleted PVC that were not released, as those in deletion.
	Volumes []string `json:"volumes"`
	// Claims are PVCs of the cluster that no process group in the status has.
	Claims []string `json:"claims"`
	// VolumesUnknown is why PersistentVolumes could not be listed; empty otherwise.
	VolumesUnknown string `json:"volumesUnknown,omitempty"`
}

// Candidate is a process group that can be a coordinator.
type Candidate struct {
	Group string `json:"group"`
	Zone  string `json:"zone"`
	// Address is how a connection string names its process.
	Address string `json:"address"`
	// Directory is the data directory of that process.
	Directory string `json:"directory"`
	// Priority of its class: the higher one is preferred.
	Priority int `json:"priority"`
}

// obstacles are volumes that may have the state of a coordinator that counts as lost.
func (p Placement) obstacles() (all []string) {
	if p.VolumesUnknown != "" {
		all = append(all, "whether volumes of deleted PVCs exist is unknown: "+p.VolumesUnknown)
	}
	for _, name := range p.Claims {
		all = append(all, fmt.Sprintf("PVC %s of the cluster is of no process group in the status", name))
	}
	for _, name := range p.Volumes {
		all = append(all, fmt.Sprintf("volume %s of a deleted PVC still exists", name))
	}
	return all
}
