package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Facts are the input of all views of a cluster.
type Facts struct {
	// Snapshot is what was observed, its status evaluated again where that was possible.
	plan.Snapshot
	// Recorded is the resource as the last pass left it, before the evaluation; nil without
	// one.
	Recorded *v1beta2.FoundationDBCluster
	// Gaps are the differences between the cluster and its spec.
	Gaps v1beta2.Gaps
	// MarkReasons are why the next pass would mark process groups for removal that the spec keeps
	// from that, by group; empty for the other groups.
	MarkReasons map[v1beta2.ProcessGroupID][]string
	// Desired is the database configuration in the spec.
	Desired fdb.Configuration
	// Lease is the Lease of the run that may act on the cluster now.
	Lease Lease
	// Backups are the backups and restores; nil where they were not read.
	Backups *ClusterBackups
	// Unjudged is why the process groups are as in the status; empty when they were evaluated
	// again.
	Unjudged string
	// Warnings are what limits the validity of the rest.
	Warnings []string

	processes *processIndex // nil without one
}

// Lease is the cluster's Lease; the zero Lease has no holder.
type Lease struct {
	// Read is false when the Lease could not be read.
	Read   bool
	Holder string
	Until  time.Time
	// Operation is the command whose passes take the Lease, also between two of them; nil for none.
	Operation *reconcile.Operation
	// OperationActive is true if the run of the operation goes on.
	OperationActive bool
	// Abort is the request to end the operation; nil for none.
	Abort *reconcile.OperationAbort
	// Refusals are the objects that the API server did not accept when a pass wrote them last.
	Refusals []plan.Refusal
	// RefusalsUID is the UID of the cluster that they are about; empty if it is unknown.
	RefusalsUID types.UID
	// OddTerm is the duration of a Lease that no run writes, which counts as that of a run; 0 for any other.
	OddTerm time.Duration
}

// Of returns the Lease without the operation and the refusals of another cluster of the same name: the Lease outlives its
// cluster. Those without a UID, of an older release, may be of this one.
func (l Lease) Of(cluster types.UID) Lease {
	if o := l.Operation; o != nil && o.UID != "" && o.UID != cluster {
		l.Operation, l.OperationActive, l.Abort = nil, false, nil
	}
	if l.RefusalsUID != "" && l.RefusalsUID != cluster {
		l.Refusals, l.RefusalsUID = nil, ""
	}
	return l
}

// Warnings returns what is odd about the Lease.
func (l Lease) Warnings() []string {
	if l.OddTerm == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the Lease of %s has a duration of %s, which no run writes: it counts as expired a minute after its last renewal", phrase.Or(l.Holder, "no run"), l.OddTerm)}
}

// HeldAt returns the holder at a time, empty when the Lease has expired by then.
func (l Lease) HeldAt(now time.Time) string {
	if now.After(l.Until) {
		return ""
	}
	return l.Holder
}

// LeaseFree checks that no other run acts on the cluster, by its Lease.
func (f Facts) LeaseFree() plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherRun, Question: "is no other run acting on this cluster?", Gate: plan.GateLease}
	switch holder := f.Lease.HeldAt(f.Now); {
	case !f.Lease.Read:
		c.Evidence = "the Lease could not be read"
	case holder != "":
		c.Evidence = fmt.Sprintf("%s is, until %s unless it is renewed", holder, f.Lease.Until.UTC().Format(time.TimeOnly))
	default:
		c.OK, c.Evidence = true, "the Lease has no holder"
	}
	return c
}

// Origin is the source and the time of the facts of a section.
type Origin struct {
	Source Source `json:"source"`
	// AsOf is null when unknown.
	AsOf *time.Time `json:"asOf"`
}

// FromDatabase returns the origin of what only the database reports.
func (f Facts) FromDatabase() Origin {
	if f.Database.Status == nil {
		return f.fromResource()
	}
	return Origin{SourceLive, Known(f.Database.AsOf)}
}

func (f Facts) fromResource() Origin { return Origin{SourceResource, Known(f.recordedAt())} }

func (f Facts) fromKubernetes() Origin { return Origin{SourceLive, Known(f.Now)} }

// Judged returns the origin of process group conditions: they are evaluated again unless a
// database that exists does not answer, or the resource contradicts itself.
func (f Facts) Judged() Origin {
	if f.Unjudged != "" || (f.Cluster.Status.Configured && !f.Database.Available()) {
		return f.fromResource()
	}
	return f.fromKubernetes()
}

// UnknownConditions returns how many process groups have conditions that cannot be evaluated.
func (f Facts) UnknownConditions() int {
	if f.Judged().Source == SourceLive {
		return 0
	}
	return len(f.Groups())
}

// recordedAt returns when the status was last written, by its managed fields; zero when they
// do not have it.
func (f Facts) recordedAt() time.Time {
	var last time.Time
	for _, entry := range f.Cluster.ManagedFields {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// Since returns since when a process group has a condition. It is zero while nothing dates it: an
// evaluation finds the condition, and not its start. Conditions of processes that do not run are
// dated by the best evidence of Outage, in all views alike.
func (f Facts) Since(g *v1beta2.ProcessGroupStatus, t v1beta2.ProcessGroupConditionType) (since time.Time, has bool) {
	if since, has = f.firstSeen(g, t); has && isOutage(t) {
		return safety.OutageOf(f.Snapshot, g, since).Since, true
	}
	return since, has
}

// isOutage reports whether a condition shows that processes do not run.
func isOutage(t v1beta2.ProcessGroupConditionType) bool {
	return t == v1beta2.ConditionMissingProcesses || t == v1beta2.ConditionMissingPod || t == v1beta2.ConditionPodFailing
}

// firstSeen returns when a pass recorded a condition; zero while none has.
func (f Facts) firstSeen(g *v1beta2.ProcessGroupStatus, t v1beta2.ProcessGroupConditionType) (since time.Time, has bool) {
	since, has = g.Condition(t)
	if f.Recorded == nil || since.Before(f.Now.Truncate(time.Second)) {
		return since, has
	}
	if was := f.Recorded.ProcessGroup(g.ProcessGroupID); was == nil || !was.HasCondition(t) {
		since = time.Time{}
	}
	return since, has
}

// Outage returns since when the processes of a group do not report, and what shows that.
func (f Facts) Outage(g *v1beta2.ProcessGroupStatus) safety.Outage {
	var first time.Time
	for _, t := range []v1beta2.ProcessGroupConditionType{v1beta2.ConditionMissingProcesses, v1beta2.ConditionMissingPod} {
		if since, has := f.firstSeen(g, t); has && !since.IsZero() && (first.IsZero() || since.Before(first)) {
			first = since
		}
	}
	return safety.OutageOf(f.Snapshot, g, first)
}

// ProcessesOf returns the processes of a group that report now.
func (f Facts) ProcessesOf(g *v1beta2.ProcessGroupStatus) []fdb.Process {
	if f.Database.Status == nil {
		return nil
	}
	if f.processes != nil && f.processes.of == f.Database.Status {
		return slices.Clone(f.processes.groups[string(g.ProcessGroupID)]) // a caller may filter it
	}
	return f.Database.Status.ProcessesOf(string(g.ProcessGroupID))
}

// ZoneOf returns the zone of a group: the recorded one, else that of its processes that report.
func (f Facts) ZoneOf(g *v1beta2.ProcessGroupStatus) string {
	zone := string(g.FaultDomain)
	if !f.Database.Status.ListsProcesses() {
		return zone
	}
	for _, p := range f.ProcessesOf(g) {
		zone = cmp.Or(zone, p.Zone())
	}
	return zone
}

// UnknownReason returns why what only processes report is unknown; empty where they are listed.
func (f Facts) UnknownReason(what string) string {
	switch why := f.Database.Why(); {
	case f.Database.Partial != nil:
		return what + " are unknown: " + why
	case why != "":
		return "no answer from " + f.Database.Respondent() + ", so " + what + " are unknown: " + why
	case f.Database.Status != nil && !f.Database.Status.ListsProcesses():
		return "the database is unavailable and lists no processes, so " + what + " are unknown"
	default:
		return ""
	}
}

// isNotReporting reports whether fewer of a group's processes report than its pod runs; false
// where the database does not list processes.
func (f Facts) isNotReporting(g *v1beta2.ProcessGroupStatus) bool {
	return f.Database.Status.ListsProcesses() && len(f.ProcessesOf(g)) < f.processCountOf(g)
}

// processCountOf returns how many processes the pod of a group runs. Without a pod that is what pods of the class
// run; while that changes, the fewest.
func (f Facts) processCountOf(g *v1beta2.ProcessGroupStatus) int {
	class := g.ProcessClass
	if pod := f.Pod(g); pod != nil {
		if n, err := objects.ServersPerPodOf(pod, class); err == nil {
			return n
		}
	}
	count := f.Cluster.ServersPerPod(class)
	inUse := []int{}
	switch {
	case class == v1beta2.ProcessClassStorage:
		inUse = f.Cluster.Status.StorageServersPerDisk
	case class.IsLog():
		inUse = f.Cluster.Status.LogServersPerDisk
	}
	if len(inUse) > 0 {
		count = min(count, slices.Min(inUse))
	}
	return max(count, 1)
}

// Maintenance returns the zone under maintenance, which is known only while the database is
// available and reports it.
func (f Facts) Maintenance() (m fdb.Maintenance, known bool) {
	if !f.Database.Available() {
		return m, false
	}
	return f.Database.Status.Maintenance()
}

// processIndex is the processes of a status document by process group, so that a view of many groups does
// not search the document for each of them.
type processIndex struct {
	of     *fdb.Status
	groups map[string][]fdb.Process
}

// IndexProcesses returns the facts with such an index of their status document. The document must not
// be changed any more; facts with another document do not use the index.
func (f Facts) IndexProcesses() Facts {
	status := f.Database.Status
	if status == nil {
		return f
	}
	f.processes = &processIndex{of: status, groups: map[string][]fdb.Process{}}
	for _, p := range status.ProcessList() {
		if id := p.InstanceID(); id != "" {
			f.processes.groups[id] = append(f.processes.groups[id], p)
		}
	}
	return f
}

// Refusals returns the objects that the API server did not accept when a pass wrote them last, and that are still
// missing: those that exist by now, or whose process group does not exist, are left out.
func (f Facts) Refusals() []plan.Refusal {
	return slices.DeleteFunc(slices.Clone(f.Lease.Refusals), func(r plan.Refusal) bool { return r.Verb == "create" && !f.lacks(r) })
}

func (f Facts) lacks(r plan.Refusal) bool {
	name := r.ObjectName
	ofGroup := func(nameOf func(*v1beta2.ProcessGroupStatus) string) bool {
		return slices.ContainsFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return nameOf(g) == name && !g.IsRemovable() })
	}
	switch r.ObjectKind {
	case plan.WrittenPod:
		return f.Pods[name] == nil && ofGroup(func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(f.Cluster) })
	case plan.WrittenPVC:
		return f.Volumes[name] == nil && ofGroup(func(g *v1beta2.ProcessGroupStatus) string { return g.PVCName(f.Cluster) })
	case plan.WrittenService:
		return f.Services[name] == nil
	case plan.WrittenConfigMap:
		return f.ConfigMap == nil
	default:
		return true
	}
}
