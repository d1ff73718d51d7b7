// Package safety holds the questions that several stages and commands check before
// they change anything. Each returns a plan.Check that carries its evidence; a
// question without a known answer is refused.
package safety

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
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

// replicasDesired is the desired number of replicas of all data: from the configuration in
// force, which reports its own numbers where its policies are custom ones, and where it reports
// no redundancy from the spec. For an unknown mode, and without the configuration, it is unknown,
// which is never few enough.
func replicasDesired(s plan.Snapshot) (n int, known bool) {
	c := s.Database.Status.Cluster.Configuration
	switch {
	case c == nil:
		return 0, false
	case c.RedundancyMode != "" || c.StorageReplicas > 0:
		return c.Replicas()
	}
	return fdb.MinimumFaultDomains(redundancyOf(s))
}

// unknownRedundancy is the evidence for an unknown number of replicas.
func unknownRedundancy(s plan.Snapshot) string {
	if s.Database.Status.Cluster.Configuration == nil {
		return "the redundancy mode in force is unknown: the status document has no configuration"
	}
	return fmt.Sprintf("the number of replicas of the redundancy mode %s is unknown", redundancyOf(s))
}

// UseOf returns what the database of a snapshot uses, by its status document and the spec.
// Snapshots of a cluster do not have its backups, which are unknown.
func UseOf(s plan.Snapshot) versionfacts.Use {
	return versionfacts.Use{Status: s.Database.Status, Desired: objects.DesiredConfiguration(s.Cluster)}
}

// VersionChange checks a change of the version against the known facts. Each fact by which
// data or availability is lost, or may be, is a check that refuses; without one the result is
// empty. Facts are unknown while the database does not report what it uses.
func VersionChange(s plan.Snapshot, from, to fdb.Version) []plan.Check {
	return FactChecks(versionfacts.OfChange(from, to, UseOf(s)), versionfacts.Consequence.LosesDatabase)
}

// FactChecks returns a check that refuses for each fact with such a consequence.
func FactChecks(facts []versionfacts.Applying, refuses func(versionfacts.Consequence) bool) []plan.Check {
	var checks []plan.Check
	for _, f := range facts {
		if refuses(f.Consequence) {
			checks = append(checks, factCheck(f))
		}
	}
	return checks
}

func factCheck(f versionfacts.Applying) plan.Check {
	c := plan.Check{
		ID: plan.CheckVersionFact, Subject: f.ID, Gate: plan.GateConfig,
		Question: fmt.Sprintf("is the change from %s to %s safe for this database?", f.From, f.Version),
		Evidence: fmt.Sprintf("%s (%s)", f.Summary, f.Sources[0]),
	}
	if f.Applies == versionfacts.Unknown {
		c.Have = phrase.Unknown
		c.Evidence = fmt.Sprintf("cannot determine whether the database uses %s, which decides: %s", f.Condition, c.Evidence)
	}
	return c
}
