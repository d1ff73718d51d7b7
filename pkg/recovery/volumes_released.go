package recovery

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Binding is a PVC that is created again and bound to the volume that it had.
type Binding struct {
	Group  string `json:"group"`
	PVC    string `json:"pvc"`
	Volume string `json:"volume"`
	// VolumeUID identifies the volume, ClaimUID the deleted PVC.
	VolumeUID string `json:"volumeUID"`
	ClaimUID  string `json:"claimUID,omitempty"`
}

// Rebuilt is a process group that is added to an empty status.
type Rebuilt struct {
	ID    string `json:"id"`
	Class string `json:"class"`
}

// inferred reports whether the status is empty and process groups are known by their volumes alone.
func (f Facts) inferred() bool {
	return slices.ContainsFunc(f.Groups, func(g Group) bool { return g.Inferred })
}

func (f Facts) rebuilt() []Rebuilt {
	var all []Rebuilt
	for _, g := range f.Groups {
		if g.Inferred {
			all = append(all, Rebuilt{ID: g.ID, Class: g.Class})
		}
	}
	return all
}

// retain is the reclaim policy that keeps volumes.
const retain = "Retain"

// released finds process groups of which a released volume exists and that have no PVC, or one that is
// bound to another volume.
func released(f Facts) (Assessment, bool) {
	var names, kept []string
	for _, v := range f.Released {
		if g := f.withPVC(v.PVC); g != nil && g.Volume == v.Name {
			continue // reserved, and about to be bound
		}
		names = append(names, v.Name+" ("+v.PVC+")")
	}
	for _, v := range f.Releasing {
		names = append(names, v.Name+" ("+v.PVC+")")
	}
	if len(names) == 0 {
		return Assessment{}, false
	}
	a := assessment(VolumesReleased, "all data on the released volumes, once PVCs are bound to them again", "nothing: every process group with data has a volume",
		phrase.Count(len(names), "released volume")+": "+phrase.List(names))
	for _, g := range f.Groups {
		if g.Stateful && !g.Removed && !f.hasVolume(g) && !slices.ContainsFunc(f.Releasing, func(v ReleasingVolume) bool { return v.PVC == g.Names.PVC }) {
			kept = append(kept, g.ID)
		}
	}
	if len(kept) > 0 {
		a.Lost = "what only the volumes had of " + phrase.List(kept)
	}
	if f.inferred() {
		a.Lost = "what is on no volume: the status is empty, so which other process groups existed is unknown"
		a.Evidence = append(a.Evidence, phrase.Count(len(f.Groups), "process group")+" known by volumes alone, the status has none")
	}
	a.Obstacles = append(f.volumeObstacles(), f.podObstacles()...)
	a.Handled = len(a.Obstacles) == 0
	return a, true
}

// withPVC returns the process group that has a PVC of this name; nil if none has.
func (f Facts) withPVC(name string) *Group {
	for i, g := range f.Groups {
		if g.PVC == name {
			return &f.Groups[i]
		}
	}
	return nil
}

// volumeObstacles are why released volumes must not be bound again.
func (f Facts) volumeObstacles() []string {
	all := []string{}
	for i, v := range f.Released {
		if slices.ContainsFunc(f.Released[:i], func(o ReleasedVolume) bool { return o.PVC == v.PVC }) {
			all = append(all, fmt.Sprintf("PVC %s has two or more released volumes: which one has its data is unknown", v.PVC))
		}
		if v.Policy != retain {
			all = append(all, fmt.Sprintf("volume %s has the reclaim policy %s and can be deleted: set persistentVolumeReclaimPolicy to Retain", v.Name, v.Policy))
		}
		if g := f.withPVC(v.PVC); g != nil && g.Volume != v.Name {
			all = append(all, fmt.Sprintf("PVC %s exists (volume: %s) while volume %s was bound to one of this name: which one has the data is unknown", v.PVC, phrase.Or(g.Volume, phrase.Nothing), v.Name))
		}
	}
	for _, v := range f.Releasing {
		all = append(all, fmt.Sprintf("volume %s is %s, and its PVC %s does not exist: plan again once the volume is Released", v.Name, v.Phase, v.PVC))
	}
	if f.mayHaveQuorum() {
		all = append(all, "whether a quorum of coordinators answers is unknown, and pods run: "+f.Unknown)
	}
	without := 0
	for _, c := range f.Coordinators {
		if i := slices.IndexFunc(f.Groups, func(g Group) bool { return g.was(c) }); i >= 0 && !f.hasVolume(f.Groups[i]) {
			without++
		}
	}
	if f.Recorded == "" {
		all = append(all, "no connection string in the status, the ConfigMap and the spec: set spec.seedConnectionString to the one of a client's cluster file")
	}
	if without > 0 && without > len(f.Coordinators)-quorum(f) {
		all = append(all, fmt.Sprintf("%s without a volume, %d required with one", phrase.CountOf(without, len(f.Coordinators), "coordinator"), quorum(f)))
	}
	return all
}

// mayHaveQuorum reports whether it is unknown if a quorum answers, although pods run that could.
func (f Facts) mayHaveQuorum() bool {
	return f.Quorum == nil && slices.ContainsFunc(f.Groups, func(g Group) bool { return g.Phase == phaseRunning })
}

func (f Facts) hasVolume(g Group) bool {
	return g.Volume != "" || slices.ContainsFunc(f.Released, func(v ReleasedVolume) bool { return v.PVC == g.Names.PVC })
}

// bindings are the PVCs to create, one per released volume of a process group without a PVC.
func (f Facts) bindings() []Binding {
	var all []Binding
	for _, g := range f.Groups {
		if g.PVC != "" || g.Removed {
			continue
		}
		for _, v := range f.Released {
			if v.PVC == g.Names.PVC {
				all = append(all, Binding{Group: g.ID, PVC: v.PVC, Volume: v.Name, VolumeUID: v.UID, ClaimUID: v.ClaimUID})
			}
		}
	}
	return all
}

// movedVolumes returns what changed of the volumes that a plan binds.
func (p Plan) movedVolumes(f Facts) []string {
	var all []string
	open := 0
	for _, b := range p.Bind {
		if g := f.withPVC(b.PVC); g != nil && g.Volume == b.Volume {
			continue // created by this plan; its volume is compared as part of the basis
		}
		open++
		of := slices.DeleteFunc(slices.Clone(f.Released), func(v ReleasedVolume) bool { return v.PVC != b.PVC })
		switch {
		case f.withPVC(b.PVC) != nil:
			all = append(all, fmt.Sprintf("PVC %s exists, and is not bound to volume %s", b.PVC, b.Volume))
		case len(of) != 1:
			all = append(all, fmt.Sprintf("PVC %s has %s, 1 required", b.PVC, phrase.Count(len(of), "released volume")))
		case of[0].Name != b.Volume || of[0].UID != b.VolumeUID || of[0].ClaimUID != b.ClaimUID && of[0].ClaimUID != "":
			all = append(all, fmt.Sprintf("PVC %s: volume %s is another one, or was used by another PVC", b.PVC, of[0].Name))
		case of[0].Policy != retain:
			all = append(all, fmt.Sprintf("volume %s has the reclaim policy %s, Retain required", b.Volume, of[0].Policy))
		}
	}
	if open > 0 && f.mayHaveQuorum() {
		all = append(all, "whether a quorum of the former coordinators answers is unknown, and pods run: "+f.Unknown)
	}
	if open > 0 && isTrue(f.Quorum) {
		all = append(all, "a quorum of the former coordinators answers: nothing has to be recovered")
	}
	return all
}
