package recovery

import (
	"fmt"
	"path"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// leftOver is what is left of the coordinators of a connection string.
type leftOver struct {
	// lost are the addresses of lost ones: of proven is known that their process group has neither a pod
	// nor a PVC; of replaced that no volume has their state.
	lost             []string
	proven, replaced int
	survivors        []Survivor
	// obstacles are about coordinators that are neither lost nor left.
	obstacles []string
}

// count is how many coordinators are lost.
func (l leftOver) count() int { return l.proven + l.replaced }

// coordinatorsLeft separates lost coordinators from those with state. One that only does not answer is
// neither: it may come back with a newer state.
func (f Facts) coordinatorsLeft() (out leftOver) {
	open := map[string]string{}
	for _, c := range f.Coordinators {
		owners := f.ownersOf(c)
		if len(owners) != 1 {
			open[c.Address] = fmt.Sprintf("coordinator %s: %s at this address in the status, 1 required: whether its volume exists is unknown", c.Address, phrase.Count(len(owners), "process group"))
			continue
		}
		g := owners[0]
		if g.isDeleted() {
			out.lost = append(out.lost, c.Address)
			out.proven++
			continue
		}
		s, why := g.survivor()
		if why != "" {
			open[c.Address] = fmt.Sprintf("coordinator %s of %s may come back: %s", c.Address, g.Name(), why)
			continue
		}
		s.Address = c.Address
		out.survivors = append(out.survivors, s)
	}
	f.resolve(&out, open)
	for _, c := range f.Coordinators {
		if slices.Contains(out.lost, c.Address) && isTrue(c.Reachable) && !f.isOthers(c) {
			out.obstacles = append(out.obstacles, fmt.Sprintf("coordinator %s answers, although its pod and PVC do not exist", c.Address))
		}
	}
	return out
}

// resolve determines what became of coordinators that addresses do not show. Once every process group was
// read or is lost, and no other volume exists, their state is where coordination files are, or nowhere:
// the volumes were recreated since.
func (f Facts) resolve(out *leftOver, open map[string]string) {
	if len(open) == 0 {
		return
	}
	var others []Survivor
	unusable := false
	for _, g := range f.holders() {
		if slices.ContainsFunc(out.survivors, func(s Survivor) bool { return s.Group == g.ID }) {
			continue
		}
		s, why := g.survivor()
		unusable = unusable || why != ""
		others = append(others, s)
	}
	unread := slices.ContainsFunc(f.Groups, func(g Group) bool { return g.Files == nil && !g.isDeleted() })
	exist := len(f.Released) + len(f.Placement.obstacles())
	for _, c := range f.Coordinators {
		why, is := open[c.Address]
		switch {
		case !is:
		case unread || unusable || exist > 0 || len(others) > len(open):
			out.obstacles = append(out.obstacles, why)
		default:
			out.lost = append(out.lost, c.Address)
		}
	}
	if len(out.obstacles) == 0 {
		out.survivors, out.replaced = append(out.survivors, others...), len(open)-len(others)
	}
}

// ownersOf returns the process groups that the status has at the address of a coordinator, or whose
// pods have its DNS name.
func (f Facts) ownersOf(c Coordinator) (owners []*Group) {
	address, err := fdb.ParseAddress(c.Address)
	if err != nil {
		return nil
	}
	for i, g := range f.Groups {
		if g.isAt(address.Host) || g.Names.DNS != "" && g.Names.DNS == address.Host {
			owners = append(owners, &f.Groups[i])
		}
	}
	return owners
}

// isOthers reports whether the address of a coordinator is that of a pod of the cluster now.
func (f Facts) isOthers(c Coordinator) bool {
	address, err := fdb.ParseAddress(c.Address)
	return err == nil && f.at(address.Host) != nil
}

// isDeleted reports whether a process group has neither a pod nor a PVC.
func (g Group) isDeleted() bool { return g.Pod == "" && g.PVC == "" }

// survivor returns the coordination state of a process group, or why it has none that can be used.
func (g Group) survivor() (s Survivor, why string) {
	if g.Files == nil {
		return s, "it could not be read: " + phrase.Or(g.Unread, "it has no running pod")
	}
	var directories []string
	for _, file := range g.Files.Coordination {
		if dir := path.Dir(file.Path); file.Current && !slices.Contains(directories, dir) {
			directories = append(directories, dir)
		}
	}
	if len(directories) != 1 {
		return s, fmt.Sprintf("%s with coordination state of this generation, 1 required", phrase.Count(len(directories), "data directory"))
	}
	s = Survivor{Group: g.ID, Pod: g.Pod, Directory: directories[0]}
	files := 0
	for _, file := range g.Files.Coordination {
		if path.Dir(file.Path) != s.Directory || !slices.Contains([]string{CoordinationFile0, CoordinationFile1}, path.Base(file.Path)) {
			continue
		}
		files++
		s.Bytes += file.Bytes
		if file.Modified.After(s.Modified) {
			s.Modified = file.Modified
		}
	}
	if files != 2 {
		return s, fmt.Sprintf("%s of the pair in %s, 2 required", phrase.Count(files, "coordination file"), s.Directory)
	}
	return s, ""
}

// regionLost finds a database in several regions whose coordinators of this resource all answer, while
// those of other resources, which are no quorum without them, do not. Nothing here is lost, and what became
// of the others only their resources show.
func regionLost(f Facts) (Assessment, bool) {
	own, elsewhere := 0, []string{}
	for _, c := range f.Coordinators {
		switch owners := len(f.ownersOf(c)); {
		case owners == 0:
			elsewhere = append(elsewhere, c.Address)
		case !isTrue(c.Reachable):
			return Assessment{}, false
		default:
			own++
		}
	}
	if f.Placement.Regions < 2 || own == 0 || own >= quorum(f) || f.Quorum == nil {
		return Assessment{}, false
	}
	a := assessment(RegionLost, "what the process groups of this resource have, once a majority of coordinators is back",
		"what the other region had committed and this one does not have yet, if its volumes are lost: an unknown amount; else nothing",
		fmt.Sprintf("%s, %d required", phrase.CountOf(own, len(f.Coordinators), "coordinator")+" of this resource "+phrase.Either(own, "answers", "answer"), quorum(f)),
		phrase.Count(len(elsewhere), "coordinator")+" of no process group in the status: "+phrase.List(elsewhere))
	a.Obstacles = append(a.Obstacles, fmt.Sprintf("the spec has %s: what is left of the other coordinators only the resources of the other region show", phrase.Count(f.Placement.Regions, "region")))
	return a, true
}
