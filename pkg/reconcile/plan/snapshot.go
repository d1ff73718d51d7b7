package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Snapshot is everything one decision may look at. Decisions treat it as
// read-only; a facet that was not observed is zero.
type Snapshot struct {
	// Now is when the newest facet was observed.
	Now time.Time
	// Seed makes a pass's random choices; it is the same for the whole pass.
	Seed uint64

	// Cluster is the record: the custom resource with its spec normalised in
	// memory. The normalised spec is never written back.
	Cluster *v1beta2.FoundationDBCluster
	// Nodes by name; nil where no rule of the spec looks at them.
	Nodes map[string]*corev1.Node
	// NodesHidden says why the nodes may not be read; empty when they may. What nobody
	// may read is a fact: a pass needs nodes for nothing but their taints.
	NodesHidden string
	// Pods by name.
	Pods map[string]*corev1.Pod
	// Volumes are the PersistentVolumeClaims by name.
	Volumes map[string]*corev1.PersistentVolumeClaim
	// Services by name.
	Services map[string]*corev1.Service
	// ConfigMap is the cluster's ConfigMap; nil when there is none.
	ConfigMap *corev1.ConfigMap
	// PodFiles by pod name; a pod without an entry was not asked.
	PodFiles map[string]PodReport
	// Database is what the database said of itself.
	Database DatabaseFacts
	// Coordination is what the instances that share the database left for each other.
	Coordination CoordinationFacts

	// Backup is the record of a backup; nil where a pass is about something else.
	Backup *v1beta2.FoundationDBBackup
	// OtherBackups are the other records of backups; they come with the record.
	OtherBackups OtherBackupFacts
	// Agents are what there is of backup agents.
	Agents AgentFacts
	// BackupStatus is what the database said of the backup's tag.
	BackupStatus BackupFacts
	// BackupStore is what is in the store where the backup's record has it go.
	BackupStore StoreFacts
	// BackupUse is who writes to stores, or restores from them, for the database.
	BackupUse UseFacts
	// Restore is the record of a restore; nil where a pass is about something else.
	Restore *v1beta2.FoundationDBRestore
	// RestoreStatus is what the database said of restores.
	RestoreStatus RestoreFacts
	// OtherRestores are the other records of restores.
	OtherRestores OtherRestoreFacts
	// RestoreSource is the backup that begins where the restore's is.
	RestoreSource SourceFacts
	// RestoreTarget is whether the key ranges that the restore writes hold data.
	RestoreTarget TargetFacts
}

// DatabaseFacts is the answer, or the lack of one, to a request for the status document.
type DatabaseFacts struct {
	// Status is the document; nil when there is none.
	Status *fdb.Status
	// NotAsked says why nobody could be asked: there is no cluster file yet, or
	// no pod runs. Empty when the database was asked.
	NotAsked string
	// Unreachable says why an asked database gave no usable document. An
	// unreachable database is a fact; each stage says what it means for it.
	Unreachable string
	// Forbidden is true where that is because nobody allowed us to ask.
	Forbidden bool
	// AsOf is when the document was read.
	AsOf time.Time
}

// Available reports whether the database itself said that it is available, in a complete
// document: what an incomplete one calls available can lack every process.
func (d DatabaseFacts) Available() bool {
	return d.Status != nil && d.Status.Available() && !d.Status.Incomplete()
}

// Why explains in a few words why there is no document; it is empty when there is one.
func (d DatabaseFacts) Why() string {
	if d.Status != nil {
		return ""
	}
	if d.NotAsked != "" {
		return d.NotAsked
	}
	return d.Unreachable
}

// CoordinationFacts is what instances that share one database tell each other through it.
type CoordinationFacts struct {
	// Read is false when the keys were not read: nothing that the spec asks for needs
	// them, the database was never configured, or it cannot be asked.
	Read bool
	// ReadyForUpgrade are the process groups, of all instances, that were announced to
	// be able to start in the spec's version. Read during an upgrade to a version that
	// speaks another protocol.
	ReadyForUpgrade []v1beta2.ProcessGroupID
	// Announced are all announcements for upgrades, of all instances, by version. Read
	// where instances meet in the database.
	Announced map[string][]v1beta2.ProcessGroupID
	// Maintenance says since when process groups are about to restart during
	// maintenance. Read where the spec has maintenance mode used or reset.
	Maintenance map[v1beta2.ProcessGroupID]time.Time
	// Lock is the lock record; nil when nobody holds or held the lock.
	Lock *fdb.Lock
	// DenyList are the owner ids that may not take the lock.
	DenyList []string
	// Denials say who put them there, as far as that was read and noted.
	Denials map[string]fdb.Denial
	// Lists are the process groups that instances act on together. Read in global
	// synchronization mode.
	Lists ListFacts
	// ExclusionsRead is false when exclusions were not read: no group is marked for
	// removal or was seen to be excluded, or the database cannot be asked.
	ExclusionsRead bool
	// Exclusions are the targets excluded now, read in a transaction: a status document
	// can be stale, and an exclusion that a person ended lets data come back.
	Exclusions []string
	// FailedExclusions are those of Exclusions that somebody made as failed: nobody waits
	// for their data.
	FailedExclusions []string
	// InProgressExclusions are addresses, with ports and without flags, of processes
	// that are excluded and still hold something. fdb.UnknownLogAddress among them may
	// be anybody.
	InProgressExclusions []string
}

// PodReport is what one pod reports of the configuration it uses.
type PodReport struct {
	// Variables are the values that the pod's monitor or sidecar substitutes; nil when unknown.
	Variables map[string]string `json:"variables,omitempty"`
	// Configuration is the monitor configuration in force, as JSON. Unified images only.
	Configuration string `json:"configuration,omitempty"`
	// Hashes are the SHA-256 sums, in hex, of the files in the pod by name; a file
	// that is not there has none. Split images only.
	Hashes map[string]string `json:"hashes,omitempty"`
	// Present says of files that were asked about whether they are in the pod. Split
	// images only, during an upgrade to a version that speaks another protocol.
	Present map[string]bool `json:"present,omitempty"`
	// Unreachable says why the sidecar could not be asked; empty when it answered.
	Unreachable string `json:"unreachable,omitempty"`
}

// Without returns s with the facets in drop set to zero.
func (s Snapshot) Without(drop Facet) Snapshot {
	for facet, clearFacet := range map[Facet]func(*Snapshot){
		Record:       func(s *Snapshot) { s.Cluster = nil },
		Nodes:        func(s *Snapshot) { s.Nodes, s.NodesHidden = nil, "" },
		Pods:         func(s *Snapshot) { s.Pods = nil },
		Volumes:      func(s *Snapshot) { s.Volumes = nil },
		Services:     func(s *Snapshot) { s.Services = nil },
		ConfigMap:    func(s *Snapshot) { s.ConfigMap = nil },
		PodFiles:     func(s *Snapshot) { s.PodFiles = nil },
		Database:     func(s *Snapshot) { s.Database = DatabaseFacts{} },
		Coordination: func(s *Snapshot) { s.Coordination = CoordinationFacts{} },

		Backup:        func(s *Snapshot) { s.Backup, s.OtherBackups = nil, OtherBackupFacts{} },
		Agents:        func(s *Snapshot) { s.Agents = AgentFacts{} },
		BackupStatus:  func(s *Snapshot) { s.BackupStatus = BackupFacts{} },
		Restore:       func(s *Snapshot) { s.Restore = nil },
		RestoreStatus: func(s *Snapshot) { s.RestoreStatus = RestoreFacts{} },
		BackupStore:   func(s *Snapshot) { s.BackupStore = StoreFacts{} },
		BackupUse:     func(s *Snapshot) { s.BackupUse = UseFacts{} },
		OtherRestores: func(s *Snapshot) { s.OtherRestores = OtherRestoreFacts{} },
		RestoreSource: func(s *Snapshot) { s.RestoreSource = SourceFacts{} },
		RestoreTarget: func(s *Snapshot) { s.RestoreTarget = TargetFacts{} },
	} {
		if drop&facet != 0 {
			clearFacet(&s)
		}
	}
	return s
}

// Groups returns the process groups of the record, in its order.
func (s Snapshot) Groups() []*v1beta2.ProcessGroupStatus { return s.Cluster.Status.ProcessGroups }

// Staying returns the process groups that are not marked for removal.
func (s Snapshot) Staying() []*v1beta2.ProcessGroupStatus {
	var staying []*v1beta2.ProcessGroupStatus
	for _, g := range s.Groups() {
		if !g.IsMarkedForRemoval() {
			staying = append(staying, g)
		}
	}
	return staying
}

// Pod returns the pod of a process group, or nil.
func (s Snapshot) Pod(g *v1beta2.ProcessGroupStatus) *corev1.Pod {
	return s.Pods[g.PodName(s.Cluster)]
}

// Configured reports whether the database has ever been configured: the record
// remembers, or the database itself shows a state that only a configured one has.
func (s Snapshot) Configured() bool {
	return s.Cluster.Status.Configured || s.Database.Available()
}
