package safety

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// NeverCreated checks whether the files of the pods prove that no database was ever created at the connection
// string of the cluster, where the version never completes the status document of such a database; see
// [plan.DataDirs.Verdict].
func NeverCreated(s plan.Snapshot) (plan.Check, datadir.Verdict) {
	found := datadir.Verdict{Finding: datadir.NotYet, Evidence: "the data directories were not read"}
	if s.Database.DataDirs != nil {
		found = s.Database.DataDirs.Verdict(s.Cluster, s.Volumes)
	}
	return plan.Check{
		ID: plan.CheckNeverCreated, Question: "do the files of all coordinators prove that no database was ever created?", Gate: plan.GateConfig,
		OK: found.Finding == datadir.Blank, Evidence: found.Evidence,
	}, found
}

// eligible returns the processes that can take a role: those of the status document that report and are not
// excluded, or those that registered without one. Unknown is why they are unknown; empty if they are known.
func eligible(d plan.DatabaseFacts) (processes []fdb.Process, unknown string) {
	if d.Status == nil && d.DataDirs != nil {
		return d.DataDirs.Processes(), d.DataDirs.Unlisted
	}
	if unknown = noAnswer(d); unknown != "" {
		return nil, unknown
	}
	return d.Status.ProcessesThat(func(p fdb.Process) bool { return p.Reporting() && !p.IsExcluded() }), ""
}
