package check

import "github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"

// drifts are the rules about the cluster being as its spec asks.
func drifts() []Rule {
	return []Rule{
		{
			Code: "DRIFT-001", Severity: Warning, Title: "The database is configured as the spec asks", needs: databaseWord,
			Why:  "A pass changes it, or says what it waits for.",
			find: configurationDrift,
		},
		{
			Code: "DRIFT-002", Severity: Info, Title: "Nothing is left to reconcile", needs: judged,
			Why:  "The plan says what a pass would do.",
			find: unreconciled,
		},
		{
			Code: "DRIFT-003", Severity: Info, Title: "Somebody looks after the cluster",
			Why:  "spec.skip keeps operators away: nothing is repaired until somebody runs a pass.",
			find: leftAlone,
		},
	}
}

func configurationDrift(f Facts) ([]Finding, string) {
	switch matches := f.Status.Configuration.Matches; {
	case matches == nil:
		return nil, "the database does not tell its configuration"
	case *matches:
		return nil, ""
	default:
		return with(one(database, "its configuration is not the one of the spec", f.fix("plan")...))
	}
}

func unreconciled(f Facts) ([]Finding, string) {
	if f.Gaps.Reconciled() {
		return nil, ""
	}
	return with(one("foundationdbcluster/"+f.Cluster.Name, "it is not yet as its spec asks: "+someReasons(f.Gaps.Reasons), f.fix("plan")...))
}

// someReasons is the first reason, and how many more there are: each process group can
// have several.
func someReasons(reasons []string) string {
	if len(reasons) == 1 {
		return reasons[0]
	}
	return reasons[0] + ", and " + phrase.Count(len(reasons)-1, "more reason")
}

func leftAlone(f Facts) ([]Finding, string) {
	if !f.Cluster.Spec.Skip {
		return nil, ""
	}
	return with(one("foundationdbcluster/"+f.Cluster.Name, "spec.skip is true",
		"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", `{"spec":{"skip":false}}`))
}
