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
)

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
