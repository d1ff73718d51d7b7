package inspect

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// The rules about the database and its coordinators that the state in `status` follows.
const (
	CodeTolerance   = "AVAIL-002"
	CodeReplication = "AVAIL-003"
	CodeUnhealthy   = "AVAIL-012"
	CodeQuorum      = "COORD-001"
	CodeCoordinator = "COORD-002"
)

// DataRules returns the rules about what the next failure costs.
func DataRules() []findings.Rule[Facts] {
	return []findings.Rule[Facts]{
		{
			Code: CodeTolerance, Severity: findings.Error, Title: "Fault tolerance matches the redundancy mode", Needs: findings.NeedsAvailableDatabase,
			Why:  "The next failure can cost availability or data. A zone with a process that does not report counts as failed, although FoundationDB notices it late.",
			Find: toleratesFailures,
		},
		{
			Code: CodeReplication, Severity: findings.Error, Title: "All data is fully replicated", Needs: findings.NeedsAvailableDatabase,
			Why:  "Data distribution is still copying data, or cannot.",
			Find: copies,
		},
	}
}

// HealthRules returns the rule about what a database reports about itself where nothing else is wrong.
func HealthRules() []findings.Rule[Facts] {
	return []findings.Rule[Facts]{{
		Code: CodeUnhealthy, Severity: findings.Warning, Title: "The database calls itself healthy", Needs: findings.NeedsAvailableDatabase,
		Why: "FoundationDB detected a problem that no other rule is about; its messages, if there are any, name it.",
		Find: func(f Facts) ([]findings.Finding, string) {
			if d := f.DatabaseView(); d.DataFault() == FaultUnhealthy {
				return f.ofDatabase(d.unhealthyWords()), ""
			}
			return nil, ""
		},
	}}
}

// CoordinatorRules returns the rules about which coordinators answer.
func CoordinatorRules() []findings.Rule[Facts] {
	return []findings.Rule[Facts]{
		{
			Code: CodeQuorum, Severity: findings.Critical, Title: "A quorum of coordinators is reachable",
			Why: "Without a majority of its coordinators the database stops.",
			Find: func(f Facts) ([]findings.Finding, string) {
				switch quorum := f.Coordinators().QuorumReachable; {
				case quorum == nil:
					return nil, NoAnswer(f.Database)
				case *quorum:
					return nil, ""
				}
				return f.ofDatabase("no quorum of coordinators is reachable"), ""
			},
		},
		{
			Code: CodeCoordinator, Severity: findings.Error, Title: "Every coordinator is reachable",
			Why:  "Fewer of the others may fail. A pass replaces a coordinator that stays unreachable.",
			Find: unreachableCoordinators,
		},
	}
}

// ofDatabase returns a finding about the database.
func (f Facts) ofDatabase(message string) []findings.Finding {
	return []findings.Finding{{Subjects: []string{findings.Database}, Message: message, Fix: f.Fix("status")}}
}

func toleratesFailures(f Facts) ([]findings.Finding, string) {
	t := f.Tolerance()
	switch {
	case t.Zones == nil:
		return nil, "the fault tolerance is unknown"
	case *t.Zones >= t.Desired:
		return nil, ""
	}
	return f.ofDatabase(fmt.Sprintf("%s may fail, %d desired", phrase.Count(*t.Zones, "more zone"), t.Desired)), ""
}

func copies(f Facts) ([]findings.Finding, string) {
	d := f.DatabaseView()
	switch d.DataFault() {
	case FaultFewReplicas:
		return f.ofDatabase("some data has " + phrase.CountOf(max(0, *d.Replicas), d.ReplicasDesired, "replica")), ""
	case FaultReplicationUnknown:
		return nil, "whether all data is fully replicated is unknown"
	case FaultNotReplicated:
		return f.ofDatabase("not all data is fully replicated"), ""
	case FaultDataState:
		return f.ofDatabase("data distribution is in state " + d.DataState), ""
	case NoFault, FaultUnhealthy:
	}
	return nil, ""
}

func unreachableCoordinators(f Facts) ([]findings.Finding, string) {
	seen := f.Coordinators()
	if seen.Reachable == nil {
		return nil, NoAnswer(f.Database)
	}
	found := findings.Finding{Message: "the coordinator is unreachable", Fix: f.Fix("status")}
	for _, c := range seen.Items {
		if !*c.Reachable {
			found.Subjects = append(found.Subjects, "coordinator/"+c.Address)
		}
	}
	return found.IfAny(), ""
}

// DataFault is what is wrong with the copies of the data of a database that is available.
type DataFault string

// The faults, the first of which hides the others.
const (
	NoFault                 DataFault = ""
	FaultFewReplicas        DataFault = "few-replicas"
	FaultReplicationUnknown DataFault = "replication-unknown"
	FaultNotReplicated      DataFault = "not-replicated"
	FaultDataState          DataFault = "data-state"
	// FaultUnhealthy is a database that does not call itself healthy for another reason.
	FaultUnhealthy DataFault = "unhealthy"
)

// DataFault returns the first fault. It leaves out that data distribution is starting and that a recovery has not
// fully ended: for some seconds after each recovery the database reports that, and still
// calls itself healthy and fully replicated.
func (v DatabaseView) DataFault() DataFault {
	switch {
	case v.Replicas != nil && *v.Replicas < v.ReplicasDesired:
		return FaultFewReplicas
	case v.FullReplication == nil:
		return FaultReplicationUnknown
	case !*v.FullReplication:
		return FaultNotReplicated
	case v.DataHealthy != nil && !*v.DataHealthy:
		return FaultDataState
	case v.Healthy != nil && !*v.Healthy && !v.onlyClients:
		return FaultUnhealthy
	default:
		return NoFault
	}
}

// FaultWords returns the first fault as a reason; empty without one.
func (v DatabaseView) FaultWords() string {
	switch v.DataFault() {
	case FaultFewReplicas:
		return fmt.Sprintf("replication %d of %d", max(0, *v.Replicas), v.ReplicasDesired)
	case FaultReplicationUnknown:
		return "cannot determine whether all data has its copies: the database does not report it"
	case FaultNotReplicated:
		return "not all data has its copies"
	case FaultDataState:
		return "data is " + Spaced(phrase.Or(v.DataState, "not healthy"))
	case FaultUnhealthy:
		return v.unhealthyWords()
	case NoFault:
	}
	return ""
}

func (v DatabaseView) unhealthyWords() string {
	return "the database does not call itself healthy: " + phrase.Or(phrase.Some(v.Messages, MostNamed), "it reports no reason")
}

// FindingRules returns the rules about what `status`, `why`, `check` and `metrics` all show, in the order of check's.
func FindingRules() []findings.Rule[Facts] {
	return slices.Concat(DataRules(), HealthRules(), CoordinatorRules(), GroupRules(), PodRules(), NodeRules())
}

// Findings returns what these rules find. A rule without its facts finds nothing, which is no proof of anything:
// `check` names it.
func (f Facts) Findings() []findings.Finding {
	var all []findings.Finding
	for _, r := range FindingRules() {
		if f.Lacks(r.Needs) == "" {
			found, _ := r.Of(f)
			all = append(all, found...)
		}
	}
	for i := range all {
		all[i].Causes = f.causesOf(all[i])
	}
	return all
}

// causesOf returns the codes of the problems that explain why processes do not report, or what is wrong with pods.
func (f Facts) causesOf(found findings.Finding) []string {
	var codes []string
	if !slices.Contains([]string{CodeNotReporting, CodePodMissing, CodePodNotReady}, found.Code) {
		return nil
	}
	for _, id := range found.Groups {
		g := f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id))
		if t := f.ProblemOf(g); t != nil {
			codes = append(codes, t.Code)
		}
		if _, lost := f.lostNodeOf(g); lost {
			codes = append(codes, CodeNodeLost)
		}
	}
	slices.Sort(codes)
	return slices.DeleteFunc(slices.Compact(codes), func(code string) bool { return code == "" || code == found.Code })
}

// Lacks returns why a rule cannot be evaluated; empty if it can be.
func (f Facts) Lacks(n findings.Need) string {
	switch {
	case n == findings.NeedsNothing:
		return ""
	case f.Database.Status == nil:
		return NoAnswer(f.Database)
	case n == findings.NeedsStatusDocument:
		return ""
	case n == findings.NeedsProcessList && !f.Database.Status.ListsProcesses():
		return "the database is unavailable and lists no processes"
	case n == findings.NeedsProcessList:
		return ""
	case !f.Database.Available() && n == findings.NeedsCurrentConditions && f.Cluster.Status.Configured:
		return "the conditions of the process groups are outdated: the database is unavailable"
	case !f.Database.Available() && n != findings.NeedsCurrentConditions:
		return "the database is unavailable"
	case n == findings.NeedsSharedLists && !f.Coordination.Read && f.usesShared():
		return "the lock and the shared lists in the database were not read"
	default:
		return ""
	}
}

// usesShared reports whether the spec uses the lock or the deny list.
func (f Facts) usesShared() bool {
	return f.Cluster.LocksUsed() || len(f.Cluster.Spec.LockOptions.DenyList) > 0
}

// Fix returns a command line of this plugin about the cluster, for a finding.
func (f Facts) Fix(words ...string) []string {
	return append([]string{"fdb", words[0], f.Cluster.Name}, words[1:]...)
}

// ListGroups returns a command line that lists process groups of the cluster.
func (f Facts) ListGroups(words ...string) []string {
	return append([]string{"fdb", "get", "process-groups", f.Cluster.Name}, words...)
}

// addGroup adds a process group to a finding, and when that began.
func addGroup(found *findings.Finding, subject string, g *v1beta2.ProcessGroupStatus) {
	found.Subjects = append(found.Subjects, subject)
	found.Groups = append(found.Groups, string(g.ProcessGroupID))
}
