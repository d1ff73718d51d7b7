package recovery

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// The steps of PodsLost and VolumesReleased, in the order in which they are carried out.
const (
	// StepReserveVolumes removes the UIDs of deleted PVCs from the volumes, which reserves each volume
	// for a PVC of the same name.
	StepReserveVolumes Step = "reserve-volumes"
	// StepRebuild writes the connection string and the process groups to a status that is empty.
	StepRebuild Step = "rebuild-status"
	// StepPVCs creates the PVCs, each with the name of its volume, and waits until they are bound.
	StepPVCs Step = "create-pvcs"
	// StepPods creates the pods, those of coordinators first.
	StepPods Step = "create-pods"
	// StepPodsRun waits until all pods run and can be read.
	StepPodsRun Step = "wait-pods"
	// StepAddresses recovers coordinators that have other addresses since.
	StepAddresses Step = "follow-addresses"
)

// Creation is a pod that a plan creates on its own PVC.
type Creation struct {
	Group string `json:"group"`
	Pod   string `json:"pod"`
	// PVC and Volume are empty for a process group without data.
	PVC    string `json:"pvc,omitempty"`
	Volume string `json:"volume,omitempty"`
	// Coordinator is whether the process group was a coordinator, by its address in the status.
	Coordinator bool `json:"coordinator"`
}

func (k Kind) createsPods() bool { return k == PodsLost || k == VolumesReleased }

// podsLost finds process groups with a PVC and without a running pod.
func podsLost(f Facts) (Assessment, bool) {
	var missing, without []string
	for _, g := range f.Groups {
		switch {
		case !g.Stateful || g.Removed:
		case g.PVC == "" || g.Volume == "":
			without = append(without, g.ID)
		case g.Pod == "" || g.Phase != phaseRunning:
			missing = append(missing, g.Name())
		}
	}
	if len(missing) == 0 {
		return Assessment{}, false
	}
	saved, lost := "everything: all PVCs exist", "nothing"
	if len(without) > 0 {
		saved, lost = "what is on the PVCs that exist", "what only the volumes had of "+phrase.List(without)
	}
	a := assessment(PodsLost, saved, lost,
		phrase.Count(len(missing), "process group")+" with a PVC and without a running pod: "+phrase.List(missing))
	a.Obstacles = append(a.Obstacles, f.podObstacles()...)
	a.Handled = len(a.Obstacles) == 0
	return a, true
}

// The phases of pods and PVCs to which plans refer.
const (
	phaseRunning     = "Running"
	phaseTerminating = "Terminating"
)

// podObstacles are why pods must not be created.
func (f Facts) podObstacles() []string {
	var all []string
	if texts := f.strings(); len(texts) > 1 {
		all = append(all, fmt.Sprintf("%d different connection strings exist, 1 required: %s", len(texts), listed(texts)))
	}
	return append(all, f.volumeUsers()...)
}

// volumeUsers are why a volume could get a second pod, or none.
func (f Facts) volumeUsers() []string {
	var all []string
	if f.UsersUnknown != "" {
		all = append(all, "which pods mount the PVCs is unknown: "+f.UsersUnknown)
	}
	for _, g := range f.Groups {
		all = append(all, g.podObstacles()...)
	}
	return all
}

func (g Group) podObstacles() []string {
	var all []string
	if len(g.UsedBy) > 0 {
		all = append(all, fmt.Sprintf("PVC %s is mounted by %s: delete it first, a volume has one pod", g.Names.PVC, phrase.List(g.UsedBy)))
	}
	if g.PVCPhase == phaseTerminating {
		all = append(all, fmt.Sprintf("PVC %s is being deleted: set persistentVolumeReclaimPolicy of volume %s to Retain, and plan again once the PVC is deleted", g.PVC, g.Volume))
	}
	if g.Phase == "Failed" || g.Phase == "Succeeded" {
		all = append(all, fmt.Sprintf("pod %s has ended (%s): delete the pod, and plan again", g.Pod, g.Phase))
	}
	return all
}

// createPods adds the steps and the pods of a plan that creates pods.
func (p *Plan) createPods(f Facts) {
	p.From = f.Recorded
	if p.Kind == VolumesReleased {
		p.Bind, p.Rebuild = f.bindings(), f.rebuilt()
	}
	p.Create = f.creations(p.Bind)
	p.Steps = p.podSteps(f)
}

// podSteps returns the steps of a plan that creates pods.
func (p Plan) podSteps(f Facts) (steps []Step) {
	if p.Kind == VolumesReleased {
		steps = append(steps, StepReserveVolumes)
		if len(p.Rebuild) > 0 {
			steps = append(steps, StepRebuild)
		}
		steps = append(steps, StepPVCs)
	}
	steps = append(steps, StepPods, StepPodsRun)
	if f.coordinatesByIP() {
		steps = append(steps, StepAddresses)
	}
	return append(steps, StepAvailable)
}

// creations are the pods that do not exist and whose volume does: coordinators first, then others
// with data.
func (f Facts) creations(bind []Binding) []Creation {
	all := []Creation{}
	for _, g := range f.Groups {
		volume := g.Volume
		if i := slices.IndexFunc(bind, func(b Binding) bool { return b.Group == g.ID }); i >= 0 {
			volume = bind[i].Volume
		}
		if g.Removed || g.Pod != "" && g.Phase != phaseTerminating || g.Stateful && volume == "" {
			continue
		}
		c := Creation{Group: g.ID, Pod: g.Names.Pod, Coordinator: slices.ContainsFunc(f.Coordinators, func(c Coordinator) bool { return g.was(c) })}
		if g.Stateful {
			c.PVC, c.Volume = g.Names.PVC, volume
		}
		all = append(all, c)
	}
	stable.Sort(all, func(a, b Creation) int { return cmp.Compare(a.turn(), b.turn()) })
	return all
}

// turn is when a pod is created: the lower, the earlier.
func (c Creation) turn() int {
	switch {
	case c.Coordinator:
		return 0
	case c.PVC != "":
		return 1
	}
	return 2
}

// was reports whether a process group is the coordinator: by its address in the status, or its DNS name.
func (g Group) was(c Coordinator) bool {
	address, err := fdb.ParseAddress(c.Address)
	return err == nil && (g.isAt(address.Host) || g.Names.DNS != "" && g.Names.DNS == address.Host)
}

func (f Facts) coordinatesByIP() bool {
	return slices.ContainsFunc(f.Coordinators, func(c Coordinator) bool {
		address, err := fdb.ParseAddress(c.Address)
		return err != nil || address.IsIP()
	})
}

// movedWithoutPods returns what changed since a plan that creates pods was made. Pods that the plan
// creates, and PVCs that it binds, are no difference.
func (p Plan) movedWithoutPods(f Facts) []string {
	all := p.Basis.withoutCreated(p).differences(basisOf(f).withoutCreated(p))
	for text, places := range f.strings() {
		if text != canonical(p.From) && text != canonical(p.followed(f)) {
			all = append(all, fmt.Sprintf("%s: a connection string that is not of the plan: %s", phrase.List(places), text))
		}
	}
	all = append(all, f.volumeUsers()...)
	all = append(all, p.movedVolumes(f)...)
	for _, r := range p.Rebuild {
		if i := slices.IndexFunc(f.Groups, func(g Group) bool { return g.ID == r.ID }); i >= 0 && f.Groups[i].Class != r.Class {
			all = append(all, fmt.Sprintf("%s: its class is %s, not %s", r.ID, f.Groups[i].Class, r.Class))
		}
	}
	slices.Sort(all)
	return all
}

// withoutCreated returns the basis without pods, addresses and files of pods that the plan creates or
// waits for, and with the volumes that it binds.
func (b Basis) withoutCreated(p Plan) Basis {
	out := Basis{UID: b.UID}
	for _, g := range b.Groups {
		if slices.ContainsFunc(p.Create, func(c Creation) bool { return c.Group == g.ID }) {
			g.PodUID = ""
		}
		if i := slices.IndexFunc(p.Bind, func(b Binding) bool { return b.Group == g.ID }); i >= 0 && g.Volume == "" {
			g.Volume = p.Bind[i].Volume
		}
		g.Now, g.Coordinates = nil, false
		out.Groups = append(out.Groups, g)
	}
	return out
}

// followed returns the connection string that the coordinators have now, by the rules of
// CoordinatorsMoved; empty if it cannot be determined.
func (p Plan) followed(f Facts) string {
	moves, obstacles := p.formerly(f).moves()
	if len(obstacles) > 0 {
		return ""
	}
	to, err := moveTo(p.From, moves)
	if err != nil {
		return ""
	}
	return to
}

// formerly returns the facts with the coordinators of the plan, whatever the status has now.
func (p Plan) formerly(f Facts) Facts {
	s, err := fdb.ParseConnectionString(p.From)
	if err != nil {
		return f
	}
	known := f.Coordinators
	f.Recorded, f.Coordinators = p.From, nil
	for _, a := range s.Coordinators {
		c := Coordinator{Address: a.Coordinator()}
		if i := slices.IndexFunc(known, func(k Coordinator) bool { return k.Address == c.Address }); i >= 0 {
			c.Reachable = known[i].Reachable
		}
		f.Coordinators = append(f.Coordinators, c)
	}
	return f
}

// Missing returns what the pods of a plan lack before the next step; empty if all run and can be read.
func (p Plan) Missing(f Facts) string {
	var all []string
	for _, g := range f.Groups {
		switch {
		case g.Removed || g.Stateful && g.Volume == "":
		case g.Pod == "":
			all = append(all, g.Names.Pod+" (not created)")
		case g.Phase != phaseRunning:
			all = append(all, fmt.Sprintf("%s (%s)", g.Pod, phrase.Or(g.Phase, phrase.UnknownCell)))
		case g.Files == nil || len(g.Now) == 0:
			all = append(all, fmt.Sprintf("%s (%s)", g.Pod, phrase.Or(g.Unread, "not read")))
		}
	}
	switch {
	case len(all) > 0:
		return phrase.Count(len(all), "pod") + " not running: " + phrase.List(all)
	case f.Quorum == nil:
		return "whether a quorum of coordinators answers is unknown: " + f.Unknown
	}
	return ""
}

// CoordinatorsRun reports whether the pods of so many former coordinators run that they are a quorum;
// true if fewer are known.
func (p Plan) CoordinatorsRun(f Facts) bool {
	former, known, running := p.formerly(f), 0, 0
	for _, g := range f.Groups {
		if slices.ContainsFunc(former.Coordinators, func(c Coordinator) bool { return g.was(c) }) {
			known++
			if g.Phase == phaseRunning {
				running++
			}
		}
	}
	return running >= min(known, quorum(former))
}

// Follow returns the plan for coordinators that have other addresses since their pods were created, by
// the rules and with the obstacles of CoordinatorsMoved; one without steps if none moved, or if the database
// is available with the former ones, as with a quorum of them in other data centers. It has the digest of p,
// of which it is a part.
func (p Plan) Follow(f Facts) (next Plan, obstacles []string) {
	former := p.formerly(f)
	if former.stayed() || isTrue(f.Quorum) && isTrue(f.Available) && f.asks(p.From) {
		return Plan{To: p.From}, nil
	}
	moves, obstacles := former.moves()
	if len(obstacles) > 0 {
		return Plan{}, obstacles
	}
	to, err := moveTo(p.From, moves)
	if err != nil {
		return Plan{}, []string{err.Error()}
	}
	a, _ := moved(former.asBefore(p.From, to))
	next = Plan{
		Cluster: p.Cluster, Namespace: p.Namespace, Assessment: a, From: p.From, To: to, Basis: basisOf(f), Digest: p.Digest,
		Steps: []Step{StepClusterFiles, StepConfigMap, StepStatus, StepRestart},
	}
	if len(a.Obstacles) > 0 {
		return next, a.Obstacles
	}
	return next, next.Moved(f)
}

// stayed reports whether every coordinator is where it was.
func (f Facts) stayed() bool {
	for _, c := range f.Coordinators {
		address, err := fdb.ParseAddress(c.Address)
		if err != nil {
			return false
		}
		if g := f.groupOf(c); address.IsIP() && (g == nil || !g.nowAt(address.Host)) {
			return false
		}
	}
	return true
}

// asBefore returns the facts with the former connection string where a run that was interrupted has
// written the next one.
func (f Facts) asBefore(from, to string) Facts {
	former := func(text string) string {
		if SameConnectionString(text, to) {
			return from
		}
		return text
	}
	f.ConfigMap = former(f.ConfigMap)
	f.Groups = slices.Clone(f.Groups)
	for i, g := range f.Groups {
		if g.Files != nil {
			files := *g.Files
			files.ClusterFile = former(files.ClusterFile)
			f.Groups[i].Files = &files
		}
	}
	return f
}

// IsBack reports whether the database is available with the connection string of the plan, and every
// process group with data whose pod exists reports to it.
func (p Plan) IsBack(f Facts, h Health) bool {
	f.Groups = slices.DeleteFunc(slices.Clone(f.Groups), func(g Group) bool { return g.Pod == "" || g.Removed })
	return p.IsReached(f) && AllReport(f, h)
}
