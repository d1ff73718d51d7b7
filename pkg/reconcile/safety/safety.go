// Package safety holds the questions that several stages and commands check before
// they change anything. Each returns a plan.Check that carries its evidence; a
// question without a known answer is refused.
package safety

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// incompleteDocument is the evidence of every check that needs what such a document lacks.
const incompleteDocument = "the status document is incomplete"

// noStatus is the evidence of a check that needs the status document and has none.
func noStatus(d plan.DatabaseFacts) string { return "no database status: " + d.Why() }

// noAnswer is the evidence of a check whose answer is in the status document, and that has none or
// an incomplete one; empty otherwise. What an incomplete document has may be right, but what it
// lacks proves nothing, and no gate distinguishes the two.
func noAnswer(d plan.DatabaseFacts) string {
	switch {
	case d.Status == nil:
		return noStatus(d)
	case d.Status.Incomplete():
		return incompleteDocument
	}
	return ""
}

// Available checks whether the database reports that it is available.
func Available(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckAvailable, Question: "is the database available?", Gate: plan.GateAvailable}
	switch {
	case d.Status == nil:
		c.Evidence = noStatus(d)
	case !d.Status.Available():
		c.Evidence = fmt.Sprintf("the database is unavailable; its recovery state is %s", phrase.Or(d.Status.RecoveryName(), phrase.Unknown))
	case d.Status.Incomplete():
		c.Evidence = incompleteDocument
	default:
		c.OK, c.Evidence = true, "the database is available"
	}
	return c
}

// Unlocked checks whether a restore or disaster recovery has locked the database.
// Changes made under such a lock disturb the restore or disaster recovery.
func Unlocked(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckNotLocked, Question: "is the database free of restore and disaster recovery locks?", Gate: plan.GateDBLock}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	locked, uid, known := d.Status.Locked()
	switch {
	case !known:
		c.Evidence = "the status document does not report whether the database is locked"
	case locked:
		c.Evidence = "the database is locked with UID " + uid
	default:
		c.OK, c.Evidence = true, "the database is not locked"
	}
	return c
}

// MaxGenerations is how many log generations may be active when something that
// causes a recovery starts. Default 10; source: the operator's safety checks.
const MaxGenerations = 10

// FewGenerations checks whether the database has finished most of its past recoveries.
func FewGenerations(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckFewGenerations, Question: "has the database finished its past recoveries?", Gate: plan.GateGens, Need: "at most " + phrase.Count(MaxGenerations, "generation")}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	n, known := d.Status.ActiveGenerations()
	if !known {
		c.Evidence = "the status document does not report the active generations"
		return c
	}
	c.OK, c.Have = n <= MaxGenerations, strconv.Itoa(n)
	c.Evidence = fmt.Sprintf("%s, at most %d allowed", phrase.Count(n, "active generation"), MaxGenerations)
	return c
}

// Recovered checks whether the last recovery is over as far as exclusions are
// concerned: before that, ending one can crash the cluster controller.
func Recovered(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRecoveryOver, Question: "is the last recovery over?", Gate: plan.GateRecovery}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	name := d.Status.RecoveryName()
	c.OK = name == fdb.RecoveryFullyRecovered || name == fdb.RecoveryAllLogsRecruited
	c.Evidence = "recovery state is " + phrase.Or(name, phrase.Unknown)
	return c
}

// DataHealthy checks whether data distribution reports enough replicas of all data.
func DataHealthy(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckDataDistributionHealthy, Question: "is data distribution healthy?", Gate: plan.GateDD}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	state, known := d.Status.DataState()
	switch {
	case d.Status.HasMessage(fdb.MessageUnreadableConfiguration):
		c.Evidence = "the database cannot read its own configuration"
	case !known:
		c.Evidence = "the status document does not report the state of the data"
	default:
		c.OK, c.Evidence = d.Status.DataHealthy(), "data state is "+state.Name
	}
	return c
}

// The limits of lag and queues beyond which nothing that adds load may start.
// Source: the operator's safety checks.
const (
	maxLag        = 60 * time.Second
	maxQueueBytes = 250 << 20
)

// LoadWithinLimits checks whether lags and queues of storage and log processes are within limits.
func LoadWithinLimits(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckKeepsUp, Question: "are lags and queues within limits?", Gate: plan.GateQoS}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	qos := d.Status.Cluster.QoS
	if qos == nil {
		c.Evidence = "the status document does not report lags and queues"
		return c
	}
	for _, limit := range qosLimits(*qos) {
		switch {
		case limit.have == nil:
			c.Evidence = "the status document does not report the " + limit.name
			return c
		case *limit.have > limit.limit:
			c.Evidence = fmt.Sprintf("%s is %s, at most %s allowed", limit.name, limit.show(*limit.have), limit.show(limit.limit))
			return c
		}
	}
	c.OK, c.Evidence = true, "lags and queues are within limits"
	return c
}

type qosLimit struct {
	name  string
	have  *float64 // nil when not reported
	limit float64
	show  func(float64) string
}

func qosLimits(q fdb.QoS) []qosLimit {
	inSeconds := func(n float64) string { return fmt.Sprintf("%.0f s", n) }
	inMiB := func(n float64) string { return fmt.Sprintf("%.0f MiB", n/(1<<20)) }
	return []qosLimit{
		{"data lag of a storage process", lagSeconds(q.WorstDataLagStorageServer), maxLag.Seconds(), inSeconds},
		{"durability lag of a storage process", lagSeconds(q.WorstDurabilityLagStorageServer), maxLag.Seconds(), inSeconds},
		{"queue of a log process", asFloat(q.WorstQueueBytesLogServer), maxQueueBytes, inMiB},
		{"queue of a storage process", asFloat(q.WorstQueueBytesStorageServer), maxQueueBytes, inMiB},
	}
}

func lagSeconds(lag *fdb.Lag) *float64 {
	if lag == nil {
		return nil
	}
	return lag.Seconds
}

func asFloat(n *int64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
