package check

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// drifts returns the rules about differences from the spec.
func drifts() []Rule {
	return []Rule{
		{
			Code: "DRIFT-001", Severity: Warning, Title: "The database configuration matches the spec", Needs: findings.NeedsStatusDocument,
			Why:  "A pass changes it, or reports what it waits for.",
			Find: configurationDrift,
		},
		{
			Code: "DRIFT-002", Severity: Info, Title: "The cluster is reconciled", Needs: findings.NeedsCurrentConditions,
			Why:  "The plan shows what a pass would do.",
			Find: unreconciled,
		},
		{
			Code: "DRIFT-003", Severity: Info, Title: "Reconciliation is not paused",
			Why:  "spec.skip stops operators: nothing is repaired until a user runs a pass.",
			Find: reconciliationPaused,
		},
	}
}

func configurationDrift(f Facts) ([]Finding, string) {
	switch matches := f.Status.Configuration.Matches; {
	case matches == nil:
		return nil, "the configuration of the database is unknown"
	case *matches:
		return nil, ""
	default:
		return with(one(database, "its configuration does not match the spec", f.fix("plan")...))
	}
}

func unreconciled(f Facts) ([]Finding, string) {
	if f.Gaps.Reconciled() {
		return nil, ""
	}
	return with(one("foundationdbcluster/"+f.Cluster.Name, "not reconciled: "+someReasons(f.Gaps.Reasons), f.fix("plan")...))
}

// someReasons returns the first reason and the number of others: each process group can have
// several.
func someReasons(reasons []string) string {
	if len(reasons) == 1 {
		return reasons[0]
	}
	return reasons[0] + ", and " + phrase.Count(len(reasons)-1, "more reason")
}

func reconciliationPaused(f Facts) ([]Finding, string) {
	if !f.Cluster.Spec.Skip {
		return nil, ""
	}
	return with(one("foundationdbcluster/"+f.Cluster.Name, "spec.skip is true",
		"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", `{"spec":{"skip":false}}`))
}
