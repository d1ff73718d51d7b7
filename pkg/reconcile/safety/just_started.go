package safety

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Starts are the processes that keep data and that started too short a time ago, or at an
// unknown time. One that lost its disk and is back within a second leaves the status document
// blind: full replication and every process reporting, until data distribution notices after
// 66 to 70 s. Until then nothing that keeps data in another fault domain may go down; it could
// have the only copy.
type Starts struct {
	// unread is why no process is known; empty with a status document.
	unread string
	list   []start
}

// start is one of these processes.
type start struct {
	// name is the process group's ID, or the address while neither the process nor a pod has
	// reported it.
	name string
	// zone is the fault domain; empty when unknown.
	zone string
	// uptime is the age of the process; 0 when unknown.
	uptime time.Duration
	known  bool
}

// JustStarted collects the processes of all control-plane instances that keep data and have not been up for
// fdb.DeathNoticedAfter. Process groups that are proven drained are left out, so that one that
// crashes in a loop delays nothing once its data has been moved.
func JustStarted(s plan.Snapshot) Starts {
	switch {
	case s.Database.Status == nil:
		return Starts{unread: noStatus(s.Database)}
	case s.Database.Status.Incomplete():
		return Starts{unread: incompleteDocument}
	}
	var all Starts
	young := s.Database.Status.ProcessesThat(func(p fdb.Process) bool {
		uptime, known := p.Uptime()
		return keepsData(p) && (!known || uptime < fdb.DeathNoticedAfter)
	})
	for _, p := range young {
		uptime, known := p.Uptime()
		g := groupOf(s, p)
		if g != nil && g.IsRemovable() && !MayHoldData(s, g) {
			continue
		}
		begun := startOf(p, g)
		begun.uptime, begun.known = uptime, known
		all.list = append(all.list, begun)
	}
	return all
}

// keepsData reports whether a process may hold data: by its class, since one that has just
// started shows no role yet, or by a role that it has in spite of its class.
func keepsData(p fdb.Process) bool {
	return MayKeepData(v1beta2.ProcessClass(p.ClassType)) || p.HasRole(fdb.RoleStorage) || p.HasRole(fdb.RoleLog)
}

// MayKeepData reports whether FoundationDB gives data or logs to processes of a class while
// enough of them are up. A process without a class may be given any role.
func MayKeepData(class v1beta2.ProcessClass) bool {
	return class == v1beta2.ProcessClassStorage || class.IsLog() || class == v1beta2.ProcessClassUnset || class == ""
}

// groupOf is the process group of a process: by its ID, or while that is not reported yet by
// the pod that has its address. Addresses that a group had before do not count, since another
// pod may have received them. Nil when unknown.
func groupOf(s plan.Snapshot, p fdb.Process) *v1beta2.ProcessGroupStatus {
	if id := p.InstanceID(); id != "" {
		return s.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id))
	}
	for _, g := range s.Groups() {
		if pod := s.Pod(g); pod != nil {
			ips, err := objects.PublicIPs(pod)
			if err == nil && slices.ContainsFunc(ips, func(ip string) bool { return fdb.SameHost(ip, p.Address.Host) }) {
				return g
			}
		}
	}
	return nil
}

// startOf returns the name and the fault domain of a process that started; when is left to the
// caller.
func startOf(p fdb.Process, g *v1beta2.ProcessGroupStatus) start {
	begun := start{name: cmp.Or(p.InstanceID(), p.Address.HostPort()), zone: p.Zone()}
	if g != nil {
		begun.name, begun.zone = string(g.ProcessGroupID), cmp.Or(begun.zone, string(g.FaultDomain))
	}
	return begun
}

// Elsewhere checks whether all processes that keep data outside the fault domains that go down
// have been up long enough. With several fault domains each is another one to the others.
// Missing is how much of the time remains.
func (s Starts) Elsewhere(zones ...string) (c plan.Check, missing time.Duration) {
	const need = fdb.DeathNoticedAfter
	c = plan.Check{
		ID:       plan.CheckOthersUpLong,
		Question: fmt.Sprintf("have all processes that keep data elsewhere been up for %s?", need), Gate: plan.GateUptime, Need: fmt.Sprintf("at least %s", need),
	}
	if s.unread != "" {
		c.Evidence = s.unread
		return c, need
	}
	youngest := -1
	for i, p := range s.list {
		if p.isElsewhere(zones) && (youngest < 0 || p.uptime < s.list[youngest].uptime) {
			youngest = i
		}
	}
	if youngest < 0 {
		c.OK, c.Evidence = true, fmt.Sprintf("all processes that keep data elsewhere have been up for %s", need)
		return c, 0
	}
	p := s.list[youngest]
	c.Evidence = fmt.Sprintf("%s started at an unknown time, %s required", p.name, need)
	if p.known {
		c.Have = p.uptime.Round(time.Second).String()
		c.Evidence = fmt.Sprintf("%s started %s ago, %s required", p.name, c.Have, need)
		c.Left = need - p.uptime
	}
	return c, need - p.uptime
}

// isElsewhere reports whether one of the fault domains that go down is not the process's.
func (p start) isElsewhere(zones []string) bool {
	return slices.ContainsFunc(zones, func(zone string) bool { return zone == "" || zone != p.zone })
}
