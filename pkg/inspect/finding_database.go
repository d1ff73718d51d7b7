package inspect

import (
	"fmt"

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
