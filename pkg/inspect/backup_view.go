package inspect

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// DefaultMaxLag is far above the minute that a healthy backup is behind at most: agents
// write the log in files of 20 s.
const DefaultMaxLag = 10 * time.Minute

// BackupFacts are what the view of a backup is made of.
type BackupFacts struct {
	plan.Snapshot
	// URL is the destination by the spec; empty where the spec does not define one.
	URL string
	// Own is whether the backup that runs on the tag belongs to the resource.
	Own plan.Check
	// Outstanding are the differences between the running backup and the spec.
	Outstanding []string
	// MaxLag is how old the newest restorable point may be.
	MaxLag time.Duration
}

// BackupStatusView is the state of one backup.
type BackupStatusView struct {
	Document
	// Name is the FoundationDBBackup, and Cluster what it backs up.
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	// Labels are those of the resource; absent without any, and where it cannot be read.
	Labels map[string]string `json:"labels,omitempty"`
	// Reconciled is whether the backup matches its spec; null when unknown.
	Reconciled *bool  `json:"reconciled"`
	Summary    string `json:"summary"`
	// Problems are the differences from the spec.
	Problems []string `json:"problems"`
	// InvalidSpec are the errors of the spec, which no pass carries out; they are among the problems.
	InvalidSpec []plan.InvalidField `json:"invalidSpec,omitempty"`
	// Desired is the state in the spec: Running, Stopped or Paused.
	Desired string `json:"desired"`
	Mode    string `json:"mode"`
	Tag     string `json:"tag"`
	// URL is the destination, without secrets.
	URL string `json:"url"`
	// UnknownReason is why the database did not answer; empty when it did. What only the
	// database reports is null then.
	UnknownReason string `json:"unknownReason,omitempty"`
	// State is the state that fdbbackup reports; empty when the tag never had a backup.
	State   *string `json:"state"`
	Running *bool   `json:"running"`
	// Paused is whether all agents of the database are paused, including those of other backups.
	Paused *bool `json:"paused"`
	// Restorable is whether the destination has something restorable. After a move that
	// requires a complete snapshot that began at the new destination, whatever the database
	// calls restorable.
	Restorable *bool `json:"restorable"`
	// Move is a move of the backup that is not complete; null where there is none, and when
	// that is unknown.
	Move *BackupMoveView `json:"move"`
	// Own is whether the backup on the tag belongs to this resource; null when unknown and
	// when none runs.
	Own *bool `json:"own"`
	// Outstanding is what a pass would still change in the running backup, or waits for; it
	// is among the problems.
	Outstanding []string `json:"-"`
	// LatestRestorable is also null when the destination has nothing restorable.
	LatestRestorable *BackupMomentView   `json:"latestRestorable"`
	Snapshot         *BackupSnapshotView `json:"snapshot"`
	// LastErrors are the recent errors of agents. They are read only where the backup runs and
	// is not restorable, or is behind.
	LastErrors []string         `json:"lastErrors,omitempty"`
	LogBytes   *int64           `json:"logBytes"`
	RangeBytes *int64           `json:"rangeBytes"`
	Agents     BackupAgentsView `json:"agents"`
	// Recorded is what the last pass wrote into the status of the resource; null before
	// the first.
	Recorded *BackupResourceView `json:"recorded"`
}

// BackupMoveView is a move of a backup to another destination that is not complete.
type BackupMoveView struct {
	// From is the former destination, which has what was restorable before the move; empty
	// where it is unknown.
	From string `json:"from"`
	// Why is what it waits for.
	Why string `json:"why"`
	// Begun is whether a snapshot is known to have begun after the move.
	Begun bool `json:"begun"`
	// BehindSeconds is how far the log of the agents is behind the database; null when the
	// database does not report it.
	BehindSeconds *int64 `json:"behindSeconds"`
}

// BackupMomentView is a version of the database, and how long ago it was.
type BackupMomentView struct {
	Version int64 `json:"version"`
	// AgeSeconds is null when unknown, as of a backup that has ended.
	AgeSeconds *int64 `json:"ageSeconds"`
}

// BackupSnapshotView is about the snapshots of a backup that runs.
type BackupSnapshotView struct {
	// PeriodSeconds is the planned duration of one.
	PeriodSeconds *int64 `json:"periodSeconds"`
	// LastComplete is the end of the last complete one; null when there is none.
	LastComplete *BackupMomentView `json:"lastComplete"`
	// BeganAt is when the current one began, as the database estimates it.
	BeganAt *time.Time `json:"beganAt"`
	// IntervalSeconds is the planned duration of the current one; 0 means as fast as possible,
	// as for the first of a backup.
	IntervalSeconds *int64 `json:"intervalSeconds"`
	// ExpectedPercent is how much of the time of the current one has elapsed. Its progress is
	// not reported.
	ExpectedPercent *float64 `json:"expectedPercent"`
}

// BackupAgentsView are the agents of a backup.
type BackupAgentsView struct {
	Desired int               `json:"desired"`
	Ready   int               `json:"ready"`
	Pods    []BackupAgentView `json:"pods"`
}

// BackupAgentView is one pod of an agent.
type BackupAgentView struct {
	Pod   string `json:"pod"`
	Node  string `json:"node,omitempty"`
	Phase string `json:"phase"`
	Ready bool   `json:"ready"`
}

// BackupResourceView is the state in the status of the resource. It may be out of date.
type BackupResourceView struct {
	Running    bool   `json:"running"`
	Paused     bool   `json:"paused"`
	Restorable bool   `json:"restorable"`
	URL        string `json:"url,omitempty"`
}

// NewBackupStatusView makes the document.
func NewBackupStatusView(m Metadata, f BackupFacts) BackupStatusView {
	b, live := f.Backup, f.BackupStatus.Status
	v := BackupStatusView{
		Document: NewDocument("BackupStatus", m, cmp.Or(f.BackupStatus.AsOf, f.Now), SourceLive),
		Name:     b.Name, Cluster: b.Spec.ClusterName, Labels: knownLabels(b.Labels), Problems: []string{}, InvalidSpec: f.InvalidSpec,
		Desired: desiredState(b), Mode: string(b.BackupMode()), Tag: string(b.Tag()),
		URL: f.URL, UnknownReason: f.BackupStatus.Why(), Agents: f.agents(), Recorded: recordedBackup(b),
	}
	if live != nil {
		v.report(live, f.Restorable())
		v.LastErrors = f.BackupStatus.Errors
	}
	if live != nil && live.State.Running {
		v.Own, v.Outstanding = new(f.Own.OK), f.Outstanding
	}
	v.judge(f)
	return v
}

// desiredState returns the state in the spec.
func desiredState(b *v1beta2.FoundationDBBackup) string {
	return string(cmp.Or(b.Spec.BackupState, v1beta2.BackupStateRunning))
}

// report takes over what the database reports.
func (v *BackupStatusView) report(live *fdb.BackupStatus, restorable plan.Restorability) {
	v.State, v.Running, v.Paused = new(live.State.Name), new(live.State.Running), new(live.AgentsPaused)
	v.Restorable, v.Move = new(restorable.OK), moveView(restorable, live)
	v.LogBytes, v.RangeBytes = live.LogBytes, live.RangeBytes
	if live.URL != "" {
		v.URL = fdb.WithoutSecrets(live.URL)
	}
	if point := live.LatestRestorable; point != nil && v.Move == nil {
		v.LatestRestorable = &BackupMomentView{Version: point.Version, AgeSeconds: point.LagSeconds}
	}
	if live.SnapshotSeconds == nil && live.Snapshot == nil {
		return
	}
	v.Snapshot = &BackupSnapshotView{PeriodSeconds: live.SnapshotSeconds}
	if live.Snapshot != nil {
		v.Snapshot.ExpectedPercent, v.Snapshot.IntervalSeconds = &live.Snapshot.ExpectedProgress, &live.Snapshot.IntervalSeconds
		if at := live.Snapshot.Begin.EpochSeconds; at != nil {
			v.Snapshot.BeganAt = Known(time.Unix(*at, 0))
		}
	}
	if end := live.LatestSnapshotEnd; end != nil {
		v.Snapshot.LastComplete = &BackupMomentView{Version: end.Version, AgeSeconds: ageOf(end.Version, live.LatestRestorable)}
	}
}

// versionsPerSecond is how fast versions go up.
const versionsPerSecond = 1_000_000

// ageOf counts from the restorable point, whose age the database reports: its estimates of
// the time of a version can lie in the future.
func ageOf(version int64, point *fdb.BackupMoment) *int64 {
	if point == nil || point.LagSeconds == nil {
		return nil
	}
	return new(*point.LagSeconds + max(0, point.Version-version)/versionsPerSecond)
}

// moveView returns nil for a backup without proof that it moved.
func moveView(r plan.Restorability, live *fdb.BackupStatus) *BackupMoveView {
	if r.Move == nil {
		return nil
	}
	v := &BackupMoveView{From: r.Move.From, Why: r.Why, Begun: r.Move.First != nil}
	if point := live.LatestRestorable; point != nil {
		v.BehindSeconds = point.LagSeconds
	}
	return v
}

func (f BackupFacts) agents() BackupAgentsView {
	v := BackupAgentsView{Desired: f.Backup.AgentCount(), Pods: []BackupAgentView{}}
	for _, pod := range f.Agents.Pods {
		row := BackupAgentView{Pod: pod.Name, Node: pod.Spec.NodeName, Phase: string(pod.Status.Phase), Ready: agentReady(pod)}
		if pod.DeletionTimestamp != nil {
			row.Phase = "Terminating"
		}
		if row.Ready {
			v.Ready++
		}
		v.Pods = append(v.Pods, row)
	}
	stable.Sort(v.Pods, func(a, b BackupAgentView) int { return cmp.Compare(a.Pod, b.Pod) })
	return v
}

func agentReady(pod *corev1.Pod) bool {
	if !objects.Serves(pod) {
		return false
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == v1beta2.ContainerMain && s.Ready
	})
}

func recordedBackup(b *v1beta2.FoundationDBBackup) *BackupResourceView {
	d := b.Status.BackupDetails
	if d == nil {
		return nil
	}
	return &BackupResourceView{Running: d.Running, Paused: d.Paused, Restorable: d.Restorable, URL: fdb.WithoutSecrets(d.URL)}
}

// RecordedBackupsView are the backups of a cluster by their status: the database reports them
// only to a tool in a pod of their agents.
type RecordedBackupsView struct {
	Origin
	// Unread is why they could not be listed; empty when they could.
	Unread   string                `json:"unread,omitempty"`
	Backups  []RecordedBackupView  `json:"backups"`
	Restores []RecordedRestoreView `json:"restores"`
}

// RecordedBackupView is one backup.
type RecordedBackupView struct {
	Name    string `json:"name"`
	Desired string `json:"desired"`
	// AgentsReady is how many of the agents were ready, AgentsDesired how many the spec has.
	AgentsReady   int `json:"agentsReady"`
	AgentsDesired int `json:"agentsDesired"`
	// Recorded is null before the first pass over it.
	Recorded *BackupResourceView `json:"recorded"`
}

// RecordedRestoreView is one restore.
type RecordedRestoreView struct {
	Name string `json:"name"`
	// State is the state that fdbrestore reported; empty where it was never started.
	State string `json:"state"`
}

// recordedBackups returns nil where backups were not read, and where there are none.
func (f Facts) recordedBackups() *RecordedBackupsView {
	b := f.Backups
	if b == nil || b.Unread == "" && len(b.Backups)+len(b.Restores) == 0 {
		return nil
	}
	v := &RecordedBackupsView{Origin: Origin{Source: SourceResource}, Unread: b.Unread, Backups: []RecordedBackupView{}, Restores: []RecordedRestoreView{}}
	for _, seen := range b.Backups {
		r := seen.Resource
		v.Backups = append(v.Backups, RecordedBackupView{
			Name: r.Name, Desired: desiredState(r), AgentsReady: r.Status.AgentCount, AgentsDesired: r.AgentCount(), Recorded: recordedBackup(r),
		})
	}
	for _, seen := range b.Restores {
		v.Restores = append(v.Restores, RecordedRestoreView{Name: seen.Resource.Name, State: string(seen.Resource.Status.State)})
	}
	return v
}
