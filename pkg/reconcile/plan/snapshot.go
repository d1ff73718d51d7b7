package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Snapshot is everything one decision may read. Decisions treat it as
// read-only; a facet that was not observed is zero.
type Snapshot struct {
	// Now is when the newest facet was observed.
	Now time.Time
	// Clock is how the clock of this machine compares with the source of Now.
	Clock ClockFacts
	// Seed makes a pass's random choices; it is the same for the whole pass.
	Seed uint64
	// Hashes remember the hashes of pod specs between decisions. They are no facts: decisions are the
	// same without. Nil remembers nothing.
	Hashes *HashMemo
	// Overrides are the gates that a user overrides, each with the reason given.
	Overrides map[Gate]string

	// Cluster is the custom resource with its spec normalized in memory. The normalized spec
	// is never written back.
	Cluster *v1beta2.FoundationDBCluster
	// Namespace is the namespace of the cluster.
	Namespace NamespaceObject
	// InvalidSpec are the errors of the spec; none for a valid one. A stage that needs the spec must not decide by an
	// invalid one.
	InvalidSpec []InvalidField
	// Nodes by name; nil where they do not matter, see NodesMatter.
	Nodes map[string]*corev1.Node
	// NodesHidden is why the nodes cannot be read; empty when they can. Missing permission is
	// a fact: a pass needs nodes only for their taints.
	NodesHidden string
	// Pods by name.
	Pods map[string]*corev1.Pod
	// Volumes are the PersistentVolumeClaims by name.
	Volumes map[string]*corev1.PersistentVolumeClaim
	// BoundVolumes are the PersistentVolumes of the PVCs that are being deleted, by name: their reclaim
	// policy decides what becomes of the data. Other volumes are not read.
	BoundVolumes map[string]*corev1.PersistentVolume
	// BoundVolumesHidden is why they cannot be read; empty when they can, or none is needed. Missing
	// permission is a fact: volumes belong to no namespace.
	BoundVolumesHidden string
	// Services by name.
	Services map[string]*corev1.Service
	// ConfigMap is the cluster's ConfigMap; nil when not found.
	ConfigMap *corev1.ConfigMap
	// PodFiles by pod name; a pod without an entry was not queried.
	PodFiles map[string]PodReport
	// Database is the status document.
	Database DatabaseFacts
	// Detector is the CronJob of the failure detector.
	Detector DetectorFacts
	// Coordination is what the control-plane instances that share the database wrote for each other.
	Coordination CoordinationFacts
	// OtherClusters are the other FoundationDBClusters, of the same database or not.
	OtherClusters OtherClusterFacts
	// Successors are whether the objects of more process groups would be accepted.
	Successors SuccessorFacts
	// FirstObjects are whether the objects of a cluster without process groups would be accepted.
	FirstObjects FirstObjectFacts
	// DisruptionBudgets are all PodDisruptionBudgets of the namespace by name, those of others
	// included: Kubernetes refuses every eviction of a pod that two of them select.
	DisruptionBudgets map[string]*policyv1.PodDisruptionBudget
	// DisruptionBudgetsHidden is why they cannot be read; empty when they can. Missing
	// permission is a fact: only clusters that request a budget need them.
	DisruptionBudgetsHidden string

	// Backup is the FoundationDBBackup of the pass; nil in other passes.
	Backup *v1beta2.FoundationDBBackup
	// OtherBackups are the other FoundationDBBackups, read with it.
	OtherBackups OtherBackupFacts
	// Agents are the Deployment and the pods of backup agents.
	Agents AgentFacts
	// BackupStatus is the status of the backup's tag.
	BackupStatus BackupFacts
	// BackupStore is the contents of the backup's destination.
	BackupStore StoreFacts
	// BackupUse is which backups and restores of the database use stores.
	BackupUse UseFacts
	// Restore is the FoundationDBRestore of the pass; nil in other passes.
	Restore *v1beta2.FoundationDBRestore
	// RestoreStatus is the status of restores in the database.
	RestoreStatus RestoreFacts
	// OtherRestores are the other FoundationDBRestores.
	OtherRestores OtherRestoreFacts
	// RestoreSource is the backup that writes to the restore's source.
	RestoreSource SourceFacts
	// RestoreTarget is whether the key ranges that the restore writes hold data.
	RestoreTarget TargetFacts
	// RestoreTimes are the times of the versions at the restore's source.
	RestoreTimes TimeFacts
}

// NamespaceObject is the namespace of a cluster, or why it cannot be read.
type NamespaceObject struct {
	// Object is nil where it was not read.
	Object *corev1.Namespace
	// Hidden is why the namespace cannot be read; empty when it can. Missing permission is a fact: a
	// namespace that is being deleted accepts no new objects anyway.
	Hidden string
}

// CauseNotRecorded is the cause of the status with which a dump answers a read that was not made when it was
// written. What it would have returned is unknown.
const CauseNotRecorded metav1.CauseType = "NotRecorded"

// DetectorFacts are the CronJob of the failure detector, or why it cannot be read.
type DetectorFacts struct {
	// Job is nil where there is none.
	Job *batchv1.CronJob
	// Hidden is why CronJobs cannot be read; empty when they can. Missing permission is a fact:
	// a pass needs none for a cluster without a failure detector.
	Hidden string
}

// DatabaseFacts are the status document, or why there is none.
type DatabaseFacts struct {
	// Status is the document; nil when unavailable.
	Status *fdb.Status
	// NotQueried is why the database was not queried: there is no cluster file yet, no pod runs, or
	// DataDirs show no database and its version completes no document of one. Empty when it was queried.
	NotQueried string
	// Unreachable is why a queried database returned no usable document. That is a fact; each
	// stage decides what it means.
	Unreachable string
	// Partial is a document that the database could not complete, for reports alone: it has which coordinators
	// answer, and proves nothing else. Status is nil then, and Unreachable is the reason.
	Partial *fdb.Status
	// Forbidden is true where permission to query is missing.
	Forbidden bool
	// Unasked is true where the API server, through which the database is queried, does not answer. Nothing is known of
	// the database then, and nothing suggests that it is down.
	Unasked bool
	// DataDirs are what the pods show instead, where the resource records no database and files can prove that there
	// is none, or the version ends no status document of one that was never created; nil elsewhere.
	DataDirs *DataDirs
	// AsOf is when the document was read.
	AsOf time.Time
}

// StaleDocument is why a document that does not change any more counts as no answer, see [fdb.Staleness].
const StaleDocument = "the status document is stale: the database returns the same one, of the same time, in every read"

// FilesProve reports whether files of its pods prove that the database of a cluster was never created. A database that
// existed before the resource must never be created.
func FilesProve(c *v1beta2.FoundationDBCluster) bool {
	version, err := fdb.ParseVersion(c.RunningVersion())
	return err == nil && version.HasBlankCoordination() && !c.Status.Configured && c.Spec.SeedConnectionString == ""
}

// EndsNoStatus reports whether a status of the database of the cluster may never end, because the database was
// never created and its version does not report that. Then files are the only proof.
func EndsNoStatus(c *v1beta2.FoundationDBCluster) bool {
	version, err := fdb.ParseVersion(c.RunningVersion())
	return err == nil && !version.ReportsMissingDatabase() && FilesProve(c)
}

// DesiredServers returns how many processes the process groups of a cluster have.
func DesiredServers(c *v1beta2.FoundationDBCluster) (n int) {
	for _, g := range c.Status.ProcessGroups {
		n += c.ServersPerPod(g.ProcessClass)
	}
	return n
}

// DataDirs are the data directories of the running pods of a cluster.
type DataDirs struct {
	// Pods are what was read, by name of the pod.
	Pods map[string]*datadir.Files
	// Unread is why other running pods could not be read, by name.
	Unread map[string]string
	// Registered are the processes that registered with the cluster controller, as host:port.
	Registered []string
	// Unlisted is why these could not be listed; empty if they were.
	Unlisted string
}

// Awaits reports whether a host, as coordinators are named by, is that of a process group whose processes do not run
// yet. A pod that was recreated and runs has another IP address, and never listens at the former one again.
func (d DataDirs) Awaits(c *v1beta2.FoundationDBCluster, host string) bool {
	return slices.ContainsFunc(c.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.DNSName(c) == host || slices.Contains(g.Addresses, host) && !runsElsewhere(d.Pods[g.PodName(c)], host)
	})
}

// runsElsewhere reports whether the processes of a pod, of which there are some, all have another host.
func runsElsewhere(pod *datadir.Files, host string) (elsewhere bool) {
	if pod == nil {
		return false
	}
	for _, server := range pod.Servers {
		for _, text := range server.Addresses {
			a, err := fdb.ParseAddress(text)
			if err == nil && a.Host == host {
				return false
			}
			elsewhere = elsewhere || err == nil
		}
	}
	return elsewhere
}

// MayExist reports whether anything suggests a database, so that a status document is worth the wait: files of one, a
// pod that cannot be read, another connection string in a pod, or a coordinator that runs outside the cluster.
func (d DataDirs) MayExist(c *v1beta2.FoundationDBCluster) bool {
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil || len(d.Unread) > 0 {
		return true
	}
	for _, files := range d.Pods {
		if files.Generation != "" && files.Generation != connection.Description+":"+connection.ID {
			return true
		}
	}
	found := datadir.Find(connection, d.Pods)
	return d.HasDatabase(c) || found.Finding == datadir.Unreadable ||
		found.Finding == datadir.Elsewhere && !d.Awaits(c, found.Coordinator.Host)
}

// AreBlank reports whether every coordinator of the cluster stores the name of the database, and no state of it.
func (d DataDirs) AreBlank(c *v1beta2.FoundationDBCluster) bool {
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	return err == nil && datadir.Find(connection, d.Pods).Finding == datadir.Blank
}

// HasDatabase reports whether a pod has files of a database, or a coordinator its state.
func (d DataDirs) HasDatabase(c *v1beta2.FoundationDBCluster) bool {
	for _, files := range d.Pods {
		if len(files.Data) > 0 {
			return true
		}
	}
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	return err == nil && datadir.Find(connection, d.Pods).Finding == datadir.Exists
}

// HidesVolumes reports whether a running pod with a volume could not be read: it may have files of a database.
func (d DataDirs) HidesVolumes(c *v1beta2.FoundationDBCluster) bool {
	return slices.ContainsFunc(c.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.ProcessClass.IsStateful() && d.Unread[g.PodName(c)] != ""
	})
}

// Verdict returns what the data directories show about the database of a cluster, whose PVCs are given by name. Only
// Blank proves that none was ever created: then every running pod and every bound PVC could
// be read, and every registered process runs in a pod that was read.
func (d DataDirs) Verdict(c *v1beta2.FoundationDBCluster, volumes map[string]*corev1.PersistentVolumeClaim) datadir.Verdict {
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return datadir.Verdict{Finding: datadir.NotYet, Evidence: "the status has no valid connection string"}
	}
	found := datadir.Find(connection, d.Pods)
	if found.Finding == datadir.Exists || found.Finding == datadir.Elsewhere && !d.Awaits(c, found.Coordinator.Host) {
		return found // its process may have registered as well, and is no reason to wait
	}
	if unknown := d.unknown(c, volumes); unknown != "" {
		return datadir.Verdict{Finding: datadir.NotYet, Evidence: unknown}
	}
	return found
}

// unknown returns what may have files of a database and was not read; empty for nothing.
func (d DataDirs) unknown(c *v1beta2.FoundationDBCluster, volumes map[string]*corev1.PersistentVolumeClaim) string {
	for _, name := range slices.Sorted(maps.Keys(d.Unread)) {
		return fmt.Sprintf("pod %s could not be read: %s", name, d.Unread[name])
	}
	if volumes == nil {
		return "the PVCs were not read"
	}
	read := map[string]bool{}
	for _, g := range c.Status.ProcessGroups {
		read[g.PVCName(c)] = d.Pods[g.PodName(c)] != nil
	}
	for _, name := range slices.Sorted(maps.Keys(volumes)) {
		if volumes[name].Status.Phase == corev1.ClaimBound && !read[name] {
			return fmt.Sprintf("the volume of PVC %s could not be read: no pod of a process group runs with it", name)
		}
	}
	for _, address := range d.Registered {
		if !datadir.Has(d.Pods, address) {
			return fmt.Sprintf("process %s registered, and runs in none of %s that were read", address, phrase.Count(len(d.Pods), "pod"))
		}
	}
	return d.Unlisted
}

// Processes returns the registered processes that run in the pods, with what their command lines show.
func (d DataDirs) Processes() []fdb.Process {
	return datadir.Processes(d.Pods, func(a fdb.Address) bool { return slices.Contains(d.Registered, a.HostPort()) })
}

// Available reports whether the database itself reports that it is available, in a complete
// document: an incomplete one can be without any process.
func (d DatabaseFacts) Available() bool {
	return d.Status != nil && d.Status.Available() && !d.Status.Incomplete()
}

// Why returns why there is no document; empty when there is one.
func (d DatabaseFacts) Why() string {
	if d.Status != nil {
		return ""
	}
	if d.NotQueried != "" {
		return d.NotQueried
	}
	return d.Unreachable
}

// Respondent names what gave no answer: the database, or the API server in front of it.
func (d DatabaseFacts) Respondent() string {
	if d.Unasked {
		return "the API server"
	}
	return "the database"
}

// CoordinationFacts is what control-plane instances that share one database exchange through it.
type CoordinationFacts struct {
	// Read is false when the keys were not read: the spec needs none of them, the database was
	// never configured, or it cannot be queried.
	Read bool
	// ReadyForUpgrade are the process groups, of all control-plane instances, that were
	// announced as able to start in the spec's version. Read during an upgrade to a version
	// with another protocol.
	ReadyForUpgrade []v1beta2.ProcessGroupID
	// Announced are all announcements for upgrades, of all control-plane instances, by
	// version. Read where they coordinate through the database.
	Announced map[string][]v1beta2.ProcessGroupID
	// Maintenance is since when process groups are about to restart during maintenance. Read
	// where the spec uses or resets maintenance mode.
	Maintenance map[v1beta2.ProcessGroupID]time.Time
	// Lock is the value of the lock key; nil when it was never taken.
	Lock *fdb.Lock
	// DenyList are the owner ids that may not take the lock.
	DenyList []string
	// Denials are who denied them and why, as far as known.
	Denials map[string]fdb.Denial
	// Lists are the process groups that control-plane instances act on together. Read in global
	// synchronization mode.
	Lists ListFacts
	// ExclusionsRead is false when exclusions were not read: no group is marked for
	// removal, drained, or kept by the spec, or the database cannot be queried.
	ExclusionsRead bool
	// Exclusions are the targets excluded now, read in a transaction: a status document can be
	// stale, and data returns to a process whose exclusion a user ended.
	Exclusions []string
	// FailedExclusions are those of Exclusions that were made as failed: the database does not
	// wait for their data.
	FailedExclusions []string
	// InProgressExclusions are addresses, with ports and without flags, of processes
	// that are excluded and still hold data or roles. fdb.UnknownLogAddress among them
	// may be any of them.
	InProgressExclusions []string
}

// ExclusionsMatter reports whether a decision about a process group needs the exclusions in force:
// one may concern it, or the spec keeps it, and then none may. The cluster must be normalized.
func ExclusionsMatter(c *v1beta2.FoundationDBCluster) bool {
	return slices.ContainsFunc(c.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.MayBeExcluded() || c.KeepsFromReplacement(g.ProcessGroupID)
	})
}

// NodesMatter reports whether a decision needs the nodes: for their taints, or because the objects of
// a removed process group have not ended for so long that their node may be lost. The status alone
// shows that, so that other passes read no nodes, which many users may not list. The cluster must be
// normalized.
func NodesMatter(c *v1beta2.FoundationDBCluster, now time.Time) bool {
	return len(c.Spec.AutomationOptions.Replacements.TaintReplacementOptions) > 0 || slices.ContainsFunc(c.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		since, terminating := g.Condition(v1beta2.ConditionResourcesTerminating)
		return terminating && now.Sub(since) >= terminatesIn
	})
}

// terminatesIn is longer than the objects of a process group take to end in the normal course of a removal.
const terminatesIn = time.Minute

// PodReport is what one pod reports of the configuration it uses.
type PodReport struct {
	// Variables are the values that the pod's monitor or sidecar substitutes; nil when unknown.
	Variables map[string]string `json:"variables,omitempty"`
	// Configuration is the monitor configuration in force, as JSON. Unified images only.
	Configuration string `json:"configuration,omitempty"`
	// Hashes are the SHA-256 sums, in hex, of the files in the pod by name; a file
	// that is not there has none. Split images only.
	Hashes map[string]string `json:"hashes,omitempty"`
	// Present is whether requested files are in the pod. Split images only, during an upgrade
	// to a version with another protocol.
	Present map[string]bool `json:"present,omitempty"`
	// Unreachable is why the sidecar could not be queried; empty when it answered.
	Unreachable string `json:"unreachable,omitempty"`
}

// take copies the fields of each facet from one snapshot into another.
var take = map[Facet]func(into, from *Snapshot){
	ClusterResource: func(into, from *Snapshot) { into.Cluster = from.Cluster },
	Nodes:           func(into, from *Snapshot) { into.Nodes, into.NodesHidden = from.Nodes, from.NodesHidden },
	Pods:            func(into, from *Snapshot) { into.Pods = from.Pods },
	Volumes: func(into, from *Snapshot) {
		into.Volumes, into.BoundVolumes, into.BoundVolumesHidden = from.Volumes, from.BoundVolumes, from.BoundVolumesHidden
	},
	Services:     func(into, from *Snapshot) { into.Services = from.Services },
	ConfigMap:    func(into, from *Snapshot) { into.ConfigMap = from.ConfigMap },
	PodFiles:     func(into, from *Snapshot) { into.PodFiles = from.PodFiles },
	Database:     func(into, from *Snapshot) { into.Database = from.Database },
	Coordination: func(into, from *Snapshot) { into.Coordination = from.Coordination },
	Detector:     func(into, from *Snapshot) { into.Detector = from.Detector },
	DisruptionBudgets: func(into, from *Snapshot) {
		into.DisruptionBudgets, into.DisruptionBudgetsHidden = from.DisruptionBudgets, from.DisruptionBudgetsHidden
	},

	Successors:    func(into, from *Snapshot) { into.Successors = from.Successors },
	Namespace:     func(into, from *Snapshot) { into.Namespace = from.Namespace },
	FirstObjects:  func(into, from *Snapshot) { into.FirstObjects = from.FirstObjects },
	OtherClusters: func(into, from *Snapshot) { into.OtherClusters = from.OtherClusters },
	Backup:        func(into, from *Snapshot) { into.Backup, into.OtherBackups = from.Backup, from.OtherBackups },
	Agents:        func(into, from *Snapshot) { into.Agents = from.Agents },
	BackupStatus:  func(into, from *Snapshot) { into.BackupStatus = from.BackupStatus },
	Restore:       func(into, from *Snapshot) { into.Restore = from.Restore },
	RestoreStatus: func(into, from *Snapshot) { into.RestoreStatus = from.RestoreStatus },
	BackupStore:   func(into, from *Snapshot) { into.BackupStore = from.BackupStore },
	BackupUse:     func(into, from *Snapshot) { into.BackupUse = from.BackupUse },
	OtherRestores: func(into, from *Snapshot) { into.OtherRestores = from.OtherRestores },
	RestoreSource: func(into, from *Snapshot) { into.RestoreSource = from.RestoreSource },
	RestoreTarget: func(into, from *Snapshot) { into.RestoreTarget = from.RestoreTarget },
	RestoreTimes:  func(into, from *Snapshot) { into.RestoreTimes = from.RestoreTimes },
}

// With returns s with the facets as another snapshot has them.
func (s Snapshot) With(facets Facet, from Snapshot) Snapshot {
	for facet, copyInto := range take {
		if facets&facet != 0 {
			copyInto(&s, &from)
		}
	}
	return s
}

// Without returns s with the facets in drop set to zero.
func (s Snapshot) Without(drop Facet) Snapshot { return s.With(drop, Snapshot{}) }

// Groups returns the process groups in the status, in its order.
func (s Snapshot) Groups() []*v1beta2.ProcessGroupStatus { return s.Cluster.Status.ProcessGroups }

// Remaining returns the process groups that are not marked for removal.
func (s Snapshot) Remaining() []*v1beta2.ProcessGroupStatus {
	var remaining []*v1beta2.ProcessGroupStatus
	for _, g := range s.Groups() {
		if !g.IsMarkedForRemoval() {
			remaining = append(remaining, g)
		}
	}
	return remaining
}

// Pod returns the pod of a process group, or nil.
func (s Snapshot) Pod(g *v1beta2.ProcessGroupStatus) *corev1.Pod {
	return s.Pods[g.PodName(s.Cluster)]
}

// Configured reports whether the database has ever been configured: by the status of the
// cluster, or because the database reports a state that only a configured one has.
func (s Snapshot) Configured() bool {
	return s.Cluster.Status.Configured || s.Database.Available()
}
