package workload

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

// Load are the figures of the database as a whole. All rates are per second, as the database
// computes them over its last seconds; null is unknown.
type Load struct {
	Transactions TransactionLoad `json:"transactions"`
	Operations   OperationLoad   `json:"operations"`
	Latency      Latency         `json:"latency"`
	Ratekeeper   Ratekeeper      `json:"ratekeeper"`
	Queues       Queues          `json:"queues"`
	Lag          Lags            `json:"lag"`
	Data         Data            `json:"data"`
	// Clients is the number of connected clients.
	Clients *int `json:"clients"`
}

// TransactionLoad are the transactions of all clients.
type TransactionLoad struct {
	StartedPerSecond    *float64 `json:"startedPerSecond"`
	CommittedPerSecond  *float64 `json:"committedPerSecond"`
	ConflictedPerSecond *float64 `json:"conflictedPerSecond"`
	// RejectedPerSecond are those that waited too long for a read version.
	RejectedPerSecond *float64 `json:"rejectedPerSecond"`
	// ConflictShare is the share of conflicts among commits and conflicts; null without either.
	ConflictShare *float64 `json:"conflictShare"`
}

// OperationLoad are the reads and writes of all clients.
type OperationLoad struct {
	ReadsPerSecond        *float64 `json:"readsPerSecond"`
	WritesPerSecond       *float64 `json:"writesPerSecond"`
	ReadBytesPerSecond    *float64 `json:"readBytesPerSecond"`
	WrittenBytesPerSecond *float64 `json:"writtenBytesPerSecond"`
}

// Latency is what the cluster controller's own small transactions take.
type Latency struct {
	StartSeconds  *float64 `json:"startSeconds"`
	ReadSeconds   *float64 `json:"readSeconds"`
	CommitSeconds *float64 `json:"commitSeconds"`
}

// Ratekeeper is how many transactions the database starts at most, and why.
type Ratekeeper struct {
	ReleasedPerSecond      *float64 `json:"releasedPerSecond"`
	LimitPerSecond         *float64 `json:"limitPerSecond"`
	BatchReleasedPerSecond *float64 `json:"batchReleasedPerSecond"`
	BatchLimitPerSecond    *float64 `json:"batchLimitPerSecond"`
	// LimitedBy is the reason of the limit; its code is workload while the limit is not reached.
	LimitedBy      *Limit `json:"limitedBy"`
	BatchLimitedBy *Limit `json:"batchLimitedBy"`
	// ThrottledTags is how many transaction tags are limited, automatically or manually.
	ThrottledTags *int `json:"throttledTags"`
}

// limitOf returns the code of the limit that a cause is about; empty for causes that are none, and where the
// database reports no reason.
func (r Ratekeeper) limitOf(cause Code) string {
	limit := map[Code]*Limit{RatekeeperLimit: r.LimitedBy, BatchLimit: r.BatchLimitedBy}[cause]
	if limit == nil {
		return ""
	}
	return limit.Code
}

// Limit is the reason of ratekeeper's limit.
type Limit struct {
	// Code is the name that FoundationDB has for it, such as storage_server_write_queue_size.
	Code        string `json:"code"`
	Description string `json:"description,omitempty"`
	// Process is the process group, or else the address, of the log or storage role that limits
	// the database; empty when the limit has another reason.
	Process string `json:"process,omitempty"`
}

// Queues are the largest amounts of data that roles hold in memory and not on disk yet.
type Queues struct {
	StorageBytes *int64 `json:"storageBytes"`
	// LimitingStorageBytes leaves out the one fault domain that ratekeeper ignores.
	LimitingStorageBytes *int64 `json:"limitingStorageBytes"`
	LogBytes             *int64 `json:"logBytes"`
}

// Lags are how far the slowest storage servers are behind.
type Lags struct {
	// DataSeconds is how far storage servers are behind the logs.
	DataSeconds *float64 `json:"dataSeconds"`
	// DurabilitySeconds is how far their disks are behind their memory: 5 when idle.
	DurabilitySeconds *float64 `json:"durabilitySeconds"`
	// LimitingDurabilitySeconds leaves out the one fault domain that ratekeeper ignores.
	LimitingDurabilitySeconds *float64 `json:"limitingDurabilitySeconds"`
}

// Data is how much is stored and moved.
type Data struct {
	// State is FoundationDB's name for it, such as healthy or healing.
	State       string `json:"state,omitempty"`
	StoredBytes *int64 `json:"storedBytes"`
	DiskBytes   *int64 `json:"diskBytes"`
	Partitions  *int64 `json:"partitions"`
	// InFlightBytes are being moved, QueuedBytes are waiting for that.
	InFlightBytes *int64 `json:"inFlightBytes"`
	QueuedBytes   *int64 `json:"queuedBytes"`
	// HighestPriority is that of the most urgent move.
	HighestPriority *int `json:"highestPriority"`
}

// loadOf returns the figures of a status document.
func loadOf(s *fdb.Status) Load {
	l := Load{Ratekeeper: ratekeeperOf(s)}
	c := s.Cluster
	if w := c.Workload; w != nil {
		l.Transactions = transactionsOf(w.Transactions)
		l.Operations = OperationLoad{
			ReadsPerSecond: w.Operations.Reads.PerSecond(), WritesPerSecond: w.Operations.Writes.PerSecond(),
			ReadBytesPerSecond: w.Bytes.Read.PerSecond(), WrittenBytesPerSecond: w.Bytes.Written.PerSecond(),
		}
	}
	if p := c.LatencyProbe; p != nil {
		l.Latency = Latency{StartSeconds: p.TransactionStartSeconds, ReadSeconds: p.ReadSeconds, CommitSeconds: p.CommitSeconds}
	}
	if q := c.QoS; q != nil {
		l.Queues = Queues{StorageBytes: q.WorstQueueBytesStorageServer, LimitingStorageBytes: q.LimitingQueueBytesStorageServer, LogBytes: q.WorstQueueBytesLogServer}
		l.Lag = Lags{
			DataSeconds: secondsOf(q.WorstDataLagStorageServer), DurabilitySeconds: secondsOf(q.WorstDurabilityLagStorageServer),
			LimitingDurabilitySeconds: secondsOf(q.LimitingDurabilityLagStorageServer),
		}
	}
	if c.Data != nil {
		l.Data = dataOf(*c.Data)
	}
	if c.Clients != nil {
		l.Clients = c.Clients.Count
	}
	return l
}

func transactionsOf(w fdb.WorkloadTransactions) TransactionLoad {
	t := TransactionLoad{
		StartedPerSecond: w.Started.PerSecond(), CommittedPerSecond: w.Committed.PerSecond(),
		ConflictedPerSecond: w.Conflicted.PerSecond(), RejectedPerSecond: w.RejectedQueuedTooLong.PerSecond(),
	}
	if t.CommittedPerSecond != nil && t.ConflictedPerSecond != nil {
		t.ConflictShare = share(t.ConflictedPerSecond, new(*t.CommittedPerSecond+*t.ConflictedPerSecond))
	}
	return t
}

func ratekeeperOf(s *fdb.Status) Ratekeeper {
	q := s.Cluster.QoS
	if q == nil {
		return Ratekeeper{}
	}
	return Ratekeeper{
		ReleasedPerSecond: q.ReleasedTransactionsPerSecond, LimitPerSecond: q.TransactionsPerSecondLimit,
		BatchReleasedPerSecond: q.BatchReleasedTransactionsPerSecond, BatchLimitPerSecond: q.BatchTransactionsPerSecondLimit,
		LimitedBy: limitOf(s, q.PerformanceLimitedBy), BatchLimitedBy: limitOf(s, q.BatchPerformanceLimitedBy), ThrottledTags: throttledTags(q.ThrottledTags),
	}
}

func limitOf(s *fdb.Status, l *fdb.Limit) *Limit {
	if l == nil {
		return nil
	}
	limit := &Limit{Code: l.Name, Description: l.Description}
	if l.ReasonServerID == "" {
		return limit
	}
	for _, p := range s.ProcessList() {
		for _, r := range p.Roles {
			if r.ID == l.ReasonServerID {
				limit.Process = subjectOf(p)
			}
		}
	}
	return limit
}

func throttledTags(t *fdb.ThrottledTags) *int {
	if t == nil || t.Auto == nil || t.Manual == nil || t.Auto.Count == nil || t.Manual.Count == nil {
		return nil
	}
	return new(*t.Auto.Count + *t.Manual.Count)
}

func dataOf(d fdb.DataStatus) Data {
	data := Data{StoredBytes: d.TotalKVSizeBytes, DiskBytes: d.TotalDiskUsedBytes, Partitions: d.PartitionsCount}
	if d.State != nil {
		data.State = d.State.Name
	}
	if m := d.MovingData; m != nil {
		data.InFlightBytes, data.QueuedBytes, data.HighestPriority = m.InFlightBytes, m.InQueueBytes, m.HighestPriority
	}
	return data
}

// moving returns what is moved or waits for that; nil when unknown.
func (d Data) moving() *float64 {
	if d.InFlightBytes == nil || d.QueuedBytes == nil {
		return nil
	}
	return new(float64(*d.InFlightBytes + *d.QueuedBytes))
}

func secondsOf(l *fdb.Lag) *float64 {
	if l == nil {
		return nil
	}
	return l.Seconds
}

// share returns part of all; nil where one is unknown, or there is nothing.
func share(part, all *float64) *float64 {
	if part == nil || all == nil || *all <= 0 {
		return nil
	}
	return new(*part / *all)
}

// numberOf returns a count as a figure; nil when unknown.
func numberOf[N int | int64](n *N) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}
