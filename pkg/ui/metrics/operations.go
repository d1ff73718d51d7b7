package metrics

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// operationsFor is how long a Lease that was read counts as current, so that frequent scrapes
// are no load for the API server.
const operationsFor = 5 * time.Second

// The phases of an operation.
const (
	phasePass    = "pass"
	phaseWaiting = "waiting"
)

// operations is the active operation of any run on the cluster, as its Lease has it when the page is
// read: another run's begins and ends between two passes of a watch.
type operations struct {
	now func() time.Time

	known, active, started, targets, reached *prometheus.Desc

	mu     sync.Mutex
	read   func() inspect.Lease // nil where nothing reads it
	lease  inspect.Lease
	readAt time.Time
}

func newOperations(own prometheus.Labels, now func() time.Time) *operations {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, own)
	}
	return &operations{
		now:     now,
		known:   describe("operation_known", "1 if the Lease of the cluster could be read, else 0: whether an operation is active is unknown then."),
		active:  describe("operation_active", "1 for the active operation of a run; absent without one.", "command", "owner", "phase"),
		started: describe("operation_started_timestamp_seconds", "When the active operation began."),
		targets: describe("operation_targets", "Process groups, nodes or other objects that the active operation is about; absent for one about the whole cluster."),
		reached: describe("operation_targets_reached", "How many of them are done."),
	}
}

// OperationsFrom sets what reads the Lease of the cluster. It may be called concurrently with reads of
// the page, and is bounded by itself.
func (m *Metrics) OperationsFrom(read func() inspect.Lease) {
	m.operations.mu.Lock()
	defer m.operations.mu.Unlock()
	m.operations.read = read
}

// Describe implements prometheus.Collector.
func (o *operations) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{o.known, o.active, o.started, o.targets, o.reached} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (o *operations) Collect(to chan<- prometheus.Metric) {
	lease, is := o.current()
	if !is {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if !lease.Read {
		gauge(o.known, 0)
		return
	}
	gauge(o.known, 1)
	operation := lease.Operation
	if operation == nil || !lease.OperationActive {
		return
	}
	gauge(o.active, 1, commandOf(*operation), operation.By(), phaseOf(operation.Progress))
	if !operation.Since.IsZero() {
		gauge(o.started, float64(operation.Since.Unix()))
	}
	if p := operation.Progress; p.Targets > 0 {
		gauge(o.targets, float64(p.Targets))
		gauge(o.reached, float64(p.Reached))
	}
}

// current returns the Lease, and false where nothing reads it.
func (o *operations) current() (inspect.Lease, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.read == nil {
		return inspect.Lease{}, false
	}
	if now := o.now(); o.readAt.IsZero() || now.Sub(o.readAt) >= operationsFor || now.Before(o.readAt) {
		o.lease, o.readAt = o.read(), now
	}
	return o.lease, true
}

// commandOf returns the verb or noun that the command line begins with: its arguments would be a new
// time series for each operation.
func commandOf(o reconcile.Operation) string {
	first, _, _ := strings.Cut(o.Command, " ")
	return first
}

func phaseOf(p reconcile.OperationProgress) string {
	if p.WaitingFor != "" {
		return phaseWaiting
	}
	return phasePass
}
