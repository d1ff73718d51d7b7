package workload

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Code identifies a cause. A code, once released, keeps its meaning.
type Code string

// The codes of causes.
const (
	RatekeeperLimit   Code = "ratekeeper-limit"
	BatchLimit        Code = "batch-limit"
	ThrottledTags     Code = "throttled-tags"
	RejectedStarts    Code = "rejected-transactions"
	StartLatency      Code = "start-latency"
	ReadLatency       Code = "read-latency"
	CommitLatency     Code = "commit-latency"
	StorageQueue      Code = "storage-queue"
	StorageHardLimit  Code = "storage-hard-limit"
	StorageQueueGrows Code = "storage-queue-grows"
	LogQueue          Code = "log-queue"
	LogInput          Code = "log-input"
	DurabilityLag     Code = "durability-lag"
	DataLag           Code = "data-lag"
	RefusedReads      Code = "refused-reads"
	ProcessCPU        Code = "process-cpu"
	HotProcess        Code = "hot-process"
	CommitProxies     Code = "commit-proxies"
	GRVProxies        Code = "grv-proxies"
	Resolvers         Code = "resolvers"
	DiskBusy          Code = "disk-busy"
	DiskSpace         Code = "disk-space"
	Degraded          Code = "degraded-process"
	DataMovement      Code = "data-movement"
	Conflicts         Code = "conflicts"
	Clients           Code = "clients"
)

// Unit is what a figure counts.
type Unit string

// The units of figures.
const (
	Bytes     Unit = "bytes"
	PerSecond Unit = "perSecond"
	BytesRate Unit = "bytesPerSecond"
	Seconds   Unit = "seconds"
	Share     Unit = "share"
	Count     Unit = "count"
	Ratio     Unit = "ratio"
)

// Rule judges one figure: from near on it is close to slow down the database, from slow on it does.
// A rule whose near is its slow has no such range; a rule without slow never slows it down.
type Rule struct {
	Code Code
	// Title is the figure, in words.
	Title string
	Unit  Unit
	Near  float64
	Slow  float64
	// Source is where the thresholds come from: a knob or a documented value of FoundationDB, or
	// a default of kubectl fdb. NearSource is that of near; empty where it is the same.
	Source, NearSource string
	// decides is true for rules without whose answer the state of the database is unknown.
	decides bool
	// readings returns the figure of each subject.
	readings func(View) []reading
	// words returns what the worst figure means.
	words func(View, reading) string
	// next returns the command that shows more.
	next func(c command) []string
}

// reading is the figure of a subject; nil is unknown.
type reading struct {
	subject string
	value   *float64
}

// command is what the command of a cause is made of.
type command struct {
	cluster string
	// subject is the worst one.
	subject string
	// limit is ratekeeper's reason, for causes that are one.
	limit string
}

// Database is the subject of causes that no single process has.
const Database = "database"

// Rules returns all rules, the most decisive first: causes are in this order.
func Rules() []Rule {
	return slices.Concat(limitRules(), latencyRules(), queueRules(), processRules(), workloadRules())
}

// RuleOf returns the rule of a code.
func RuleOf(code Code) Rule {
	rules := Rules()
	return rules[slices.IndexFunc(rules, func(r Rule) bool { return r.Code == code })]
}

// Effect returns what a figure does to the database; empty for nothing.
func (r Rule) Effect(value float64) Effect {
	switch {
	case r.Slow > 0 && value >= r.Slow:
		return Slows
	case value >= r.Near:
		return Near
	default:
		return ""
	}
}

// threshold returns from which figure on an effect begins.
func (r Rule) threshold(e Effect) Threshold {
	if e == Slows {
		return Threshold{Value: r.Slow, Unit: r.Unit, Source: r.Source}
	}
	return Threshold{Value: r.Near, Unit: r.Unit, Source: phrase.Or(r.NearSource, r.Source)}
}

// ofDatabase returns the reading of the database as a whole.
func ofDatabase(value func(Load) *float64) func(View) []reading {
	return func(v View) []reading { return []reading{{Database, value(v.Load)}} }
}

// ofProcesses returns a reading for each process that matches.
func ofProcesses(match func(ProcessLoad) bool, value func(ProcessLoad) *float64) func(View) []reading {
	return func(v View) []reading {
		var all []reading
		for _, p := range v.Processes {
			if match(p) {
				all = append(all, reading{p.Subject(), value(p)})
			}
		}
		return all
	}
}

// anyProcess matches all processes.
func anyProcess(ProcessLoad) bool { return true }

// withRole matches the processes with any of the roles.
func withRole(roles ...string) func(ProcessLoad) bool {
	return func(p ProcessLoad) bool { return slices.ContainsFunc(roles, p.Has) }
}

// topProcesses returns the command that lists processes, the worst first.
func topProcesses(by string, more ...string) func(command) []string {
	return func(c command) []string {
		return append([]string{"top", "processes", c.cluster, "--sort-by", by}, more...)
	}
}

// fixed returns a command of fixed words about the cluster.
func fixed(words ...string) func(command) []string {
	return func(c command) []string { return append(slices.Clone(words), c.cluster) }
}
