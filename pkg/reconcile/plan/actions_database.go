package plan

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Configure changes the database's configuration, or creates the database.
type Configure struct {
	// New is true for a database that was never configured.
	New           bool              `json:"new,omitempty"`
	Configuration fdb.Configuration `json:"configuration"`
	// Part is which part of the configuration is sent; by default all of it.
	Part fdb.Part `json:"part,omitempty"`
	// Command is the configure command as text for users.
	Command string `json:"command" fingerprint:"-"`
}

// Describe implements Action.
func (a Configure) Describe() string { return "run " + a.Command }

// Subject implements Action.
func (Configure) Subject() string { return "database" }

// A new database has no other control-plane instance yet, so only a change needs the lock.
func (a Configure) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: !a.New, Impact: Recovery}
}

// ChangeCoordinators moves the coordinators and stores the connection string
// that results. The two are one action: a status without the new connection
// string cannot find its database.
type ChangeCoordinators struct {
	Coordinators []fdb.Address `json:"coordinators"`
}

// Describe implements Action.
func (a ChangeCoordinators) Describe() string {
	words := make([]string, len(a.Coordinators))
	for i, c := range a.Coordinators {
		words[i] = c.String()
	}
	return fmt.Sprintf("change coordinators to %s and store the new connection string", strings.Join(words, " "))
}

// Hosts returns the hosts of the coordinators; of DNS names the first part, which is that of the pod.
func (a ChangeCoordinators) Hosts() []string {
	hosts := make([]string, len(a.Coordinators))
	for i, c := range a.Coordinators {
		hosts[i] = c.Host
		if !c.IsIP() {
			hosts[i], _, _ = strings.Cut(c.Host, ".")
		}
	}
	return hosts
}

// Subject implements Action.
func (ChangeCoordinators) Subject() string { return "coordinators" }

func (ChangeCoordinators) effect() Effect {
	return Effect{Stale: ClusterResource | Database | Coordination, Locked: true, Impact: Recovery}
}

// SetPriorities sets the priorities of regions in the spec of every FoundationDBCluster of a database, that
// of the pass last. It writes no other field of the spec.
type SetPriorities struct {
	// Cluster is the resource of the pass.
	Cluster string `json:"cluster"`
	// To is the data center whose region becomes primary.
	To        string            `json:"to"`
	Resources []RegionsResource `json:"resources"`
}

// RegionsResource is a FoundationDBCluster whose regions are changed.
type RegionsResource struct {
	Name string `json:"name"`
	// UID and Generation are those of the resource that was read: of another one nothing is changed.
	UID        types.UID `json:"uid"`
	Generation int64     `json:"generation"`
	// Changes are the data centers whose priority is changed.
	Changes []PriorityChange `json:"changes"`
	// Regions are all regions of the spec, with the priorities changed.
	Regions []v1beta2.Region `json:"regions"`
}

// PriorityChange is another priority of a data center.
type PriorityChange struct {
	DataCenter string `json:"dataCenter"`
	// Path is the field in the spec.
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// NewRegionsResource returns the change of a resource; false if it has these regions.
func NewRegionsResource(c *v1beta2.FoundationDBCluster, regions []v1beta2.Region) (r RegionsResource, differs bool) {
	r = RegionsResource{Name: c.Name, UID: c.UID, Generation: c.Generation, Regions: regions}
	for i, region := range c.Spec.DatabaseConfiguration.Regions {
		for j, dc := range region.Datacenters {
			if i >= len(regions) || j >= len(regions[i].Datacenters) || regions[i].Datacenters[j].Priority == dc.Priority {
				continue
			}
			r.Changes = append(r.Changes, PriorityChange{
				DataCenter: dc.ID, Path: fmt.Sprintf("spec.databaseConfiguration.regions[%d].datacenters[%d].priority", i, j), From: dc.Priority, To: regions[i].Datacenters[j].Priority,
			})
		}
	}
	return r, len(r.Changes) > 0
}

// Describe implements Action.
func (a SetPriorities) Describe() string {
	var words []string
	for _, r := range a.Resources {
		for _, c := range r.Changes {
			words = append(words, fmt.Sprintf("%s: %s (%s) from %d to %d", r.Name, c.Path, c.DataCenter, c.From, c.To))
		}
	}
	return "set priorities of regions: " + strings.Join(words, "; ")
}

// Subject implements Action.
func (a SetPriorities) Subject() string { return a.Cluster }

func (SetPriorities) effect() Effect {
	return Effect{Stale: ClusterResource | OtherClusters, Impact: NoImpact}
}

// Apply implements Edit.
func (a SetPriorities) Apply(s Snapshot) Snapshot {
	for _, r := range a.Resources {
		if s.Cluster != nil && r.Name == s.Cluster.Name {
			s.Cluster = s.Cluster.DeepCopy()
			s.Cluster.Spec.DatabaseConfiguration.Regions = r.Regions
		}
	}
	s.OtherClusters.All = slices.Clone(s.OtherClusters.All)
	for i := range s.OtherClusters.All {
		for _, r := range a.Resources {
			if s.OtherClusters.All[i].Name == r.Name {
				s.OtherClusters.All[i].Spec.DatabaseConfiguration.Regions = r.Regions
			}
		}
	}
	return s
}

// WriteRestoreStatus replaces the status of a FoundationDBRestore.
type WriteRestoreStatus struct {
	Restore string `json:"restore"`
	// Changes describes the differences from the current status.
	Changes []string                          `json:"changes" fingerprint:"-"`
	Status  v1beta2.FoundationDBRestoreStatus `json:"-"`
}

// Describe implements Action.
func (a WriteRestoreStatus) Describe() string {
	return "update status: " + strings.Join(a.Changes, "; ")
}

// Subject implements Action.
func (a WriteRestoreStatus) Subject() string { return a.Restore }

func (WriteRestoreStatus) effect() Effect { return Effect{Stale: Restore, Impact: NoImpact} }

// Apply implements Edit.
func (a WriteRestoreStatus) Apply(s Snapshot) Snapshot {
	s.Restore = s.Restore.DeepCopy()
	s.Restore.Status = a.Status
	return s
}

// RestoreNoted is the status right before the restore is started. No other status equals
// it: a restore that was observed in the queue is running as well.
func RestoreNoted() v1beta2.FoundationDBRestoreStatus {
	return v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateQueued}
}

// RestoreBegun is the status once the restore was observed in the database.
func RestoreBegun() v1beta2.FoundationDBRestoreStatus {
	return v1beta2.FoundationDBRestoreStatus{Running: true, State: v1beta2.RestoreStateQueued}
}

// StartRestore starts a restore into an empty database, which it locks. The status is written
// before the start, so the same restore is never started twice.
type StartRestore struct {
	Restore string           `json:"restore"`
	Cluster string           `json:"cluster"`
	Start   fdb.RestoreStart `json:"start"`
}

// Describe implements Action.
func (a StartRestore) Describe() string {
	what := rangesWords(a.Start.Ranges)
	version := "the latest restorable version"
	if a.Start.Version != nil {
		version = fmt.Sprintf("version %d", *a.Start.Version)
	}
	if key := a.Start.EncryptionKeyFile; key != "" {
		version += ", decrypted with " + key + ","
	}
	return fmt.Sprintf("restore %s as of %s from %s into %s, which is locked until the restore is complete", what, version, fdb.WithoutSecrets(a.Start.URL), a.Cluster)
}

// rangesShown is how many key ranges are listed. The rest is identified by a digest.
const rangesShown = 8

func rangesWords(ranges [][2]string) string {
	if len(ranges) == 0 {
		return "everything"
	}
	var words []string
	for _, keys := range ranges[:min(len(ranges), rangesShown)] {
		words = append(words, fmt.Sprintf("%q to %q", keys[0], keys[1]))
	}
	if len(ranges) > rangesShown {
		rest := ranges[rangesShown:]
		words = append(words, fmt.Sprintf("and %d more with the digest %x", len(rest), sha256.Sum256(fmt.Appendf(nil, "%q", rest))))
	}
	return fmt.Sprintf("%s (%s)", phrase.Count(len(ranges), "key range"), strings.Join(words, ", "))
}

// Subject implements Action.
func (a StartRestore) Subject() string { return a.Cluster }

func (StartRestore) effect() Effect {
	return Effect{Stale: Restore | RestoreStatus | RestoreTarget | Database, Impact: DataRestore}
}

// AbortRestore ends an incomplete restore. FoundationDB unlocks the database with whatever
// was written so far.
type AbortRestore struct {
	Restore string `json:"restore"`
	Cluster string `json:"cluster"`
	Tag     string `json:"tag"`
	// UID identifies the restore in the database: another one on the same tag is not aborted.
	UID string `json:"uid"`
	// URL is where it restores from, without secrets, and Version what it restores.
	URL     string `json:"url"`
	Version int64  `json:"version"`
}

// Describe implements Action.
func (a AbortRestore) Describe() string {
	return fmt.Sprintf("abort the restore %s of tag %s, as of version %d from %s: %s is unlocked with partially restored data",
		a.UID, a.Tag, a.Version, a.URL, a.Cluster)
}

// Subject implements Action.
func (a AbortRestore) Subject() string { return a.Cluster }

func (AbortRestore) effect() Effect {
	return Effect{Stale: Restore | RestoreStatus | Database, Impact: DataLoss}
}
