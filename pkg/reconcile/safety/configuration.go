package safety

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CanHold asks whether the processes that report can carry a configuration: enough
// fault domains for its replicas, for storage and for logs, and for
// three_data_hall enough data halls. FoundationDB itself accepts a configuration
// that cannot hold and then waits for ever.
func CanHold(d plan.DatabaseFacts, want fdb.Configuration) plan.Check {
	c := plan.Check{Question: fmt.Sprintf("can the processes that report hold %s?", want.RedundancyMode), Gate: plan.GateConfig}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	need := fdb.MinimumFaultDomains(want.RedundancyMode)
	var found []string
	for _, kind := range []struct {
		name  string
		class func(fdb.Process) bool
	}{
		{"storage", storesData},
		{"log", keepsLogs},
	} {
		zones := distinct(d.Status, kind.class, fdb.Process.Zone)
		if zones < need {
			c.Evidence = fmt.Sprintf("%s processes report from %d fault domains, need %d", kind.name, zones, need)
			return c
		}
		found = append(found, fmt.Sprintf("%s in %d fault domains", kind.name, zones))
	}
	if want.RedundancyMode == fdb.RedundancyThreeDataHall {
		halls := distinct(d.Status, storesData, func(p fdb.Process) string { return p.Locality[fdb.LocalityDataHall] })
		if halls < threeDataHalls {
			c.Evidence = fmt.Sprintf("storage processes report from %d data halls, need %d", halls, threeDataHalls)
			return c
		}
		found = append(found, fmt.Sprintf("%d data halls", halls))
	}
	c.OK, c.Evidence = true, strings.Join(found, ", ")
	return c
}

// threeDataHalls is how many data halls the redundancy mode of that name needs.
const threeDataHalls = 3

func storesData(p fdb.Process) bool { return p.ClassType == "storage" }

func keepsLogs(p fdb.Process) bool { return p.ClassType == "log" || p.ClassType == "transaction" }

// distinct counts the values that a locality has among reporting processes which
// may take the role and are not excluded.
func distinct(s *fdb.Status, eligible func(fdb.Process) bool, value func(fdb.Process) string) int {
	values := map[string]bool{}
	for _, p := range s.ProcessList() {
		if p.Reporting() && !p.IsExcluded() && eligible(p) && value(p) != "" {
			values[value(p)] = true
		}
	}
	return len(values)
}
