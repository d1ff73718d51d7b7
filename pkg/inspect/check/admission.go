package check

import "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"

// admissions returns the rules about what the API server accepts.
func admissions() []Rule {
	return []Rule{
		{
			Code: "ADM-001", Severity: Error, Title: "The API server accepts the objects of the cluster",
			Why:  "A ResourceQuota, a LimitRange, Pod Security, a policy, a webhook or the validation of the API server refused an object when a pass wrote it last. No permission is missing. The next pass tries again; only what a ResourceQuota refuses can be accepted without a change of the rule or of the spec.",
			Find: refusedObjects,
		},
	}
}

func refusedObjects(f Facts) (found []Finding, untested string) {
	if !f.Lease.Read {
		return nil, "the Lease, which has the refusals, could not be read"
	}
	all := f.Refusals()
	for _, r := range plan.ByRule(all) {
		finding := Finding{Message: r.Rule() + " refused: " + r.Message + "; " + r.Remedy(), Fix: f.fix("reconcile", "--dry-run=server")}
		for _, other := range all {
			if other.Kind == r.Kind && other.By == r.By {
				finding.Subjects = append(finding.Subjects, other.Object())
				finding.Began(other.Since)
			}
		}
		found = append(found, finding)
	}
	return found, ""
}
