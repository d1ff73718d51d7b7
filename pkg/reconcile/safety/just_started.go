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

// Restarted is the progress of a restart of a process group.
type Restarted string

// The phases of a restart.
const (
	// RestartDue has a process that started before the restart was requested.
	RestartDue Restarted = "waits"
	// RestartUnknown has a process that does not report, or does not report its uptime: it
	// just ended, just started, or is broken.
	RestartUnknown Restarted = "silent"
	// RestartDone has all of its processes reporting, all started after the request.
	RestartDone Restarted = "back"
	// RestartOfNone is a drained process group without a process: its removal only waits for the end of its exclusion.
	RestartOfNone Restarted = "removed"
)

// RestartedSince determines the progress from the uptime of the group's processes. Since is by
// the database's own clock, as uptimes are. A group with anything unknown is not done, and
// must not be restarted either: it could be about to report.
func RestartedSince(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, since time.Time) Restarted {
	if noAnswer(s.Database) != "" {
		return RestartUnknown
	}
	processes := s.Database.Status.ProcessesOf(string(g.ProcessGroupID))
	switch {
	case g.IsRemovable() && len(processes) == 0:
		return RestartOfNone
	case len(processes) < serversOf(s, g):
		return RestartUnknown
	}
	step := RestartDone
	for _, p := range processes {
		start, known := s.Database.Status.StartOf(p)
		switch {
		case !known || !p.Reporting():
			return RestartUnknown
		case !start.After(since):
			step = RestartDue
		}
	}
	return step
}

// StillRuns names a process that a process group without a pod may still have, and how to end
// it where that is known; empty when the database has none. Kubernetes removes the pod object
// of a forced deletion, and those of a deleted node, without ending anything there: with a
// dead kubelet and a working network, the process continues to run. After the end of its
// exclusion it would receive data again, on a volume that is no longer claimed. A process of
// unknown identity keeps the exclusion in force as well, without advice.
//
// Testers hold no data, are never excluded, and are listed for long after they have ended.
func StillRuns(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	switch {
	case s.Database.Status == nil, g.ProcessClass.IsTester():
		return ""
	case s.Database.Status.Incomplete():
		return fmt.Sprintf("cannot determine whether a process of %s still runs: %s", g.ProcessGroupID, incompleteDocument)
	}
	processes := processesOf(s, g)
	if len(processes) == 0 {
		return ""
	}
	return stillRunning(g, processes[len(processes)-1]) // those of unknown identity come first
}

// stillRunning advises only about a process that is the group's, on a known machine.
func stillRunning(g *v1beta2.ProcessGroupStatus, p fdb.Process) string {
	machine := cmp.Or(p.Locality[fdb.LocalityMachineID], p.Zone())
	switch {
	case p.InstanceID() == "":
		return fmt.Sprintf("the objects of %[1]s are deleted, and it is unknown whether its process still runs: the process at %[2]s does not report its process group yet; the exclusion stays until it does or ends",
			g.ProcessGroupID, p.Address.HostPort())
	case machine == "":
		return fmt.Sprintf("the objects of %s are deleted, and its process still runs at %s, on an unknown machine; the exclusion stays until it ends", g.ProcessGroupID, p.Address.HostPort())
	default:
		return fmt.Sprintf("the objects of %s are deleted, and its process still runs at %s on %s; end it there, for example by a restart of the machine",
			g.ProcessGroupID, p.Address.HostPort(), machine)
	}
}
