package check

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// topology are the rules about processes being enough, and far enough apart.
func topology() []Rule {
	return []Rule{
		{
			Code: "TOPO-001", Severity: Error, Title: "Processes report from enough fault domains", needs: listing,
			Why: "The redundancy mode needs more zones, or data halls, than there are. FoundationDB accepts that and waits for ever.",
			find: func(f Facts) ([]Finding, string) {
				return with(f.refused(safety.CanHold(f.Database, f.Desired)))
			},
		},
		{
			Code: "TOPO-002", Severity: Warning, Title: "Each class has as many process groups as the spec asks for",
			Why:  "Groups are missing that the next pass makes.",
			find: fewGroups,
		},
	}
}

func fewGroups(f Facts) ([]Finding, string) {
	var found []Finding
	for _, c := range f.Status.ProcessGroups.Classes {
		if c.Current < c.Desired {
			found = append(found, one("class/"+c.Class, fmt.Sprintf("%s, the spec asks for %d", phrase.Count(c.Current, "process group"), c.Desired), f.fix("plan")...)...)
		}
	}
	return found, ""
}
