package safety

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// NeverCreated checks whether the files of the pods prove that no database was ever created at the connection
// string of the cluster, where the version ends no status document of such a database: the files of all
// coordinators are known and store no state, all running pods could be read, and none has files of storage or log
// servers. The finding has what is missing otherwise.
func NeverCreated(s plan.Snapshot) (plan.Check, datadir.Verdict) {
	c := plan.Check{ID: plan.CheckNeverCreated, Question: "do the files of all coordinators prove that no database was ever created?", Gate: plan.GateConfig}
	dirs := s.Database.DataDirs
	if dirs == nil {
		c.Evidence = "the data directories were not read"
		return c, datadir.Verdict{Finding: datadir.NotYet, Evidence: c.Evidence}
	}
	connection, err := fdb.ParseConnectionString(s.Cluster.Status.ConnectionString)
	if err != nil {
		c.Evidence = "the status has no valid connection string"
		return c, datadir.Verdict{Finding: datadir.NotYet, Evidence: c.Evidence}
	}
	found := datadir.Find(connection, dirs.Pods)
	c.OK, c.Evidence = found.Finding == datadir.Blank, found.Evidence
	if len(dirs.Unread) > 0 && found.Finding != datadir.Exists {
		first := slices.Min(slices.Collect(maps.Keys(dirs.Unread)))
		c.OK, c.Evidence = false, fmt.Sprintf("%s could not be read: %s: %s", phrase.Count(len(dirs.Unread), "running pod"), first, dirs.Unread[first])
		found = datadir.Verdict{Finding: datadir.NotYet, Evidence: c.Evidence}
	}
	return c, found
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
