package safety

import (
	"fmt"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CopiesStay asks how many copies of data are left when process groups of one fault domain
// go with what they have. A fault domain has at most one copy of anything, and counts as
// having one of everything: what is on a server that is silent now may be found nowhere
// else.
func CopiesStay(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckCopyStays, Question: "does a copy of all data stay?", Gate: plan.GateReplicas, Need: "at least 1"}
	if s.Database.Status == nil {
		c.Evidence = s.Database.Why()
		return c
	}
	copies, of, known := copiesOf(s.Database.Status, groups)
	switch {
	case of == "":
		c.OK, c.Evidence = true, "they keep no data"
	case !known:
		c.Evidence = "the number of copies of " + of + " is unknown"
	default:
		left := copies - 1
		c.OK, c.Have = left >= 1, strconv.Itoa(left)
		c.Evidence = fmt.Sprintf("%s of %s now, %d afterwards", phrase.Count(copies, "copy"), of, left)
	}
	return c
}

// copiesOf is the fewest copies that there are of anything that the groups may have.
func copiesOf(status *fdb.Status, groups []*v1beta2.ProcessGroupStatus) (copies int, of string, known bool) {
	storage, logs := false, false
	for _, g := range groups {
		storage = storage || g.ProcessClass == v1beta2.ProcessClassStorage
		logs = logs || (g.ProcessClass.IsStateful() && g.ProcessClass != v1beta2.ProcessClassStorage)
	}
	copies, known = 0, true
	if storage {
		of = "the data"
		copies, known = status.MinReplicasRemaining()
	}
	if n, told := status.LogReplicas(); logs && known && (of == "" || !told || n < copies) {
		copies, known, of = n, told, "the logs"
	}
	return copies, of, known
}
