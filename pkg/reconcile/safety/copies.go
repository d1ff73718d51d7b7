package safety

import (
	"fmt"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ReplicaRemains checks how many replicas of the data remain when process groups of one fault
// domain are removed with their data. A fault domain has at most one replica of anything, and
// counts as having one of everything: the data of a process that does not report now may be
// nowhere else.
func ReplicaRemains(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckCopyStays, Question: "does a replica of all data remain?", Gate: plan.GateReplicas, Need: "at least 1"}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	copies, of, known := copiesOf(s.Database.Status, groups)
	switch {
	case of == "":
		c.OK, c.Evidence = true, "the process groups keep no data"
	case !known:
		c.Evidence = "the number of replicas of " + of + " is unknown"
	default:
		left := copies - 1
		c.OK, c.Have = left >= 1, strconv.Itoa(left)
		c.Evidence = fmt.Sprintf("%s of %s now, %d after the removal, 1 required", phrase.Count(copies, "replica"), of, left)
	}
	return c
}

// copiesOf is the lowest number of replicas of anything that the groups may have.
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
	if n, reported := status.LogReplicas(); logs && known && (of == "" || !reported || n < copies) {
		copies, known, of = n, reported, "the logs"
	}
	return copies, of, known
}
