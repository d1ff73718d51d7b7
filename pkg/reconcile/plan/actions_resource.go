package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteStatus replaces the status of the FoundationDBCluster.
type WriteStatus struct {
	Cluster string `json:"cluster"`
	// Changes describes the differences from the current status.
	Changes []string                          `json:"changes" fingerprint:"-"`
	Status  v1beta2.FoundationDBClusterStatus `json:"-"`
	// KeysStay is true where the same shared keys are read with this status as with the one
	// before; see SharedKeysStay.
	KeysStay bool `json:"-" fingerprint:"-"`
	// Bookkeeping is true if only fields change that no stage decides by; see OnlyBookkeeping.
	Bookkeeping bool `json:"bookkeeping,omitempty" fingerprint:"-"`
}

// SharedKeysStay reports whether the same keys of the database are read with another status of a
// cluster: the database is the same, and exclusions matter as before. The cluster must be normalized.
func SharedKeysStay(c *v1beta2.FoundationDBCluster, status v1beta2.FoundationDBClusterStatus) bool {
	after := *c
	after.Status = status
	return c.Status.Configured == status.Configured && c.Status.ConnectionString == status.ConnectionString &&
		ExclusionsMatter(c) == ExclusionsMatter(&after)
}

// OnlyBookkeeping reports whether two statuses differ in nothing but what users and monitoring read:
// health, generations and the observed database configuration. Process groups, with their conditions
// and marks, and all other fields are what later stages and passes decide by, so a change of them
// is work.
func OnlyBookkeeping(before, after v1beta2.FoundationDBClusterStatus) bool {
	before.Health, before.Generations, before.DatabaseConfiguration = after.Health, after.Generations, after.DatabaseConfiguration
	return SameStatus(before, after)
}

// SameStatus reports whether two statuses are equal, as equality.Semantic.DeepEqual does: absent and
// empty lists are the same. Process groups are compared field by field, without reflection, since
// there may be a thousand of them.
func SameStatus(a, b v1beta2.FoundationDBClusterStatus) bool {
	if !slices.EqualFunc(a.ProcessGroups, b.ProcessGroups, SameGroup) {
		return false
	}
	a.ProcessGroups, b.ProcessGroups = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}

// SameGroup reports whether two process groups are equal in the same sense.
func SameGroup(a, b *v1beta2.ProcessGroupStatus) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ProcessGroupID == b.ProcessGroupID && a.ProcessClass == b.ProcessClass && a.FaultDomain == b.FaultDomain &&
		slices.Equal(a.Addresses, b.Addresses) &&
		sameTime(a.RemovalTimestamp, b.RemovalTimestamp) && sameTime(a.ExclusionTimestamp, b.ExclusionTimestamp) &&
		a.ExclusionSkipped == b.ExclusionSkipped &&
		slices.EqualFunc(a.ProcessGroupConditions, b.ProcessGroupConditions, sameCondition)
}

func sameTime(a, b *metav1.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

func sameCondition(a, b *v1beta2.ProcessGroupCondition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// IsBookkeeping reports whether an action changes nothing that any stage decides by. It is done by the
// next pass, and is no reason to run one.
func IsBookkeeping(a Action) bool {
	w, is := a.(WriteStatus)
	return is && w.Bookkeeping
}

// Describe implements Action.
func (a WriteStatus) Describe() string {
	return "update status: " + strings.Join(a.Changes, "; ")
}

// Subject implements Action.
func (a WriteStatus) Subject() string { return a.Cluster }

// The status decides which shared keys are read: exclusions in progress once a group is
// marked for removal, and the others once there is a database.
func (a WriteStatus) effect() Effect {
	if a.KeysStay {
		return Effect{Stale: ClusterResource, Impact: NoImpact}
	}
	return Effect{Stale: ClusterResource | Coordination, Impact: NoImpact}
}

// Apply implements Edit.
func (a WriteStatus) Apply(s Snapshot) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	a.Status.DeepCopyInto(&s.Cluster.Status)
	return s
}

// NewGroup is a process group to add to the status.
type NewGroup struct {
	ID    v1beta2.ProcessGroupID `json:"id"`
	Class v1beta2.ProcessClass   `json:"class"`
}

// AddGroups adds process groups to the status; later stages create their pods.
type AddGroups struct {
	Groups []NewGroup `json:"groups"`
	// At is when the groups' first conditions begin.
	At time.Time `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a AddGroups) Describe() string {
	return fmt.Sprintf("add %s: %s", phrase.Count(len(a.Groups), "process group"), a.Subject())
}

// Subject implements Action.
func (a AddGroups) Subject() string { return phrase.List(GroupsOf(a)) }

func (AddGroups) effect() Effect { return Effect{Stale: ClusterResource, Impact: NoImpact} }

// Apply implements Edit.
func (a AddGroups) Apply(s Snapshot) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	for _, g := range a.Groups {
		s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g.resource(s.Cluster, a.At))
	}
	slices.SortFunc(s.Cluster.Status.ProcessGroups, func(a, b *v1beta2.ProcessGroupStatus) int {
		return strings.Compare(string(a.ProcessGroupID), string(b.ProcessGroupID))
	})
	return s
}

// resource is the group's first status: nothing of it exists yet.
func (g NewGroup) resource(c *v1beta2.FoundationDBCluster, at time.Time) *v1beta2.ProcessGroupStatus {
	record := &v1beta2.ProcessGroupStatus{ProcessGroupID: g.ID, ProcessClass: g.Class}
	record.SetCondition(v1beta2.ConditionMissingProcesses, at)
	record.SetCondition(v1beta2.ConditionMissingPod, at)
	if g.Class.IsStateful() {
		record.SetCondition(v1beta2.ConditionMissingPVC, at)
	}
	if c.PublicIPFromService() {
		record.SetCondition(v1beta2.ConditionMissingService, at)
	}
	return record
}

// SetConnectionString stores a connection string in the status; the ConfigMap
// and the pods get it from there.
type SetConnectionString struct {
	ConnectionString string `json:"connectionString"`
}

// Describe implements Action.
func (a SetConnectionString) Describe() string {
	return "set the connection string to " + a.ConnectionString
}

// Subject implements Action.
func (SetConnectionString) Subject() string { return "connection string" }

func (SetConnectionString) effect() Effect {
	return Effect{Stale: ClusterResource | Database | Coordination, Impact: NoImpact}
}

// Apply implements Edit.
func (a SetConnectionString) Apply(s Snapshot) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	s.Cluster.Status.ConnectionString = a.ConnectionString
	return s
}

// Sign is whether an action adds, changes or removes what it is about.
type Sign string

// The signs, as texts show them.
const (
	Adds    Sign = "+"
	Alters  Sign = "~"
	Removes Sign = "-"
)

// Change is an action as a row of a list of changes.
type Change struct {
	Sign Sign
	// Of names what is added, changed or removed: "pods".
	Of string
	// Named is true if Of and the subjects of the action show all of it; else only its description does.
	Named bool
	// Why is true if the reason of the action has what its approval depends on.
	Why bool
}

// ChangeOf returns the change of an action by its kind. The action itself is nil where only its kind is
// known: then what it may also create counts as changed.
func ChangeOf(kind string, a Action) Change {
	c, known := changes[kind]
	if !known {
		return Change{Sign: Alters, Of: kind}
	}
	if creates(a) {
		c.Sign = Adds
	}
	if a != nil && LosesData(a) {
		c.Named = false
	}
	return c
}

// creates reports whether an action creates the object that others of its kind update.
func creates(a Action) bool {
	switch a := a.(type) { //nolint:gochecksumtype // the kind of all others tells it
	case ApplyAgents:
		return a.Create
	case ApplyConfigMap:
		return a.Create
	case ApplyDisruptionBudget:
		return a.Create
	case ApplyFailureDetector:
		return a.Create
	case ApplyService:
		return a.Verb == CreateService
	default:
		return false
	}
}

// changes are the changes of all kinds of actions.
var changes = map[string]Change{
	"AbortRestore":           {Sign: Removes, Of: "restore"},
	"AddGroups":              {Sign: Adds, Of: "process groups", Named: true},
	"AdoptSpec":              {Sign: Alters, Of: "adopted objects"},
	"AnnounceUpgrade":        {Sign: Adds, Of: "announced upgrade"},
	"ApplyAgents":            {Sign: Alters, Of: "backup agents"},
	"ApplyConfigMap":         {Sign: Alters, Of: "ConfigMaps", Named: true},
	"ApplyDisruptionBudget":  {Sign: Alters, Of: "PodDisruptionBudgets"},
	"ApplyFailureDetector":   {Sign: Alters, Of: "failure detector"},
	"ApplyService":           {Sign: Alters, Of: "services"},
	"ChangeCoordinators":     {Sign: Alters, Of: "coordinators", Named: true},
	"ChangeLists":            {Sign: Alters, Of: "shared lists"},
	"ClearBackupData":        {Sign: Removes, Of: "backup data"},
	"Configure":              {Sign: Alters, Of: "database configuration"},
	"CordonNode":             {Sign: Alters, Of: "nodes"},
	"CreatePVC":              {Sign: Adds, Of: "PVCs", Named: true},
	"CreatePod":              {Sign: Adds, Of: "pods", Named: true},
	"DeleteAgentPod":         {Sign: Removes, Of: "terminated backup agents"},
	"DeleteAgents":           {Sign: Removes, Of: "backup agents"},
	"DeleteBackupData":       {Sign: Removes, Of: "backup data"},
	"DeleteDisruptionBudget": {Sign: Removes, Of: "PodDisruptionBudgets", Named: true},
	"DeleteFailureDetector":  {Sign: Removes, Of: "failure detector", Named: true},
	"DeleteGroupObjects":     {Sign: Removes, Of: "pods and PVCs"},
	"DeletePods":             {Sign: Removes, Of: "pods to recreate", Named: true},
	"DeleteService":          {Sign: Removes, Of: "services", Named: true},
	"EndMaintenance":         {Sign: Removes, Of: "maintenance mode", Named: true},
	"EvictAgent":             {Sign: Removes, Of: "backup agents"},
	"Exclude":                {Sign: Adds, Of: "exclusions", Named: true},
	"ExpireBackup":           {Sign: Removes, Of: "backup data"},
	"ForgetMaintenance":      {Sign: Removes, Of: "maintenance entries", Named: true},
	"HoldLock":               {Sign: Adds, Of: "lock"},
	"Include":                {Sign: Removes, Of: "exclusions", Named: true},
	"IncludeAndForget":       {Sign: Removes, Of: "removed process groups", Named: true},
	"KeepGroups":             {Sign: Removes, Of: "marks for removal", Named: true},
	"MarkForRemoval":         {Sign: Removes, Of: "process groups", Named: true},
	"ModifyBackup":           {Sign: Alters, Of: "backup"},
	"PatchMetadata":          {Sign: Alters, Of: "metadata"},
	"PauseAgents":            {Sign: Alters, Of: "backup agents"},
	"RecordFailures":         {Sign: Alters, Of: "recorded failures"},
	"RecordTaints":           {Sign: Alters, Of: "recorded taints", Named: true},
	"ReleaseLock":            {Sign: Removes, Of: "lock"},
	"RestartProcesses":       {Sign: Alters, Of: "restarts"},
	"SetBackupFinalizer":     {Sign: Alters, Of: "finalizer"},
	"SetBackupState":         {Sign: Alters, Of: "backup state"},
	"SetConnectionString":    {Sign: Alters, Of: "connection string", Named: true, Why: true},
	"SetExcluded":            {Sign: Alters, Of: "drained process groups", Named: true},
	"SetPriorities":          {Sign: Alters, Of: "priorities of regions"},
	"SetRestoreVersion":      {Sign: Alters, Of: "version to restore"},
	"SetSidecarImage":        {Sign: Alters, Of: "sidecar images"},
	"SetSkip":                {Sign: Alters, Of: "pause"},
	"SetTolerations":         {Sign: Alters, Of: "tolerations"},
	"StartBackup":            {Sign: Adds, Of: "backup"},
	"StartMaintenance":       {Sign: Adds, Of: "maintenance mode"},
	"StartRestore":           {Sign: Adds, Of: "restore"},
	"StopBackup":             {Sign: Removes, Of: "backup"},
	"SyncPodFiles":           {Sign: Alters, Of: "files of pods"},
	"UncordonNode":           {Sign: Alters, Of: "nodes"},
	"UpdateDenyList":         {Sign: Alters, Of: "deny list"},
	"WithdrawUpgrade":        {Sign: Removes, Of: "announced upgrade"},
	"WriteBackupStatus":      {Sign: Alters, Of: "status", Named: true},
	"WriteRestoreStatus":     {Sign: Alters, Of: "status", Named: true},
	"WriteStatus":            {Sign: Alters, Of: "status", Named: true},
}
