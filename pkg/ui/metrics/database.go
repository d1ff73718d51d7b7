package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// database has what the last pass read of the database. A value that is unknown is absent, never
// zero.
type database struct {
	answered, readAt, available, fullReplication, locked, paused    *prometheus.GaugeVec
	zones, zonesDesired                                             *prometheus.GaugeVec
	coordinators, coordinatorsDesired, quorum                       *prometheus.GaugeVec
	movingBytes, queuedBytes, lag, queueBytes                       *prometheus.GaugeVec
	processes, excluded, removing, oldestRemoval                    *prometheus.GaugeVec
	findings                                                        *prometheus.GaugeVec
	lockUntil, backupRunning, backupRestorable, backupSecondsBehind *prometheus.GaugeVec
	all                                                             []*prometheus.GaugeVec
}

func newDatabase(own prometheus.Labels) *database {
	d := &database{}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: own}, labels)
		d.all = append(d.all, g)
		return g
	}
	d.answered = gauge("database_answered", "1 if the database returned its status when it was last queried, else 0.")
	d.readAt = gauge("database_status_timestamp_seconds", "When the status of the database was read.")
	d.available = gauge("database_available", "1 if the database is available, else 0.")
	d.fullReplication = gauge("database_full_replication", "1 if all data has as many replicas as the redundancy mode requires, else 0.")
	d.locked = gauge("database_locked", "1 if the database rejects ordinary transactions, else 0.")
	d.paused = gauge("paused", "1 if spec.skip is true, so that operators skip the cluster, else 0.")
	d.zones = gauge("database_zones_to_lose", "Zones that may fail without the loss of data, or of availability.", "without_loss_of")
	d.zonesDesired = gauge("database_zones_to_lose_desired", "Zones that may fail in a reconciled cluster.")
	d.coordinators = gauge("coordinators_reachable", "Coordinators that are reachable from the pod that was queried.")
	d.coordinatorsDesired = gauge("coordinators_desired", "Coordinators that the spec requires.")
	d.quorum = gauge("coordinators_quorum_reachable", "1 if a quorum of coordinators is reachable, else 0.")
	d.movingBytes = gauge("database_moving_bytes", "Data that is being moved between storage servers.")
	d.queuedBytes = gauge("database_queued_bytes", "Data that waits to be moved between storage servers.")
	d.lag = gauge("database_worst_lag_seconds", "The largest lag of a storage server: of data behind the logs, or of durability.", "kind")
	d.queueBytes = gauge("database_worst_queue_bytes", "The largest queue of a log or storage server.", "role")
	d.processes = gauge("database_processes", "Processes that report to the database.")
	d.excluded = gauge("database_excluded_processes", "Processes that report to the database and are excluded.")
	d.removing = gauge("process_groups_marked_for_removal", "Process groups that are marked for removal.")
	d.oldestRemoval = gauge("oldest_removal_timestamp_seconds", "When the first of the process groups that are marked for removal was marked; absent without one.")
	d.findings = gauge("findings", "Process groups, pods and nodes that a rule of check finds; absent while the rule cannot be evaluated.", "code", "severity")
	d.lockUntil = gauge("lock_expiry_timestamp_seconds", "When the lock of control-plane instances expires; absent without one.", "owner")
	d.backupRunning = gauge("backup_running", "1 if the backup runs, else 0.", "tag")
	d.backupRestorable = gauge("backup_restorable", "1 if the running backup can be restored, else 0.", "tag")
	d.backupSecondsBehind = gauge("backup_seconds_behind", "Age of the newest version that can be restored.", "tag")
	return d
}

func (d *database) register(r *prometheus.Registry) {
	for _, g := range d.all {
		r.MustRegister(g)
	}
}

// observed takes over a snapshot whose facets were read just now.
func (d *database) observed(facets plan.Facet, s plan.Snapshot) {
	if s.Cluster == nil {
		return
	}
	f := inspect.Facts{Snapshot: s}
	if facets&plan.ClusterResource != 0 {
		d.resource(f)
	}
	if facets&plan.Database != 0 {
		d.status(f)
	}
	if facets&plan.Coordination != 0 {
		d.lock(f)
	}
}

func (d *database) resource(f inspect.Facts) {
	marked := 0
	var oldest *metav1.Time
	for _, g := range f.Cluster.Status.ProcessGroups {
		if !g.IsMarkedForRemoval() {
			continue
		}
		marked++
		if oldest == nil || g.RemovalTimestamp.Before(oldest) {
			oldest = g.RemovalTimestamp
		}
	}
	set(d.removing, &marked)
	d.oldestRemoval.Reset()
	if oldest != nil {
		set(d.oldestRemoval, new(oldest.Unix()))
	}
	setBool(d.paused, &f.Cluster.Spec.Skip)
}

// status takes over what the database reports. When it is not queried, such as before its
// creation, all of it is unknown.
func (d *database) status(f inspect.Facts) {
	for _, g := range d.all {
		if g != d.paused && g != d.removing && g != d.oldestRemoval && g != d.lockUntil && g != d.readAt {
			g.Reset()
		}
	}
	d.found(f)
	if f.Database.Status == nil && f.Database.Unreachable == "" {
		return
	}
	setBool(d.answered, new(f.Database.Status != nil))
	if f.Database.Status == nil {
		return
	}
	set(d.readAt, new(float64(f.Database.AsOf.UnixMilli())/1000))
	d.view(f)
	d.load(f.Database.Status)
	d.backups(f.Database.Status)
}

// found counts what the rules find that `status`, `why` and `check` have. Before pods were read no rule can be evaluated.
func (d *database) found(f inspect.Facts) {
	for _, r := range inspect.FindingRules() {
		if f.Pods == nil || f.Lacks(r.Needs) != "" {
			continue
		}
		found, untested := r.Of(f)
		n := 0
		for _, one := range found {
			n += len(one.Subjects)
		}
		if n > 0 || untested == "" {
			set(d.findings, &n, r.Code, string(r.Severity))
		}
	}
}

// view takes over what `status` shows.
func (d *database) view(f inspect.Facts) {
	v, tolerance, coordinators := f.DatabaseView(), f.Tolerance(), f.Coordinators()
	setBool(d.available, v.Available)
	setBool(d.fullReplication, v.FullReplication)
	setBool(d.locked, v.Locked)
	set(d.movingBytes, v.MovingBytes)
	set(d.queuedBytes, v.QueuedBytes)
	set(d.processes, v.ProcessesReported)
	set(d.zones, tolerance.Zones, "data")
	set(d.zones, tolerance.ZonesAvailable, "availability")
	set(d.zonesDesired, &tolerance.Desired)
	set(d.coordinators, coordinators.Reachable)
	set(d.coordinatorsDesired, &coordinators.Desired)
	setBool(d.quorum, coordinators.QuorumReachable)
}

func (d *database) load(s *fdb.Status) {
	if s.ListsProcesses() {
		excluded := 0
		for _, p := range s.ProcessList() {
			if p.IsExcluded() {
				excluded++
			}
		}
		set(d.excluded, &excluded)
	}
	q := s.Cluster.QoS
	if q == nil {
		return
	}
	if lag := q.WorstDataLagStorageServer; lag != nil {
		set(d.lag, lag.Seconds, "data")
	}
	if lag := q.WorstDurabilityLagStorageServer; lag != nil {
		set(d.lag, lag.Seconds, "durability")
	}
	set(d.queueBytes, q.WorstQueueBytesLogServer, "log")
	set(d.queueBytes, q.WorstQueueBytesStorageServer, "storage")
}

func (d *database) backups(s *fdb.Status) {
	if s.Cluster.Layers.Backup == nil {
		return
	}
	for tag, b := range s.Cluster.Layers.Backup.Tags {
		setBool(d.backupRunning, b.RunningBackup, tag)
		setBool(d.backupRestorable, b.RunningBackupIsRestorable, tag)
		set(d.backupSecondsBehind, b.LastRestorableSecondsBehind, tag)
	}
}

func (d *database) lock(f inspect.Facts) {
	d.lockUntil.Reset()
	if v := f.Locks(); v.Read && v.Until != nil {
		set(d.lockUntil, new(float64(v.Until.UnixMilli())/1000), v.Owner)
	}
}

// set sets a value that is known.
func set[N int | int64 | float64](g *prometheus.GaugeVec, value *N, labels ...string) {
	if value != nil {
		g.WithLabelValues(labels...).Set(float64(*value))
	}
}

// setBool sets 1 or 0 for a value that is known.
func setBool(g *prometheus.GaugeVec, value *bool, labels ...string) {
	if value == nil {
		return
	}
	number := 0
	if *value {
		number = 1
	}
	set(g, &number, labels...)
}
