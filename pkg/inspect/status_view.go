package inspect

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// StatusView is the document of `status`: the state of one cluster.
type StatusView struct {
	Document
	// Labels are those of the resource; absent without any.
	Labels map[string]string `json:"labels,omitempty"`
	State  State             `json:"state"`
	// Summary is the state in one sentence.
	Summary string `json:"summary"`
	// Reasons are why the state is not healthy, the most severe first.
	Reasons []string `json:"reasons"`
	// Findings are what the rules of check about process groups, pods and nodes find; absent without any.
	Findings []findings.View `json:"findings,omitempty"`
	found    []findings.Finding
	// Deletions are the resource, its namespace and the PVCs that are being deleted; absent without any.
	Deletions []DeletionView `json:"deletions,omitempty"`
	// Restrictions are why the database does not serve its clients as usual or does not repair itself, and a pause of
	// operators, the most severe first; absent without one.
	Restrictions   []Restriction      `json:"restrictions,omitempty"`
	Database       DatabaseView       `json:"database"`
	FaultTolerance ToleranceView      `json:"faultTolerance"`
	Coordinators   CoordinatorsView   `json:"coordinators"`
	ProcessGroups  GroupsView         `json:"processGroups"`
	Configuration  ConfigurationView  `json:"configuration"`
	Reconciliation ReconciliationView `json:"reconciliation"`
	Locks          LocksView          `json:"locks"`
	// Rollout is a change that is reaching the process groups; absent without one.
	Rollout *reconcile.Rollout `json:"rollout,omitempty"`
	// Replacing is the replacement of process groups that is the only reason why the state is not healthy; absent
	// without one, and where anything else is wrong.
	Replacing *ReplacingView `json:"replacing,omitempty"`
	// Refusals are the objects that the API server did not accept when a pass wrote them last; absent where there are
	// none, or all exist by now.
	Refusals []plan.Refusal `json:"refusals,omitempty"`
	// Backups are those of the cluster and the restores into it, by their status; absent where
	// there are none, and in lists of clusters.
	Backups *RecordedBackupsView `json:"backups,omitempty"`
	// Distribution is how pods are packed into fault domains; absent where they are not.
	Distribution *distribution.Use `json:"distribution,omitempty"`
}

// DatabaseView is what the database reports about itself. What it does not report is null.
type DatabaseView struct {
	Origin
	Available *bool `json:"available"`
	// Healthy is what the database calls itself. It stays true for about a minute
	// after a storage process died.
	Healthy *bool `json:"healthy"`
	// UnknownReason is why the state of the database is unknown.
	UnknownReason string `json:"unknownReason,omitempty"`
	// Version is what most processes run.
	Version          string   `json:"version,omitempty"`
	SpecVersion      string   `json:"specVersion"`
	RecoveryState    string   `json:"recoveryState,omitempty"`
	RecoveryDetail   string   `json:"recoveryDetail,omitempty"`
	RecoveryAge      *float64 `json:"recoveryAgeSeconds"`
	FullyRecovered   *bool    `json:"fullyRecovered"`
	FullReplication  *bool    `json:"fullReplication"`
	DataState        string   `json:"dataState,omitempty"`
	DataHealthy      *bool    `json:"dataHealthy"`
	Replicas         *int     `json:"replicas"`
	ReplicasDesired  int      `json:"replicasDesired"`
	StoredBytes      *int64   `json:"storedBytes"`
	MovingBytes      *int64   `json:"movingBytes"`
	QueuedBytes      *int64   `json:"queuedBytes"`
	Locked           *bool    `json:"locked"`
	LockUID          string   `json:"lockUID,omitempty"`
	MaintenanceZone  string   `json:"maintenanceZone,omitempty"`
	MaintenanceLeft  *float64 `json:"maintenanceSecondsLeft"`
	PerformanceLimit string   `json:"performanceLimit,omitempty"`
	Messages         []string `json:"messages"`
	// ClientIssues are problems that clients of the database report about themselves.
	ClientIssues []ClientIssueView `json:"clientIssues,omitempty"`
	// onlyClients is whether these are the only reason for a database that does not call itself healthy.
	onlyClients       bool
	ProcessesReported *int `json:"processesReported"`
	// Clients is how many the database counts.
	Clients *int `json:"clients"`
	// DC is the data center of the resource; empty without one.
	DC string `json:"dc,omitempty"`
}

// CoordinatorsView are the coordinators by the client section of the database status.
type CoordinatorsView struct {
	Origin
	Desired         int               `json:"desired"`
	Reachable       *int              `json:"reachable"`
	QuorumReachable *bool             `json:"quorumReachable"`
	Items           []CoordinatorView `json:"items"`
}

// CoordinatorView is one coordinator.
type CoordinatorView struct {
	Address string `json:"address"`
	// Reachable is null when that was not checked.
	Reachable *bool `json:"reachable"`
}

// GroupsView counts process groups.
type GroupsView struct {
	Origin
	Desired    int `json:"desired"`
	Reconciled int `json:"reconciled"`
	Total      int `json:"total"`
	Removing   int `json:"removing"`
	Excluded   int `json:"excluded"`
	// Kept counts the groups that spec.cancelReplacementsForInstance keeps from being replaced,
	// and KeptDespiteSpec those of them that the next pass would mark without it.
	Kept            int         `json:"kept,omitempty"`
	KeptDespiteSpec int         `json:"keptDespiteSpec,omitempty"`
	Classes         []ClassView `json:"classes"`
	// Conditions counts the groups with each condition.
	Conditions []ConditionCount `json:"conditions"`
}

// ClassView counts the process groups of one class.
type ClassView struct {
	Class   string `json:"class"`
	Desired int    `json:"desired"`
	// Current leaves out those that are marked for removal.
	Current int `json:"current"`
	// Reporting is null when the database does not list processes.
	Reporting *int `json:"reporting"`
}

// ConditionCount counts the process groups that have a condition.
type ConditionCount struct {
	Condition string `json:"condition"`
	Groups    int    `json:"groups"`
}

// ConfigurationView compares the database's configuration with the spec's.
type ConfigurationView struct {
	Origin
	// Matches is null when the configuration of the database is unknown.
	Matches *bool              `json:"matches"`
	Desired fdb.Configuration  `json:"desired"`
	Live    *fdb.Configuration `json:"live"`
}

// ReconciliationView is why the cluster does not match its spec.
type ReconciliationView struct {
	Origin
	Generation           int64    `json:"generation"`
	ReconciledGeneration int64    `json:"reconciledGeneration"`
	Reconciled           bool     `json:"reconciled"`
	Reasons              []string `json:"reasons"`
	// Skip is spec.skip: operators skip the cluster.
	Skip bool `json:"skip"`
	// Pause describes the pause; null while spec.skip is false.
	Pause *PauseView `json:"pause"`
	// FailureDetector is absent for a cluster without one.
	FailureDetector *DetectorView `json:"failureDetector,omitempty"`
}

// LocksView are the Lease and the lock of the cluster.
type LocksView struct {
	Origin
	// LeaseRead is false when the Lease could not be read.
	LeaseRead bool `json:"leaseRead"`
	// LeaseHolder holds the Lease of runs in this Kubernetes cluster; empty without one.
	LeaseHolder string     `json:"leaseHolder,omitempty"`
	LeaseUntil  *time.Time `json:"leaseUntil"`
	// Operation is the command whose passes take the Lease; absent without one.
	Operation *OperationView `json:"operation,omitempty"`
	// Used is whether the spec uses the lock in the database.
	Used bool `json:"used"`
	// Read is false when the lock's keys were not read.
	Read     bool       `json:"read"`
	Owner    string     `json:"owner,omitempty"`
	Since    *time.Time `json:"since"`
	Until    *time.Time `json:"until"`
	Expired  bool       `json:"expired"`
	DenyList []string   `json:"denyList"`
}

// NewStatusView makes the document.
func NewStatusView(m Metadata, f Facts) StatusView {
	v := StatusView{
		Document:       NewDocument("ClusterStatus", m, f.Now, SourceLive),
		Labels:         knownLabels(f.Cluster.Labels),
		Deletions:      f.Deletions(),
		Database:       f.DatabaseView(),
		FaultTolerance: f.Tolerance(),
		Coordinators:   f.Coordinators(),
		ProcessGroups:  f.groups(),
		Configuration:  f.configuration(),
		Reconciliation: f.reconciliation(),
		Locks:          f.Locks(),
		Rollout:        f.Rollout(),
		Refusals:       f.Refusals(),
		Backups:        f.recordedBackups(),
		Distribution:   f.Distribution(),
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	v.Warnings = append(v.Warnings, v.Database.clientWarnings()...)
	v.Restrictions = f.Restrictions()
	v.found = f.Findings()
	v.State, v.Reasons = f.Judge(v)
	v.Replacing = f.replacing(v)
	v.Summary = summarize(v, append(v.information(), f.nodesWhileReporting()...))
	for _, found := range v.found {
		v.Findings = append(v.Findings, found.View())
	}
	return v
}

// Distribution returns how the pods of process groups that stay are packed into fault domains; nil
// where the spec does not pack them.
func (f Facts) Distribution() *distribution.Use {
	d := distribution.Of(f.Cluster)
	if !d.Enabled() {
		return nil
	}
	var placed []distribution.Placed
	for _, g := range f.Remaining() {
		if pod := f.Pod(g); pod != nil {
			placed = append(placed, distribution.Placed{Group: g, Key: objects.DistributionKeyOf(pod), Domain: f.Group(g).Zone})
		}
	}
	return d.Use(placed)
}

func (f Facts) DatabaseView() DatabaseView {
	v := DatabaseView{
		Origin: f.FromDatabase(), UnknownReason: f.Database.Why(), SpecVersion: f.Cluster.Spec.Version, Messages: []string{},
		DC:      f.Cluster.Spec.DataCenter,
		Version: f.Cluster.Status.RunningVersion, ReplicasDesired: f.Cluster.MinimumFaultDomains(),
	}
	s := f.Database.Status
	if s == nil {
		return v
	}
	v.Available, v.Healthy, v.FullyRecovered = new(s.Available()), new(s.Healthy()), new(s.FullyRecovered())
	if s.ListsProcesses() {
		v.ProcessesReported = new(len(s.Cluster.Processes))
	}
	if s.Cluster.Clients != nil {
		v.Clients = s.Cluster.Clients.Count
	}
	v.FullReplication = s.Cluster.FullReplication
	v.recovery(s)
	v.data(s)
	v.restrictions(s)
	v.onlyClients = s.OnlyClientsHaveIssues()
	for _, m := range slices.Concat(s.Client.Messages, s.Cluster.Messages) {
		v.Messages = append(v.Messages, m.Name)
		for _, issue := range m.Issues {
			v.ClientIssues = append(v.ClientIssues, ClientIssueView{Name: issue.Name, Clients: max(issue.Count, len(issue.Addresses)), Addresses: issue.Addresses})
		}
	}
	return v
}

func (v *DatabaseView) recovery(s *fdb.Status) {
	v.RecoveryState = s.RecoveryName()
	if s.Cluster.RecoveryState != nil {
		v.RecoveryDetail = s.Cluster.RecoveryState.Description
	}
	if age, ok := s.RecoveryAge(); ok {
		seconds := age.Seconds()
		v.RecoveryAge = &seconds
	}
}

func (v *DatabaseView) data(s *fdb.Status) {
	if state, ok := s.DataState(); ok {
		v.DataState, v.DataHealthy = state.Name, state.Healthy
	}
	if n, ok := s.MinReplicasRemaining(); ok {
		v.Replicas = &n
	}
	if d := s.Cluster.Data; d != nil {
		v.StoredBytes = d.TotalKVSizeBytes
		if d.MovingData != nil {
			v.MovingBytes, v.QueuedBytes = d.MovingData.InFlightBytes, d.MovingData.InQueueBytes
		}
	}
}

func (v *DatabaseView) restrictions(s *fdb.Status) {
	if locked, uid, ok := s.Locked(); ok {
		v.Locked, v.LockUID = &locked, uid
	}
	if m, _ := s.Maintenance(); m.Active() {
		left := m.Remaining.Seconds()
		v.MaintenanceZone, v.MaintenanceLeft = m.Zone, &left
	}
	if q := s.Cluster.QoS; q != nil && q.PerformanceLimitedBy != nil && q.PerformanceLimitedBy.Name != "workload" {
		v.PerformanceLimit = q.PerformanceLimitedBy.Name
	}
}

// CoordinatorDocument returns the document that has which coordinators answer: its client reads that from them,
// so it is known where the database could not complete the rest. Nil if there is none.
func (f Facts) CoordinatorDocument() *fdb.Status {
	if p := f.Database.Partial; f.Database.Status == nil && p != nil && len(p.Client.Coordinators.Coordinators) > 0 {
		return p
	}
	return f.Database.Status
}

// Coordinators returns those of the database; while it does not answer, those of the
// connection string in the status.
func (f Facts) Coordinators() CoordinatorsView {
	v := CoordinatorsView{Origin: f.FromDatabase(), Desired: f.Cluster.DesiredCoordinators(), Items: []CoordinatorView{}}
	document := f.CoordinatorDocument()
	if document == nil {
		if cs, err := fdb.ParseConnectionString(f.Cluster.Status.ConnectionString); err == nil {
			for _, a := range cs.Coordinators {
				v.Items = append(v.Items, CoordinatorView{Address: a.String()})
			}
		}
		return v
	}
	v.Origin = Origin{SourceLive, Known(f.Database.AsOf)}
	seen := document.Client.Coordinators
	reachable, quorum := 0, seen.QuorumReachable
	for _, c := range seen.Coordinators {
		answers := c.Reachable
		if answers {
			reachable++
		}
		v.Items = append(v.Items, CoordinatorView{Address: c.Address.String(), Reachable: &answers})
	}
	v.Reachable, v.QuorumReachable = &reachable, &quorum
	return v
}

func (f Facts) groups() GroupsView {
	v := GroupsView{Origin: f.Judged(), Desired: f.Cluster.DesiredProcessGroups(), Reconciled: f.Gaps.ReconciledProcessGroups, Total: len(f.Groups())}
	conditions := map[string]int{}
	for _, g := range f.Groups() {
		if g.IsMarkedForRemoval() {
			v.Removing++
		}
		if g.IsExcluded() {
			v.Excluded++
		}
		if f.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
			v.Kept++
		}
		for _, c := range g.ProcessGroupConditions {
			conditions[string(c.Type)]++
		}
	}
	v.KeptDespiteSpec = f.keptDespiteSpec()
	v.Classes = f.classes()
	v.Conditions = []ConditionCount{}
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		v.Conditions = append(v.Conditions, ConditionCount{name, conditions[name]})
	}
	return v
}

func (f Facts) classes() []ClassView {
	desired := f.Cluster.DesiredProcessCounts()
	classes := []ClassView{}
	for _, class := range v1beta2.ProcessClasses() {
		c := ClassView{Class: string(class), Desired: desired[class]}
		reporting := 0
		for _, g := range f.Groups() {
			if g.ProcessClass != class || g.IsMarkedForRemoval() {
				continue
			}
			c.Current++
			if !f.isNotReporting(g) {
				reporting++
			}
		}
		if f.Database.Status.ListsProcesses() {
			c.Reporting = &reporting
		}
		if c.Desired > 0 || c.Current > 0 {
			classes = append(classes, c)
		}
	}
	return classes
}

func (f Facts) configuration() ConfigurationView {
	v := ConfigurationView{Origin: f.FromDatabase(), Desired: f.Desired}
	if s := f.Database.Status; s != nil && s.Cluster.Configuration != nil {
		matches := f.Gaps.Generations.NeedsConfigurationChange == 0
		v.Live, v.Matches = s.Cluster.Configuration, &matches
	}
	return v
}

func (f Facts) reconciliation() ReconciliationView {
	return ReconciliationView{
		Origin: f.Judged(), Generation: f.Cluster.Generation, ReconciledGeneration: f.Gaps.Generations.Reconciled,
		Reconciled: f.Gaps.Reconciled(), Reasons: OrEmpty(f.Gaps.Reasons), Skip: f.Cluster.Spec.Skip, Pause: NewPauseView(f),
		FailureDetector: NewDetectorView(f),
	}
}

func (f Facts) Locks() LocksView {
	v := LocksView{
		Origin: f.fromKubernetes(), Used: f.Cluster.LocksUsed(), Read: f.Coordination.Read,
		DenyList: OrEmpty(f.Coordination.DenyList), LeaseRead: f.Lease.Read, LeaseHolder: f.Lease.HeldAt(f.Now), Operation: f.Lease.View(),
	}
	if v.LeaseHolder != "" {
		v.LeaseUntil = Known(f.Lease.Until)
	}
	if l := f.Coordination.Lock; l != nil {
		v.Owner, v.Since, v.Until, v.Expired = l.Owner, Known(l.Start), Known(l.End), l.ExpiredAt(f.Now)
	}
	return v
}
