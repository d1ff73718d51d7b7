package workload

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ownJudgment is the source of thresholds for which FoundationDB documents none.
const ownJudgment = "default of kubectl fdb"

// limitRules are about ratekeeper, which limits how many transactions start.
func limitRules() []Rule {
	return []Rule{
		{
			Code: RatekeeperLimit, Title: "released transactions, as a share of ratekeeper's limit", Unit: Share, Near: limited, Slow: limited, decides: true,
			Source: "cluster.qos.performance_limited_by, which FoundationDB sets from 0.8 of the limit on",
			readings: func(v View) []reading {
				r := v.Load.Ratekeeper
				return r.LimitedBy.reading(share(r.ReleasedPerSecond, r.LimitPerSecond))
			},
			words: func(v View, _ reading) string {
				r := v.Load.Ratekeeper
				return fmt.Sprintf("ratekeeper starts %s of at most %s transactions per second: %s", eventsOf(r.ReleasedPerSecond), eventsOf(r.LimitPerSecond), r.LimitedBy.words())
			},
			next: nextOfLimit,
		},
		{
			Code: BatchLimit, Title: "released batch transactions, as a share of ratekeeper's limit for them", Unit: Share, Near: limited,
			Source: "cluster.qos.batch_performance_limited_by, which FoundationDB sets from 0.8 of the limit on",
			readings: func(v View) []reading {
				r := v.Load.Ratekeeper
				return r.BatchLimitedBy.reading(share(r.BatchReleasedPerSecond, r.BatchLimitPerSecond))
			},
			words: func(v View, _ reading) string {
				r := v.Load.Ratekeeper
				return fmt.Sprintf("ratekeeper starts batch transactions up to %s transactions per second: %s", eventsOf(r.BatchLimitPerSecond), r.BatchLimitedBy.words())
			},
			next: nextOfLimit,
		},
		{
			Code: ThrottledTags, Title: "transaction tags that ratekeeper limits", Unit: Count, Near: 1, Slow: 1,
			Source:   "cluster.qos.throttled_tags",
			readings: ofDatabase(func(l Load) *float64 { return numberOf(l.Ratekeeper.ThrottledTags) }),
			words: func(_ View, r reading) string {
				return "ratekeeper limits the transactions of " + phrase.Count(int(*r.value), "transaction tag")
			},
			next: func(c command) []string { return []string{"cli", c.cluster, "--", "throttle", "list"} },
		},
		{
			Code: RejectedStarts, Title: "transactions that waited too long for a read version", Unit: PerSecond, Near: 0.1, Slow: 1,
			Source:   ownJudgment,
			readings: ofDatabase(func(l Load) *float64 { return l.Transactions.RejectedPerSecond }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("%s transactions end because they wait too long to start", PerSecond.Text(*r.value))
			},
			next: topProcesses("cpu"),
		},
	}
}

// limited is the share of a limit from which on FoundationDB reports its reason.
const limited = 0.8

// reading returns which share of a limit is used. FoundationDB decides whether it is reached: the
// share is 0 while it is not, and at least the threshold where it is.
func (l *Limit) reading(used *float64) []reading {
	switch {
	case l == nil || l.Code == "":
		return []reading{{Database, nil}}
	case l.Code == fdb.LimitWorkload:
		return []reading{{Database, new(0.0)}}
	case used == nil: // a limit of 0
		used = new(1.0)
	}
	return []reading{{phrase.Or(l.Process, Database), new(max(*used, limited))}}
}

func (l Limit) words() string {
	text := l.Code
	if l.Description != "" {
		text = fmt.Sprintf("%s (%s)", strings.TrimSuffix(l.Description, "."), l.Code)
	}
	return text
}

// The reasons of ratekeeper's limit after which processes are listed in another order than by their
// storage queue.
const (
	limitDurabilityLag  = "storage_server_durability_lag"
	limitReadableBehind = "storage_server_readable_behind"
	limitListFailed     = "storage_server_list_fetch_failed"
)

func nextOfLimit(c command) []string {
	switch c.limit {
	case limitDurabilityLag, limitReadableBehind:
		return topProcesses("lag")(c)
	case "log_server_write_queue", "log_server_mvcc_write_bandwidth":
		return topProcesses("queue", "--class", "log")(c)
	case "storage_server_min_free_space", "storage_server_min_free_space_ratio", "log_server_min_free_space", "log_server_min_free_space_ratio":
		return topProcesses("space")(c)
	case limitListFailed:
		return fixed("why")(c)
	default:
		return topProcesses("queue")(c)
	}
}

// latencyRules are about the latency probe. FoundationDB documents typical latencies of a database
// at less than 75% load, up to 1 ms to start, 1 ms to read and 2.5 ms to commit; ten times that is
// near, a hundred times is slow.
func latencyRules() []Rule {
	const source, near = "100 times the latency that FoundationDB documents below 75% load", "10 times that"
	rule := func(code Code, what string, typical float64, value func(Latency) *float64) Rule {
		return Rule{
			Code: code, Title: "time to " + what + ", by the latency probe", Unit: Seconds, Near: 10 * typical, Slow: 100 * typical, decides: true,
			Source: source, NearSource: near,
			readings: ofDatabase(func(l Load) *float64 { return value(l.Latency) }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("it takes %s to %s, usually up to %s", Time(*r.value), what, Time(typical))
			},
			next: fixed("top"),
		}
	}
	return []Rule{
		rule(StartLatency, "start a transaction", 0.001, func(l Latency) *float64 { return l.StartSeconds }),
		rule(ReadLatency, "read a key", 0.001, func(l Latency) *float64 { return l.ReadSeconds }),
		rule(CommitLatency, "commit a transaction", 0.0025, func(l Latency) *float64 { return l.CommitSeconds }),
	}
}

// workloadRules are about what clients and data distribution do.
func workloadRules() []Rule {
	return []Rule{
		{
			Code: DataMovement, Title: "bytes that data distribution moves", Unit: Bytes, Near: 1 << 30, Source: ownJudgment,
			readings: ofDatabase(func(l Load) *float64 { return l.Data.moving() }),
			words: func(v View, r reading) string {
				return fmt.Sprintf("data distribution moves %s, of which %s wait; the data is %s", Bytes.Text(*r.value), bytesOf(v.Load.Data.QueuedBytes), v.Load.Data.State)
			},
			next: fixed("why"),
		},
		{
			Code: Conflicts, Title: "conflicts, as a share of commits and conflicts, from 10 conflicts per second on", Unit: Share, Near: 0.1, Slow: 0.25, Source: ownJudgment,
			readings: func(v View) []reading { return []reading{{Database, conflictsOf(v.Load.Transactions)}} },
			words: func(v View, r reading) string {
				return fmt.Sprintf("%s of the commits conflict, %s, and are tried again", Percent(*r.value), rateOf(v.Load.Transactions.ConflictedPerSecond))
			},
			next: fixed("get", "clients"),
		},
		{
			Code: Clients, Title: "connected clients", Unit: Count, Near: 1500,
			Source:   "FoundationDB's monitored metrics: alert above 1500",
			readings: ofDatabase(func(l Load) *float64 { return numberOf(l.Clients) }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("%s %s connected", phrase.Count(int(*r.value), "client"), phrase.Is(int(*r.value)))
			},
			next: fixed("get", "clients"),
		},
	}
}

// conflictsOf returns the share of conflicts; 0 where there are few, or no commits at all.
func conflictsOf(t TransactionLoad) *float64 {
	const few = 10
	switch {
	case t.ConflictedPerSecond == nil || t.CommittedPerSecond == nil:
		return nil
	case *t.ConflictedPerSecond < few:
		return new(0.0)
	default:
		return t.ConflictShare
	}
}
