package status

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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

// Gaps returns what keeps a cluster from being reconciled: by its status, and by the storage engines
// that the database reports, which are not in the status.
//
// The operator takes a new storage engine for complete once it is configured. That is long before it
// is in use: in a gradual migration the processes change one after the other, and without the wiggle
// none ever does.
func Gaps(s plan.Snapshot) v1beta2.Gaps {
	return s.Cluster.ReconciliationGaps(objects.DesiredResourceConfiguration(s.Cluster), slices.Concat(oldEngines(s), keptGaps(s), readings.InvalidPods(s).Reasons)...)
}

// keptGaps describes the process groups that the spec keeps although it also lists them for removal,
// or although they differ from it in a way that only a replacement can change.
func keptGaps(s plan.Snapshot) []string {
	kept := s.Cluster.KeptProcessGroups()
	if len(kept) == 0 {
		return nil
	}
	var gaps []string
	inspect := readings.NewInspection(s, plan.Options{})
	for _, g := range s.Remaining() {
		if !slices.Contains(kept, g.ProcessGroupID) {
			continue
		}
		if field := readings.ListedForRemoval(s.Cluster, g.ProcessGroupID); field != "" {
			gaps = append(gaps, fmt.Sprintf("process group %s is in %s and in %s", g.ProcessGroupID, field, readings.KeepField))
		}
		if differs, err := inspect.Group(g); err == nil && differs != "" {
			gaps = append(gaps, fmt.Sprintf("process group %s is kept by %s: %s", g.ProcessGroupID, readings.KeepField, differs))
		}
	}
	return gaps
}

// oldEngines describes which storage processes have not changed to the configured engine. Without a
// migration the database does not change them, so nothing is waited for.
func oldEngines(s plan.Snapshot) []string {
	if !s.Database.Available() || s.Database.Status.Cluster.Configuration == nil {
		return nil
	}
	c := s.Database.Status.Cluster.Configuration
	if !migrates(c) {
		return nil
	}
	old := 0
	for engine, processes := range s.Database.Status.StorageEngines() {
		if engine != "" && engine != c.StorageEngine { // versions before 7.3 do not report it
			old += processes
		}
	}
	if old == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s still %s another engine than %s%s", phrase.Count(old, "storage server"), phrase.Either(old, "uses", "use"), c.StorageEngine, stoppedWiggle(s))}
}

// migrates reports whether the database itself changes all storage processes to its engine. A wiggle
// that is limited to a locality, or has an engine of its own, keeps others on purpose.
func migrates(c *fdb.Configuration) bool {
	switch ptr.Deref(c.StorageMigrationType, "") {
	case string(v1beta2.StorageMigrationAggressive):
		return true
	case string(v1beta2.StorageMigrationGradual):
		return slices.Contains([]string{"", "0"}, ptr.Deref(c.PerpetualStorageWiggleLocality, "")) &&
			slices.Contains([]string{"", "none"}, ptr.Deref(c.PerpetualStorageWiggleEngine, ""))
	}
	return false
}

// minSpaceToWiggle is the part of each disk that has to be available. The perpetual wiggle pauses
// while one storage server has less. Source: knob PERPETUAL_WIGGLE_MIN_AVAILABLE_SPACE_RATIO, which 7.3.60
// introduced.
const minSpaceToWiggle = 0.30

// stoppedWiggle describes why a gradual migration does not continue; empty where nothing is known to
// stop it.
func stoppedWiggle(s plan.Snapshot) string {
	c := s.Database.Status.Cluster.Configuration
	if ptr.Deref(c.StorageMigrationType, "") != string(v1beta2.StorageMigrationGradual) {
		return ""
	}
	if ptr.Deref(c.PerpetualStorageWiggle, 0) == 0 {
		return ", and a gradual migration moves none without perpetual_storage_wiggle=1"
	}
	if version, err := fdb.ParseVersion(s.Cluster.RunningVersion()); err != nil || !pausesOnFullDisks(version) {
		return ""
	}
	var full []string
	for _, p := range s.Database.Status.ProcessList() {
		for _, r := range p.Roles {
			available, total := ptr.Deref(r.KVStoreAvailableBytes, 0), ptr.Deref(r.KVStoreTotalBytes, 0)
			if ratio := float64(available) / float64(max(total, 1)); r.Role == fdb.RoleStorage && total > 0 && ratio < minSpaceToWiggle {
				full = append(full, fmt.Sprintf("%s has %.0f%%", p.InstanceID(), 100*ratio))
			}
		}
	}
	if len(full) == 0 {
		return ""
	}
	slices.Sort(full)
	return fmt.Sprintf(", and the perpetual wiggle pauses while a storage server has less than %.0f%% of its disk available: %s", 100*minSpaceToWiggle, readings.SomeOf(full))
}

// pausesOnFullDisks reports whether the wiggle of a version pauses for lack of disk space; older ones
// continue.
func pausesOnFullDisks(v fdb.Version) bool {
	_, is := versionfacts.About(versionfacts.WigglePausesOnFullDisks, v)
	return is
}
