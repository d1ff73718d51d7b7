// Package safety holds the questions that several stages and commands ask before
// they let anything happen. Each answers with a plan.Check that carries its
// evidence; a question that cannot be answered is answered with no.
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
const incompleteDocument = "unknown: the status document is incomplete"

// Available asks whether the database takes transactions, by its own word.
func Available(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckAvailable, Question: "is the database available?", Gate: plan.GateAvailable}
	switch {
	case d.Status == nil:
		c.Evidence = d.Why()
	case !d.Status.Available():
		c.Evidence = fmt.Sprintf("it says it is not; its recovery state is %s", phrase.Or(d.Status.RecoveryName(), phrase.Unknown))
	case d.Status.Incomplete():
		c.Evidence = incompleteDocument
	default:
		c.OK, c.Evidence = true, "it says it is"
	}
	return c
}

// Unlocked asks whether a restore or disaster recovery has locked the database.
// Changes made under such a lock disturb whoever holds it.
func Unlocked(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckNotLocked, Question: "is the database free of a restore's or disaster recovery's lock?", Gate: plan.GateDBLock}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	locked, uid, known := d.Status.Locked()
	switch {
	case !known:
		c.Evidence = "the status document does not say"
	case locked:
		c.Evidence = "locked with UID " + uid
	default:
		c.OK, c.Evidence = true, "not locked"
	}
	return c
}

// MaxGenerations is how many log generations may be active when something that
// causes a recovery starts. Default 10; source: the operator's safety checks.
const MaxGenerations = 10

// FewGenerations asks whether the database has finished most of its past recoveries.
func FewGenerations(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckFewGenerations, Question: "has the database finished its past recoveries?", Gate: plan.GateGens, Need: "at most " + phrase.Count(MaxGenerations, "generation")}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	n, known := d.Status.ActiveGenerations()
	if !known {
		c.Evidence = "the status document does not tell the active generations"
		return c
	}
	c.OK, c.Have = n <= MaxGenerations, strconv.Itoa(n)
	c.Evidence = fmt.Sprintf("%s, at most %d allowed", phrase.Count(n, "active generation"), MaxGenerations)
	return c
}

// Recovered asks whether the last recovery is over as far as exclusions are
// concerned: before that, ending one can crash the cluster controller.
func Recovered(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRecoveryOver, Question: "is the last recovery over?", Gate: plan.GateRecovery}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	name := d.Status.RecoveryName()
	c.OK = name == fdb.RecoveryFullyRecovered || name == fdb.RecoveryAllLogsRecruited
	c.Evidence = "its state is " + phrase.Or(name, phrase.Unknown)
	return c
}

// DataHealthy asks whether data distribution has what it needs on enough servers.
func DataHealthy(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckDataDistributionHealthy, Question: "is data distribution healthy?", Gate: plan.GateDD}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	state, known := d.Status.DataState()
	switch {
	case d.Status.HasMessage("unreadable_configuration"):
		c.Evidence = "the database cannot read its own configuration"
	case !known:
		c.Evidence = "the status document does not tell"
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

// LoadWithinLimits asks whether storage servers and logs keep up.
func LoadWithinLimits(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckKeepsUp, Question: "do storage servers and logs keep up?", Gate: plan.GateQoS}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	qos := d.Status.Cluster.QoS
	if qos == nil {
		c.Evidence = "the status document does not tell"
		return c
	}
	for _, limit := range qosLimits(*qos) {
		switch {
		case limit.have == nil:
			c.Evidence = "the status document does not tell the " + limit.name
			return c
		case *limit.have > limit.most:
			c.Evidence = fmt.Sprintf("%s is %s, at most %s", limit.name, limit.show(*limit.have), limit.show(limit.most))
			return c
		}
	}
	c.OK, c.Evidence = true, "lags and queues are within limits"
	return c
}

type qosLimit struct {
	name string
	have *float64 // nil when not reported
	most float64
	show func(float64) string
}

func qosLimits(q fdb.QoS) []qosLimit {
	inSeconds := func(n float64) string { return fmt.Sprintf("%.0f s", n) }
	inMiB := func(n float64) string { return fmt.Sprintf("%.0f MiB", n/(1<<20)) }
	return []qosLimit{
		{"data lag of a storage server", lagSeconds(q.WorstDataLagStorageServer), maxLag.Seconds(), inSeconds},
		{"durability lag of a storage server", lagSeconds(q.WorstDurabilityLagStorageServer), maxLag.Seconds(), inSeconds},
		{"queue of a log server", asFloat(q.WorstQueueBytesLogServer), maxQueueBytes, inMiB},
		{"queue of a storage server", asFloat(q.WorstQueueBytesStorageServer), maxQueueBytes, inMiB},
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
