package inspect

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// coversGroup reports whether an exclusion covers a process group: of its ID, or of an
// address that it has.
func coversGroup(target string, g *v1beta2.ProcessGroupStatus) bool {
	return target == g.ExclusionString() || slices.ContainsFunc(g.Addresses, func(a string) bool { return target == a || HostOf(target) == a })
}

// CoversProcess reports whether an exclusion covers a process: of one of its localities,
// of its machine, or of its address.
func CoversProcess(target string, p fdb.Process) bool {
	if key, value, is := localityOf(target); is {
		return p.Locality[key] == value
	}
	return target == p.Address.Host || target == p.Address.HostPort()
}

// localityOf takes "locality_KEY:VALUE" apart.
func localityOf(target string) (key, value string, is bool) {
	rest, is := strings.CutPrefix(target, "locality_")
	if !is {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// GroupsOf returns the process groups that an exclusion covers.
func (f Facts) GroupsOf(target string) []*v1beta2.ProcessGroupStatus {
	var covered []*v1beta2.ProcessGroupStatus
	for _, g := range f.Groups() {
		if coversGroup(target, g) || slices.ContainsFunc(f.ProcessesOf(g), func(p fdb.Process) bool { return CoversProcess(target, p) }) {
			covered = append(covered, g)
		}
	}
	return covered
}

// ProcessesAt returns the processes that an exclusion covers.
func (f Facts) ProcessesAt(target string) []fdb.Process {
	if f.Database.Status == nil {
		return nil
	}
	return slices.DeleteFunc(f.Database.Status.ProcessList(), func(p fdb.Process) bool { return !CoversProcess(target, p) })
}

// notHere is why nothing is proven about what belongs to no process group of the resource.
const notHere = "it covers no process group of this resource; it belongs to another control-plane instance, or is left over"

// drainsOfOthers returns the rows of exclusions that cover no process group of the resource:
// those of other control-plane instances, and leftovers.
func (f Facts) drainsOfOthers(h *DrainHistory) []DrainView {
	var rows []DrainView
	for _, target := range f.Coordination.Exclusions {
		if len(f.GroupsOf(target)) > 0 {
			continue
		}
		processes := f.ProcessesAt(target)
		for _, p := range processes {
			row := f.drainOf(p)
			row.follow(h, p.ID, f.Database.AsOf)
			row.ID, row.State, row.Reason = p.InstanceID(), ExclusionUnverified, notHere
			if f.StillHolds(p) {
				row.State = ExclusionMoving
			}
			rows = append(rows, row)
		}
		if len(processes) == 0 {
			rows = append(rows, DrainView{Process: target, State: ExclusionUnverified, Reason: notHere + "; no process reports there"})
		}
	}
	return rows
}
