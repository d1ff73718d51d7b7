package ui

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DefaultMaxLag is far above the minute that a backup is behind at most when all is well:
// agents write the log in stretches of 20 s.
const DefaultMaxLag = 10 * time.Minute

// BackupFacts are what the view of a backup is made of.
type BackupFacts struct {
	plan.Snapshot
	// URL is where the spec has the backup go; empty where the spec cannot tell.
	URL string
	// Own says whether the backup that runs on the tag is the record's own.
	Own plan.Check
	// Outstanding says in what the backup is not yet what the spec asks for.
	Outstanding []string
	// MaxLag is how old the newest restorable point may be.
	MaxLag time.Duration
}

// BackupStatusView is how one backup is doing.
type BackupStatusView struct {
	Document
	// Name is the FoundationDBBackup, and Cluster what it backs up.
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	// Reconciled says whether the backup is as its spec asks; null when nobody can tell.
	Reconciled *bool  `json:"reconciled"`
	Summary    string `json:"summary"`
	// Problems are in what it is not as its spec asks.
	Problems []string `json:"problems"`
	// Wanted is the state that the spec asks for: Running, Stopped or Paused.
	Desired string `json:"desired"`
	Mode    string `json:"mode"`
	Tag     string `json:"tag"`
	// URL is where the backup goes, or would go; without secrets.
	URL string `json:"url"`
	// UnknownReason says why the database does not tell; empty when it does. What only the
	// database knows is null then.
	UnknownReason string `json:"unknownReason,omitempty"`
	// State is the word of the backup tools; empty when the tag never had a backup.
	State   *string `json:"state"`
	Running *bool   `json:"running"`
	// Paused says whether all agents of the database pause, those of other backups too.
	Paused *bool `json:"paused"`
	// Restorable says whether something can be restored from where the backup goes. After a
	// move that is not so before a whole snapshot that began at the new place is complete,
	// whatever the database calls restorable.
	Restorable *bool `json:"restorable"`
	// Move is a move of the backup that is not over; null where there is none, and when
	// nobody can tell.
	Move *BackupMoveView `json:"move"`
	// Own says whether the backup on the tag is this record's own; null when nobody can tell
	// and when none runs.
	Own *bool `json:"own"`
	// Outstanding is what a pass would still do to the backup that runs, or waits for; it is
	// among the problems.
	Outstanding []string `json:"-"`
	// LatestRestorable is null when nothing can be restored from where the backup goes, too.
	LatestRestorable *BackupMomentView   `json:"latestRestorable"`
	Snapshot         *BackupSnapshotView `json:"snapshot"`
	// LastErrors are what agents met lately. They are asked for only where the backup runs and
	// cannot be restored, or is behind.
	LastErrors []string         `json:"lastErrors,omitempty"`
	LogBytes   *int64           `json:"logBytes"`
	RangeBytes *int64           `json:"rangeBytes"`
	Agents     BackupAgentsView `json:"agents"`
	// Recorded is what the last pass wrote into the status of the record; null when none
	// did.
	Recorded *BackupRecordView `json:"recorded"`
}

// BackupMoveView is a move of a backup to another place that is not over.
type BackupMoveView struct {
	// From is where it went before; empty where nobody knows. What was to be restored before
	// the move is there.
	From string `json:"from"`
	// Why says what it waits for.
	Why string `json:"why"`
	// Begun says whether a snapshot is known to have begun after the move.
	Begun bool `json:"begun"`
	// BehindSeconds is how far agents are behind the database with the log; null when the
	// database does not tell.
	BehindSeconds *int64 `json:"behindSeconds"`
}

// BackupMomentView is a version of the database, and how long ago it was.
type BackupMomentView struct {
	Version int64 `json:"version"`
	// AgeSeconds is null when nobody knows, as of a backup that has ended.
	AgeSeconds *int64 `json:"ageSeconds"`
}

// BackupSnapshotView is about the snapshots of a backup that runs.
type BackupSnapshotView struct {
	// PeriodSeconds is how long one is to take.
	PeriodSeconds *int64 `json:"periodSeconds"`
	// LastComplete is the end of the last complete one; null when there is none.
	LastComplete *BackupMomentView `json:"lastComplete"`
	// BeganAt is the database's guess of when the present one was begun.
	BeganAt *time.Time `json:"beganAt"`
	// IntervalSeconds is how long the present one is to take; 0 is as fast as can be, as the
	// first of a backup is made.
	IntervalSeconds *int64 `json:"intervalSeconds"`
	// ExpectedPercent is how much of the time of the present one is over. Nothing tells how
	// far it is.
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

// BackupRecordView is what was last recorded of a backup. It may be long past.
type BackupRecordView struct {
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
		Name:     b.Name, Cluster: b.Spec.ClusterName, Problems: []string{},
		Desired: wantedState(b), Mode: string(b.BackupMode()), Tag: string(b.Tag()),
		URL: f.URL, UnknownReason: f.BackupStatus.Why(), Agents: f.agents(), Recorded: recordedBackup(b),
	}
	if live != nil {
		v.tell(live, f.restorable())
		v.LastErrors = f.BackupStatus.Errors
	}
	if live != nil && live.State.Running {
		v.Own, v.Outstanding = new(f.Own.OK), f.Outstanding
	}
	v.judge(f)
	return v
}

// wantedState is the state that the spec asks for.
func wantedState(b *v1beta2.FoundationDBBackup) string {
	return string(cmp.Or(b.Spec.BackupState, v1beta2.BackupStateRunning))
}

// tell takes over what the database says.
func (v *BackupStatusView) tell(live *fdb.BackupStatus, restorable plan.Restorability) {
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
			v.Snapshot.BeganAt = known(time.Unix(*at, 0))
		}
	}
	if end := live.LatestSnapshotEnd; end != nil {
		v.Snapshot.LastComplete = &BackupMomentView{Version: end.Version, AgeSeconds: ageOf(end.Version, live.LatestRestorable)}
	}
}

// versionsPerSecond is how fast versions go up.
const versionsPerSecond = 1_000_000

// ageOf counts from the restorable point, whose age the database tells: its estimates of
// when a version was can lie in the future.
func ageOf(version int64, point *fdb.BackupMoment) *int64 {
	if point == nil || point.LagSeconds == nil {
		return nil
	}
	return new(*point.LagSeconds + max(0, point.Version-version)/versionsPerSecond)
}

// moveView is nil for a backup that is not known to have moved.
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
	slices.SortFunc(v.Pods, func(a, b BackupAgentView) int { return cmp.Compare(a.Pod, b.Pod) })
	return v
}

func agentReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || objects.IsUnready(pod) {
		return false
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == v1beta2.ContainerMain && s.Ready
	})
}

func recordedBackup(b *v1beta2.FoundationDBBackup) *BackupRecordView {
	d := b.Status.BackupDetails
	if d == nil {
		return nil
	}
	return &BackupRecordView{Running: d.Running, Paused: d.Paused, Restorable: d.Restorable, URL: fdb.WithoutSecrets(d.URL)}
}
