package status

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// recordDatabase records what the database reports.
func recordDatabase(s *plan.Snapshot) {
	status := &s.Cluster.Status
	recordConnectionString(s)
	recordRunningVersion(s)
	document := s.Database.Status
	if document == nil {
		return
	}
	status.Configured = status.Configured || (document.Available() && !document.NeverConfigured())
	for _, coordinator := range document.Coordinators() {
		status.RequiredAddresses.TLS = status.RequiredAddresses.TLS || coordinator.TLS
		status.RequiredAddresses.NonTLS = status.RequiredAddresses.NonTLS || !coordinator.TLS
	}
	status.Health.Available = document.Available()
	status.Health.Healthy = document.Healthy()
	status.Health.FullReplication = isTrue(document.Cluster.FullReplication)
	if data := document.Cluster.Data; data != nil && data.MovingData != nil && data.MovingData.HighestPriority != nil {
		status.Health.DataMovementPriority = *data.MovingData.HighestPriority
	}
	if document.Available() && document.Cluster.Configuration != nil {
		version, _ := fdb.ParseVersion(status.RunningVersion) // an unknown version resolves no engine names
		status.DatabaseConfiguration = objects.ConfigurationSeen(s.Cluster, *document.Cluster.Configuration, version)
	}
	if status.Configured && document.Available() {
		status.NeedsNewCoordinators = !safety.JudgeCoordinators(*s).Valid()
	}
}

// recordDenyList records the database's deny list where the spec has one; elsewhere it is not
// needed. A list that was not read stays unchanged.
func recordDenyList(s *plan.Snapshot) {
	c := s.Cluster
	if len(c.Spec.LockOptions.DenyList) == 0 || !c.LocksUsed() || !c.Status.Configured {
		c.Status.Locks.LockDenyList = nil
		return
	}
	if s.Coordination.Read {
		c.Status.Locks.LockDenyList = slices.Sorted(slices.Values(s.Coordination.DenyList))
	}
}

// recordConnectionString records coordinators that another actor changed. An empty connection
// string is taken from the ConfigMap, or else from the spec's seed.
func recordConnectionString(s *plan.Snapshot) {
	status := &s.Cluster.Status
	if document := s.Database.Status; document != nil && document.Cluster.ConnectionString != "" {
		if live, err := fdb.ParseConnectionString(document.Cluster.ConnectionString); err == nil {
			status.ConnectionString = live.String()
			return
		}
	}
	if status.ConnectionString == "" {
		status.ConnectionString = readings.RememberedClusterFile(*s)
	}
}

// recordRunningVersion records the version that most processes of all data centers run; the newer
// one of two that run on equally many.
func recordRunningVersion(s *plan.Snapshot) {
	status := &s.Cluster.Status
	if version, ok := majorityVersion(s.Database.Status); ok {
		status.RunningVersion = version.String()
		return
	}
	if status.RunningVersion == "" && s.ConfigMap != nil {
		status.RunningVersion = s.ConfigMap.Data[objects.KeyRunningVersion]
	}
	if status.RunningVersion == "" {
		status.RunningVersion = s.Cluster.Spec.Version
	}
}

func majorityVersion(document *fdb.Status) (best fdb.Version, ok bool) {
	if document == nil {
		return fdb.Version{}, false
	}
	texts := map[string]int{}
	for _, p := range document.Cluster.Processes {
		texts[p.Version]++
	}
	counts := map[fdb.Version]int{}
	for text, n := range texts {
		if v, err := fdb.ParseVersion(text); err == nil {
			counts[v] += n
		}
	}
	for v, n := range counts {
		if n > counts[best] || (n == counts[best] && v.Compare(best) > 0) {
			best = v
		}
	}
	return best, len(counts) > 0
}

func isTrue(b *bool) bool { return b != nil && *b }
