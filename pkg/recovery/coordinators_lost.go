package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// The pair of files in which a coordinator keeps its state.
const (
	CoordinationFile0 = "coordination-0.fdq"
	CoordinationFile1 = "coordination-1.fdq"
)

// CoordinationCopy is what a plan of CoordinatorsLost does with coordination state.
type CoordinationCopy struct {
	// Source is the survivor whose state is copied.
	Source Survivor `json:"source"`
	// Survivors are all former coordinators with state, in the order of the connection string.
	Survivors []Survivor `json:"survivors"`
	// Coordinators are those of the new connection string, in its order.
	Coordinators []NewCoordinator `json:"coordinators"`
	// Lost are the addresses of the lost coordinators.
	Lost []string `json:"lost"`
	// WithoutVolumes are the process groups with neither a pod nor a PVC.
	WithoutVolumes []string `json:"gone"`
}

// Survivor is a former coordinator whose coordination state is left.
type Survivor struct {
	Group string `json:"group"`
	Pod   string `json:"pod"`
	// Address is the one in the connection string before; empty if it is unknown which one.
	Address string `json:"address"`
	// Directory has the pair of files.
	Directory string `json:"directory"`
	// Modified and Bytes are of both files: the later time, and the sum.
	Modified time.Time `json:"modified"`
	Bytes    int64     `json:"bytes"`
}

// NewCoordinator is a coordinator of the new connection string.
type NewCoordinator struct {
	Group     string `json:"group"`
	Pod       string `json:"pod"`
	Zone      string `json:"zone"`
	Address   string `json:"address"`
	Directory string `json:"directory"`
	// Keeps is whether it is a survivor and keeps its own state; the others get that of the source.
	Keeps bool `json:"keeps"`
}

// copiedSteps are the steps of a plan that copies coordination state.
func copiedSteps() []Step {
	return []Step{StepKeepCoordination, StepCopyCoordination, StepClusterFiles, StepConfigMap, StepStatus, StepRestart, StepAvailable}
}

// The steps of CoordinatorsLost, before those of every plan.
const (
	// StepKeepCoordination keeps a copy of the coordination files in the volumes of survivors and of new
	// coordinators.
	StepKeepCoordination Step = "keep-coordination"
	// StepCopyCoordination copies the coordination files of the source to the new coordinators.
	StepCopyCoordination Step = "copy-coordination"
)

// coordinatorsLost finds a majority of coordinators whose process group has neither a pod nor a PVC.
func coordinatorsLost(f Facts) (Assessment, bool) {
	found := f.coordinatorsLeft()
	if found.count() <= len(f.Coordinators)-quorum(f) {
		return Assessment{}, false
	}
	a := assessment(CoordinatorsLost, "unknown", "unknown",
		fmt.Sprintf("%s without a pod, a PVC and a volume, %d required: %s", phrase.CountOf(found.count(), len(f.Coordinators), "coordinator"), quorum(f), phrase.List(found.lost)))
	if found.replaced > 0 {
		a.Evidence[0] = fmt.Sprintf("%s on no volume, %d required: every pod was read, and no other volume of the cluster exists", phrase.CountOf(found.count(), len(f.Coordinators), "coordinator"), quorum(f))
	}
	for _, s := range found.survivors {
		a.Evidence = append(a.Evidence, fmt.Sprintf("%s of %s has coordination state, files modified %s", s.Pod, phrase.Or(s.Address, "an unknown address"), s.Modified.Format(time.RFC3339)))
	}
	chosen, obstacle := f.newCoordinators(found.survivors)
	if obstacle != "" {
		found.obstacles = append(found.obstacles, obstacle)
	}
	if len(found.survivors) == 0 {
		found.obstacles = append(found.obstacles, "no coordination state is left: 0 former coordinators have it, 1 required")
	}
	if found.obstacles = append(found.obstacles, f.lossObstacles()...); len(found.obstacles) > 0 {
		a.Obstacles = found.obstacles
		return a, true
	}
	c := &CoordinationCopy{Source: found.survivors[0], Survivors: found.survivors, Coordinators: chosen, Lost: found.lost, WithoutVolumes: []string{}}
	for _, g := range f.Groups {
		if g.isDeleted() {
			c.WithoutVolumes = append(c.WithoutVolumes, g.ID)
		}
	}
	a.Handled, a.Copy = true, c
	for _, n := range chosen {
		a.Evidence = append(a.Evidence, fmt.Sprintf("new coordinator %s in zone %s: %s", n.Pod, n.Zone, map[bool]string{true: "keeps its coordination state", false: "gets a copy"}[n.Keeps]))
	}
	a.Saved = fmt.Sprintf("what the volumes of the other process groups have, from the coordination state of %s", phrase.List(podsOf(found.survivors)))
	a.Lost = f.loss(found)
	return a, true
}

// loss returns what a copy of coordination state loses.
func (f Facts) loss(found leftOver) string {
	text := fmt.Sprintf("commits that this state does not know: %s may have had a newer one", phrase.Count(found.count(), "lost coordinator"))
	if data := f.lostData(); len(data) > 0 {
		text += "; data that only the lost volumes had of " + phrase.List(data)
	}
	if lost, all := f.lostLogs(); f.Outage.Replicas > 0 && lost >= f.Outage.Replicas {
		text += fmt.Sprintf("; the whole database, except for its backups, if it had its logs there: %s lost, %d at most", phrase.CountOf(lost, all, "log process group"), f.Outage.Replicas-1)
	}
	if found.replaced > 0 {
		text += "; data that only volumes had that were recreated since"
	}
	return text
}

// survivorsAtMost is how many coordinators with state can be left. Which of their states is the newest is
// unknown: a process modifies the files when it starts. Of two, both are a quorum, so that FoundationDB
// reads both and takes the newer one; of more, a quorum can lack the newest.
const survivorsAtMost = 2

// newCoordinators chooses the coordinators of the new connection string: all survivors if there are
// several, and otherwise as many as the redundancy mode requires.
func (f Facts) newCoordinators(survivors []Survivor) (chosen []NewCoordinator, obstacle string) {
	if len(survivors) < survivorsAtMost {
		return f.besideOne(survivors)
	}
	if len(survivors) > survivorsAtMost {
		return nil, fmt.Sprintf("which of %s is the newest is unknown, %d at most", phrase.Count(len(survivors), "coordination state"), survivorsAtMost)
	}
	for _, s := range survivors {
		i := slices.IndexFunc(f.Placement.Candidates, func(c Candidate) bool { return c.Group == s.Group })
		if i < 0 {
			return nil, fmt.Sprintf("which of %s is the newest is unknown, and %s cannot be a coordinator", phrase.Count(len(survivors), "coordination state"), s.Pod)
		}
		chosen = append(chosen, f.newCoordinator(f.Placement.Candidates[i], survivors))
	}
	return chosen, ""
}

func (f Facts) newCoordinator(c Candidate, survivors []Survivor) NewCoordinator {
	keeps := slices.ContainsFunc(survivors, func(s Survivor) bool { return s.Group == c.Group })
	return NewCoordinator{Group: c.Group, Pod: f.podOf(c.Group), Zone: c.Zone, Address: c.Address, Directory: c.Directory, Keeps: keeps}
}

// besideOne chooses as many coordinators as the redundancy mode requires, each in a zone of its own: the
// survivor first, which keeps its state, then the classes with the higher priority.
func (f Facts) besideOne(survivors []Survivor) (chosen []NewCoordinator, obstacle string) {
	rank := func(c Candidate) int {
		if slices.ContainsFunc(survivors, func(s Survivor) bool { return s.Group == c.Group }) {
			return 0
		}
		return 1
	}
	candidates := slices.Clone(f.Placement.Candidates)
	stable.Sort(candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Group, b.Group))
	})
	zones := map[string]bool{}
	for _, c := range candidates {
		if len(chosen) < f.Placement.Desired && !zones[c.Zone] {
			zones[c.Zone] = true
			chosen = append(chosen, f.newCoordinator(c, survivors))
		}
	}
	if want := f.Placement.Desired; len(chosen) < want || want == 0 {
		return nil, fmt.Sprintf("%s can be coordinators, each in a zone of its own, %d required", phrase.Count(len(chosen), "process group"), want)
	}
	return chosen, ""
}

func (f Facts) podOf(group string) string {
	for _, g := range f.Groups {
		if g.ID == group {
			return g.Pod
		}
	}
	return ""
}

func podsOf(survivors []Survivor) (pods []string) {
	for _, s := range survivors {
		pods = append(pods, s.Pod)
	}
	return pods
}

// lostData are the process groups with data that have neither a pod nor a PVC.
func (f Facts) lostData() (names []string) {
	for _, g := range f.Groups {
		if g.Stateful && g.Class != "coordinator" && g.isDeleted() {
			names = append(names, g.ID)
		}
	}
	return names
}

// lostLogs counts the process groups of log processes, and those of them that have neither a pod nor a
// PVC. A database can only recover from a log of its last generation.
func (f Facts) lostLogs() (lost, all int) {
	for _, g := range f.Groups {
		if g.Class != "log" && g.Class != "transaction" {
			continue
		}
		all++
		if g.isDeleted() {
			lost++
		}
	}
	return lost, all
}

// lossObstacles are why coordination state must not be copied, besides those of single coordinators.
func (f Facts) lossObstacles() (all []string) {
	if f.Quorum == nil {
		all = append(all, "whether a quorum of coordinators answers is unknown: "+f.Unknown)
	}
	if texts := f.strings(); len(texts) > 1 {
		all = append(all, fmt.Sprintf("%d different connection strings exist, 1 required: %s", len(texts), listed(texts)))
	}
	for _, g := range f.Groups {
		if g.Files == nil && !g.isDeleted() {
			all = append(all, g.Name()+" could not be read: "+phrase.Or(g.Unread, "it has no running pod"))
		}
	}
	if f.Placement.Shared != "" {
		all = append(all, f.Placement.Shared)
	}
	return append(all, f.Placement.obstacles()...)
}

// copiedTo returns the connection string with the same description and ID and the new coordinators.
func copiedTo(from string, c CoordinationCopy) (string, error) {
	s, err := fdb.ParseConnectionString(from)
	if err != nil {
		return "", err
	}
	s.Coordinators = nil
	for _, n := range c.Coordinators {
		a, err := fdb.ParseAddress(n.Address)
		if err != nil {
			return "", err
		}
		s.Coordinators = append(s.Coordinators, a)
	}
	if err := s.Check(); err != nil {
		return "", err
	}
	return s.String(), nil
}

// Present returns the facts without the process groups that the plan has as removed, and still are.
func (p Plan) Present(f Facts) Facts {
	if p.Copy == nil {
		return f
	}
	f.Groups = slices.DeleteFunc(slices.Clone(f.Groups), func(g Group) bool { return g.isDeleted() && slices.Contains(p.Copy.WithoutVolumes, g.ID) })
	return f
}

// asPlanned returns the facts without the differences that a plan expects or makes itself: lost process
// groups cannot be read, and new coordinators get state and answer.
func (p Plan) asPlanned(f Facts) Facts {
	if p.Copy == nil {
		return f
	}
	f.Groups = slices.Clone(f.Groups)
	for i := range f.Groups {
		g := &f.Groups[i]
		if g.isDeleted() && slices.Contains(p.Copy.WithoutVolumes, g.ID) {
			g.Files = &datadir.Files{}
		}
		if g.Files != nil && p.Copy.isTarget(g.ID) && !p.coordinated(g.ID) {
			files := *g.Files
			files.Coordination = nil
			g.Files = &files
		}
	}
	lost := []Coordinator{}
	for _, c := range f.Coordinators {
		if slices.Contains(p.Copy.Lost, c.Address) {
			lost = append(lost, c)
		}
	}
	f.Coordinators = lost // survivors and new ones may answer
	return f
}

// isTarget reports whether state is copied to a process group.
func (c CoordinationCopy) isTarget(group string) bool {
	return slices.ContainsFunc(c.Coordinators, func(n NewCoordinator) bool { return n.Group == group && !n.Keeps })
}

// coordinated reports whether a process group had coordination state when the plan was made.
func (p Plan) coordinated(group string) bool {
	return slices.ContainsFunc(p.Basis.Groups, func(g BasisGroup) bool { return g.ID == group && g.Coordinates })
}

// changedLoss returns what a plan that copies state relies on besides its basis, and changed.
func (p Plan) changedLoss(f Facts) (all []string) {
	if p.Copy == nil {
		return nil
	}
	all = f.Placement.obstacles()
	for _, v := range f.Released {
		all = append(all, fmt.Sprintf("volume %s of PVC %s was released", v.Name, v.PVC))
	}
	for _, c := range f.Placement.Candidates {
		if i := slices.IndexFunc(p.Copy.Coordinators, func(n NewCoordinator) bool { return n.Group == c.Group }); i >= 0 && (p.Copy.Coordinators[i].Address != c.Address || p.Copy.Coordinators[i].Directory != c.Directory) {
			all = append(all, fmt.Sprintf("%s: its address and directory are %s and %s", c.Group, c.Address, c.Directory))
		}
	}
	if p.copied(f) {
		return all
	}
	for _, s := range p.Copy.Survivors {
		i := slices.IndexFunc(f.Groups, func(g Group) bool { return g.ID == s.Group })
		if i < 0 || f.Groups[i].Files == nil || !SameConnectionString(f.Groups[i].Files.ClusterFile, p.From) {
			continue // another difference
		}
		now, why := f.Groups[i].survivor()
		if why != "" || now.Directory != s.Directory || !now.Modified.Equal(s.Modified) || now.Bytes != s.Bytes {
			all = append(all, s.Group+": its coordination state changed")
		}
	}
	return all
}

// copied reports whether an earlier run has copied all state, since it has begun to write cluster files: once
// their processes start again, new coordinators and survivors write their state.
func (p Plan) copied(f Facts) bool {
	return slices.ContainsFunc(f.Groups, func(g Group) bool { return g.Files != nil && SameConnectionString(g.Files.ClusterFile, p.To) })
}

// LosesData reports whether carrying out the plan declares data for lost.
func (p Plan) LosesData() bool { return p.Copy != nil }
