package safety

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// OwnDatabase checks whether the database that answered is the cluster's: most of its process
// groups that keep data report in it, from the addresses that their pods have. A tool runs
// with the cluster file of the pod that it runs in, and that could be any database's.
func OwnDatabase(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckOwnDatabase, Question: "does the status document describe this cluster's database?", Gate: plan.GateAvailable}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	all, report := 0, 0
	for _, g := range s.Groups() {
		if !g.ProcessClass.IsStateful() || g.IsRemovable() {
			continue
		}
		all++
		if reportsFromItsPod(s.Database.Status, g, s.Pod(g)) {
			report++
		}
	}
	c.OK, c.Need, c.Have = 2*report > all, phrase.Count(all/2+1, "process group"), phrase.Count(report, "process group")
	c.Evidence = fmt.Sprintf("%s of this cluster that %s data %s from their pods", phrase.CountOf(report, all, "process group"), phrase.Either(all, "keeps", "keep"), phrase.EitherOf(report, all, "reports", "report"))
	return c
}

func reportsFromItsPod(status *fdb.Status, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	ips, err := objects.PublicIPs(pod)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(status.ProcessesOf(string(g.ProcessGroupID)), func(p fdb.Process) bool {
		return p.Reporting() && slices.ContainsFunc(ips, func(ip string) bool { return fdb.SameHost(ip, p.Address.Host) })
	})
}

// NeverCreated checks whether the files of the pods prove that no database was ever created at the connection
// string of the cluster; see [plan.DataDirs.Verdict].
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
