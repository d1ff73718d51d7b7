package workload

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// queueRules are about what storage servers and logs have not written to disk yet. Ratekeeper
// begins to reduce the rate where a queue comes within a knob SPRING_BYTES of its target. For a
// storage server that is TARGET_BYTES_PER_STORAGE_SERVER 1000e6 without SPRING_BYTES_STORAGE_SERVER
// 100e6, for a log TARGET_BYTES_PER_TLOG 2400e6 without SPRING_BYTES_TLOG 400e6.
func queueRules() []Rule {
	storage, log := withRole(fdb.RoleStorage), withRole(fdb.RoleLog)
	return slices.Concat([]Rule{
		{
			Code: StorageQueue, Title: "largest storage queue that ratekeeper counts", Unit: Bytes, Near: 500e6, Slow: storageQueueTarget, decides: true,
			Source: "knobs TARGET_BYTES_PER_STORAGE_SERVER and SPRING_BYTES_STORAGE_SERVER", NearSource: "FoundationDB's monitored metrics, alert above 500 MB",
			readings: func(v View) []reading {
				return []reading{{v.largestQueue(storage), numberOf(v.Load.Queues.LimitingStorageBytes)}}
			},
			words: queueWords("a storage server", storageQueueTarget), next: topProcesses("queue", "--class", "storage"),
		},
		{
			Code: StorageHardLimit, Title: "storage queue of a process", Unit: Bytes, Near: storageQueueTarget, Slow: 1500e6,
			Source: "knob STORAGE_HARD_LIMIT_BYTES: a storage server then reads nothing from the logs", NearSource: "ratekeeper ignores one fault domain from 900 MB on",
			readings: ofProcesses(storage, func(p ProcessLoad) *float64 { return numberOf(p.QueueBytes) }),
			words:    queueWords("the storage server", 1500e6), next: topProcesses("queue", "--class", "storage"),
		},
		{
			Code: StorageQueueGrows, Title: "growth of the largest storage queue, as a share of what is left to ratekeeper's limit in 10 minutes", Unit: Share, Near: 1, Source: ownJudgment,
			readings: func(v View) []reading { return v.growthReading() },
			words: func(v View, _ reading) string {
				return fmt.Sprintf("the largest storage queue has %s and grows by %s/s", bytesOf(v.Load.Queues.LimitingStorageBytes), bytesOf(v.Trend.StorageQueueBytesPerSecond))
			},
			next: topProcesses("queue", "--class", "storage"),
		},
		{
			Code: LogQueue, Title: "largest log queue", Unit: Bytes, Near: 1600e6, Slow: 2000e6, decides: true,
			Source: "knobs TARGET_BYTES_PER_TLOG and SPRING_BYTES_TLOG", NearSource: "FoundationDB's monitored metrics, alert above 1.6 GB",
			readings: func(v View) []reading { return []reading{{v.largestQueue(log), numberOf(v.Load.Queues.LogBytes)}} },
			words:    queueWords("a log", 2000e6), next: topProcesses("queue", "--class", "log"),
		},
		{
			Code: LogInput, Title: "bytes that a log receives", Unit: BytesRate, Near: 80e6,
			Source:   "FoundationDB's monitored metrics: alert above 80 MB/s",
			readings: ofProcesses(log, func(p ProcessLoad) *float64 { return p.InputBytesPerSecond }),
			words:    func(_ View, r reading) string { return fmt.Sprintf("the log receives %s", BytesRate.Text(*r.value)) },
			next:     topProcesses("disk", "--class", "log"),
		},
	}, lagRules(storage))
}

// storageQueueTarget is the storage queue from which on ratekeeper reduces the rate.
const storageQueueTarget = 900e6

func lagRules(storage func(ProcessLoad) bool) []Rule {
	return []Rule{
		{
			Code: DurabilityLag, Title: "durability lag of a storage server", Unit: Seconds, Near: 60, Slow: 250, decides: true,
			Source: "knob STORAGE_DURABILITY_LAG_SOFT_MAX, from which on it refuses reads; ratekeeper: TARGET_DURABILITY_LAG_VERSIONS, 350 s", NearSource: ownJudgment,
			readings: ofProcesses(storage, func(p ProcessLoad) *float64 { return p.DurabilityLagSeconds }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("the disk of the storage server is %s behind its memory, 5s when idle", Time(*r.value))
			},
			next: topProcesses("lag", "--class", "storage"),
		},
		{
			Code: DataLag, Title: "data lag of a storage server", Unit: Seconds, Near: 5, Slow: 15, decides: true,
			Source: "FoundationDB's monitored metrics: alert above 15 s", NearSource: "knob MAX_READ_TRANSACTION_LIFE_VERSIONS, 5 s",
			readings: ofProcesses(storage, func(p ProcessLoad) *float64 { return p.DataLagSeconds }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("the storage server is %s behind the logs", Time(*r.value))
			},
			next: topProcesses("lag", "--class", "storage"),
		},
		{
			Code: RefusedReads, Title: "reads that a storage server refuses", Unit: Share, Near: 0.01, Slow: 0.01,
			Source: "local_rate of the storage role, which is below 100 from STORAGE_DURABILITY_LAG_SOFT_MAX on",
			readings: ofProcesses(storage, func(p ProcessLoad) *float64 {
				if p.ServedReads == nil {
					return nil
				}
				return new(1 - *p.ServedReads)
			}),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("the storage server refuses %s of the reads, because its durability lag is too large", Percent(*r.value))
			},
			next: topProcesses("lag", "--class", "storage"),
		},
	}
}

// queueWords describes a queue beside its limit.
func queueWords(who string, limit float64) func(View, reading) string {
	return func(_ View, r reading) string {
		return fmt.Sprintf("%s has %s in memory that are not on disk yet, limit %s", who, Bytes.Text(*r.value), Bytes.Text(limit))
	}
}

// largestQueue returns the process with the largest queue; the database where none is known.
func (v View) largestQueue(match func(ProcessLoad) bool) string {
	subject, largest := Database, int64(-1)
	for _, p := range v.Processes {
		if match(p) && p.QueueBytes != nil && *p.QueueBytes > largest {
			subject, largest = p.Subject(), *p.QueueBytes
		}
	}
	return subject
}

// processRules are about CPU and disks. FoundationDB documents no limits of these; 75% is the load
// up to which it documents latencies.
func processRules() []Rule {
	disks := withRole(fdb.RoleStorage, fdb.RoleLog)
	return slices.Concat([]Rule{
		{
			Code: ProcessCPU, Title: "CPU of a process, by its core and its run loop", Unit: Share, Near: 0.75, Slow: 0.9, decides: true,
			Source: ownJudgment + ", an fdbserver process has one thread", NearSource: "the load up to which FoundationDB documents latencies",
			readings: ofProcesses(anyProcess, ProcessLoad.Busy),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("the process uses %s of its only core", Percent(*r.value))
			},
			next: topProcesses("cpu"),
		},
		{
			Code: HotProcess, Title: "busiest storage server, compared with the median of at least 3, from 50% on", Unit: Ratio, Near: 3, Source: ownJudgment,
			readings: func(v View) []reading { return v.hotProcess() },
			words: func(v View, r reading) string {
				return fmt.Sprintf("the storage server is %s as busy as the median of them", Ratio.Text(*r.value))
			},
			next: topProcesses("cpu", "--class", "storage"),
		},
		{
			Code: DiskBusy, Title: "share of time in which the disk of a storage server or log works", Unit: Share, Near: 0.75, Slow: 0.9, decides: true,
			Source:   ownJudgment,
			readings: ofProcesses(disks, func(p ProcessLoad) *float64 { return p.DiskBusy }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("the disk is busy %s of the time", Percent(*r.value))
			},
			next: topProcesses("disk"),
		},
		{
			Code: DiskSpace, Title: "share of the disk that is not available to a storage server or log", Unit: Share, Near: 0.85, Slow: 0.95, decides: true,
			Source: "knob MIN_AVAILABLE_SPACE_RATIO, 0.05", NearSource: "FoundationDB's monitored metrics, alert below 15% free",
			readings: ofProcesses(disks, func(p ProcessLoad) *float64 { return p.SpaceUsed }),
			words: func(_ View, r reading) string {
				return fmt.Sprintf("%s of the disk is available, 5%% required", Percent(1-*r.value))
			},
			next: topProcesses("space"),
		},
		{
			Code: Degraded, Title: "processes that the cluster controller reports as slow", Unit: Count, Near: 1, Slow: 1,
			Source: "degraded of the process",
			readings: ofProcesses(anyProcess, func(p ProcessLoad) *float64 {
				if p.Degraded != nil && *p.Degraded {
					return new(1.0)
				}
				return new(0.0) // only degraded processes report it
			}),
			words: func(View, reading) string { return "the cluster controller reports the process as degraded" },
			next:  fixed("get", "processes"),
		},
	}, roleRules())
}

// roleRules are about roles of which the configuration has too few.
func roleRules() []Rule {
	rule := func(code Code, role, name string) Rule {
		return Rule{
			Code: code, Title: "mean CPU of the processes with the role " + role, Unit: Share, Near: 0.75, Slow: 0.9, Source: ownJudgment + ", as for a process",
			readings: func(v View) []reading { return []reading{{Database, v.meanOf(role)}} },
			words: func(v View, r reading) string {
				n := len(v.with(role))
				return fmt.Sprintf("%s use %s of their cores on average", phrase.Count(n, name), Percent(*r.value))
			},
			next: fixed("get", "configuration"),
		}
	}
	return []Rule{
		rule(CommitProxies, fdb.RoleCommitProxy, "commit proxy"),
		rule(GRVProxies, fdb.RoleGRVProxy, "GRV proxy"),
		rule(Resolvers, fdb.RoleResolver, "resolver"),
	}
}

func (v View) with(role string) []ProcessLoad {
	return slices.DeleteFunc(slices.Clone(v.Processes), func(p ProcessLoad) bool { return !p.Has(role) })
}

// meanOf returns the mean CPU of the processes with a role; nil where one does not report it.
func (v View) meanOf(role string) *float64 {
	var busy []float64
	for _, p := range v.with(role) {
		b := p.Busy()
		if b == nil {
			return nil
		}
		busy = append(busy, *b)
	}
	return mean(busy)
}

// hotProcess returns how many times as busy as the median the busiest storage server is. There is
// no reading for few of them, and while none is busy.
func (v View) hotProcess() []reading {
	const enough, busyFrom = 3, 0.5
	var known []ProcessLoad
	for _, p := range v.with(fdb.RoleStorage) {
		if p.Busy() != nil {
			known = append(known, p)
		}
	}
	if len(known) < enough {
		return nil
	}
	stable.Sort(known, func(a, b ProcessLoad) int { return order(a.Busy(), b.Busy()) })
	busiest, median := known[0], *known[len(known)/2].Busy()
	if *busiest.Busy() < busyFrom {
		return nil
	}
	return []reading{{busiest.Subject(), new(*busiest.Busy() / max(median, 0.01))}}
}
