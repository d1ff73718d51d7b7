package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Facts are what views of a cluster are made of.
type Facts struct {
	// Snapshot is what was observed, its record judged anew where that was possible.
	plan.Snapshot
	// Recorded is the record as the last pass left it, before it was judged anew; nil where
	// nothing was judged.
	Recorded *v1beta2.FoundationDBCluster
	// Gaps are what keeps the cluster from being as its spec asks.
	Gaps v1beta2.Gaps
	// Desired is the database configuration that the spec asks for.
	Desired fdb.Configuration
	// Lease is who may act on the cluster now.
	Lease Lease
	// Backups are the records of backups and restores; nil where nobody looked for them.
	Backups *ClusterBackups
	// Unjudged is why the process groups are as the last pass recorded them; empty when
	// they were judged anew.
	Unjudged string
	// Warnings are what the reader has to know before believing the rest.
	Warnings []string
}

// Lease is what the cluster's Lease says; the zero Lease is nobody's.
type Lease struct {
	// Read is false when the Lease could not be read.
	Read   bool
	Holder string
	Until  time.Time
}

// heldAt is the holder at a time, empty when the Lease has run out by then.
func (l Lease) heldAt(now time.Time) string {
	if now.After(l.Until) {
		return ""
	}
	return l.Holder
}

// LeaseFree asks whether no other run acts on the cluster, as far as its Lease tells.
func (f Facts) LeaseFree() plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherRun, Question: "is no other run acting on this cluster?", Gate: plan.GateLease}
	switch holder := f.Lease.heldAt(f.Now); {
	case !f.Lease.Read:
		c.Evidence = "the Lease could not be read"
	case holder != "":
		c.Evidence = fmt.Sprintf("%s is, until %s unless it goes on", holder, f.Lease.Until.UTC().Format(time.TimeOnly))
	default:
		c.OK, c.Evidence = true, "nobody holds the Lease"
	}
	return c
}

// Origin says where the facts of a section come from and when they were true.
type Origin struct {
	Source Source `json:"source"`
	// AsOf is null when nobody knows.
	AsOf *time.Time `json:"asOf"`
}

// fromDatabase is the origin of what only the database tells.
func (f Facts) fromDatabase() Origin {
	if f.Database.Status == nil {
		return f.fromRecord()
	}
	return Origin{SourceLive, known(f.Database.AsOf)}
}

func (f Facts) fromRecord() Origin { return Origin{SourceRecord, known(f.recordedAt())} }

func (f Facts) fromKubernetes() Origin { return Origin{SourceLive, known(f.Now)} }

// judged is the origin of process group conditions: they are judged anew unless a
// database that exists does not answer, or the record contradicts itself.
func (f Facts) judged() Origin {
	if f.Unjudged != "" || (f.Cluster.Status.Configured && !f.Database.Available()) {
		return f.fromRecord()
	}
	return f.fromKubernetes()
}

// recordedAt is when somebody last wrote the record's status, as the API server
// remembers it; zero when it does not.
func (f Facts) recordedAt() time.Time {
	var last time.Time
	for _, entry := range f.Cluster.ManagedFields {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// Since is since when a process group has a condition. It is zero while nobody has recorded
// that: to judge anew tells what is so, and not for how long it has been.
func (f Facts) Since(g *v1beta2.ProcessGroupStatus, t v1beta2.ProcessGroupConditionType) (since time.Time, has bool) {
	since, has = g.Condition(t)
	if f.Recorded == nil || since.Before(f.Now.Truncate(time.Second)) {
		return since, has
	}
	if was := f.Recorded.ProcessGroup(g.ProcessGroupID); was == nil || !was.HasCondition(t) {
		since = time.Time{}
	}
	return since, has
}

// processesOf are a group's processes that report now.
func (f Facts) processesOf(g *v1beta2.ProcessGroupStatus) []fdb.Process {
	if f.Database.Status == nil {
		return nil
	}
	return f.Database.Status.ProcessesOf(string(g.ProcessGroupID))
}

// unknownReason says why nothing is known of what only processes that report tell; empty where they
// are listed.
func (f Facts) unknownReason(what string) string {
	switch why := f.Database.Why(); {
	case why != "":
		return "no answer from the database, so nothing is known of " + what + ": " + why
	case f.Database.Status != nil && !f.Database.Status.ListsProcesses():
		return "the database is unavailable and lists no processes, so nothing is known of " + what
	default:
		return ""
	}
}

// isSilent reports whether fewer of a group's processes report than its pod runs.
// Nobody is where the database does not tell who reports.
func (f Facts) isSilent(g *v1beta2.ProcessGroupStatus) bool {
	return f.Database.Status.ListsProcesses() && len(f.processesOf(g)) < f.serversOf(g.ProcessClass)
}

// serversOf is how many processes a pod of the class runs; while that changes, the
// fewest that one does.
func (f Facts) serversOf(class v1beta2.ProcessClass) int {
	servers := f.Cluster.ServersPerPod(class)
	inUse := []int{}
	switch {
	case class == v1beta2.ProcessClassStorage:
		inUse = f.Cluster.Status.StorageServersPerDisk
	case class.IsLog():
		inUse = f.Cluster.Status.LogServersPerDisk
	}
	if len(inUse) > 0 {
		servers = min(servers, slices.Min(inUse))
	}
	return max(servers, 1)
}

// maintenance is the zone under maintenance, by the database's word: one that does not serve
// cannot be asked.
func (f Facts) maintenance() (m fdb.Maintenance, known bool) {
	if !f.Database.Available() {
		return m, false
	}
	return f.Database.Status.Maintenance(), true
}
