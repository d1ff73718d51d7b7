package plan

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// RestartProcesses ends processes at once, so that their monitors restart them with the
// current configuration.
type RestartProcesses struct {
	Groups    []v1beta2.ProcessGroupID `json:"groups"`
	Addresses []fdb.Address            `json:"addresses"`
	// UpgradeTo is the version that the processes start in if its protocol differs from the
	// running one; empty otherwise. The announcements for it are removed before the processes
	// end: a group that is ready now may not be later.
	UpgradeTo string `json:"upgradeTo,omitempty"`
	// Announced are the process groups of all control-plane instances that restart because
	// they are listed as ready to. Their restart entries are removed before the processes end,
	// so that they are not restarted twice for the same reason: a group that was not restarted
	// when a run died is listed again. Empty in local synchronization mode.
	Announced []fdb.Member `json:"announced,omitempty"`
	// Wave is true when more waves follow while the database continues, so that no other
	// control-plane instance may stop processes before the result of this wave shows.
	Wave bool `json:"wave,omitempty"`
}

// Describe implements Action.
func (a RestartProcesses) Describe() string {
	if a.UpgradeTo != "" {
		return fmt.Sprintf("restart %s at once in version %s", phrase.Count(len(a.Addresses), "process"), a.UpgradeTo)
	}
	return fmt.Sprintf("restart %s of %s at once", phrase.Count(len(a.Addresses), "process"), phrase.Some(a.Groups, maxGroups))
}

// Subject implements Action.
func (a RestartProcesses) Subject() string { return phrase.List(a.Groups) }

func (a RestartProcesses) effect() Effect {
	e := Effect{Stale: Database | PodFiles | Coordination, Locked: true, Impact: ProcessRestart}
	if a.Wave {
		e.Cooldown = fdb.DeathNoticedAfter
	}
	return e
}

// maxGroups is how many process groups a description lists at most.
const maxGroups = 6

// StartMaintenance records which process groups are about to restart, and then sets
// maintenance mode for their zone, so that the database waits for them instead of moving
// their data. The entries come first: maintenance without them is ended only by a user, or
// by time.
type StartMaintenance struct {
	Zone     string                   `json:"zone"`
	Duration time.Duration            `json:"-"`
	Groups   []v1beta2.ProcessGroupID `json:"groups"`
	At       time.Time                `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a StartMaintenance) Describe() string {
	words := fmt.Sprintf("set maintenance mode of zone %s for %s", a.Zone, a.Duration)
	if len(a.Groups) == 0 {
		return words
	}
	return words + ", to restart " + phrase.List(a.Groups)
}

// Subject implements Action.
func (a StartMaintenance) Subject() string {
	if len(a.Groups) == 0 {
		return "zone " + a.Zone
	}
	return phrase.List(a.Groups)
}

func (StartMaintenance) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: NoImpact}
}

// EndMaintenance ends maintenance mode of a zone.
type EndMaintenance struct {
	Zone string `json:"zone"`
}

// Describe implements Action.
func (a EndMaintenance) Describe() string { return "end maintenance mode of zone " + a.Zone }

// Subject implements Action.
func (a EndMaintenance) Subject() string { return "zone " + a.Zone }

func (EndMaintenance) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: NoImpact}
}

// ForgetMaintenance removes maintenance entries of process groups that have restarted, or
// never will.
type ForgetMaintenance struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
}

// Describe implements Action.
func (a ForgetMaintenance) Describe() string {
	return "remove maintenance entries of " + a.Subject()
}

// Subject implements Action.
func (a ForgetMaintenance) Subject() string { return phrase.List(a.Groups) }

func (ForgetMaintenance) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

// UpdateDenyList changes which control-plane instances may take the lock. It needs no lock
// itself: it is the way past one that holds the lock and does not come back.
type UpdateDenyList struct {
	// Deny and Allow are owner ids; all others are unchanged.
	Deny  []string `json:"deny,omitempty"`
	Allow []string `json:"allow,omitempty"`
	// Note is stored beside the list about the denied owners.
	Note fdb.Denial `json:"note" fingerprint:"-"`
}

// Describe implements Action.
func (a UpdateDenyList) Describe() string {
	var words []string
	if len(a.Deny) > 0 {
		words = append(words, "deny the lock to "+strings.Join(a.Deny, ", "))
	}
	if len(a.Allow) > 0 {
		words = append(words, "allow the lock to "+strings.Join(a.Allow, ", ")+" again")
	}
	return strings.Join(words, "; ")
}

// Subject implements Action.
func (UpdateDenyList) Subject() string { return "deny list" }

func (UpdateDenyList) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

// AnnounceUpgrade announces to all control-plane instances that share the database which of
// this one's process groups can start in another version. Once all have announced, the one that
// takes the lock restarts all of them at once. It needs no lock, so it never waits for one.
type AnnounceUpgrade struct {
	Version string                   `json:"version"`
	Groups  []v1beta2.ProcessGroupID `json:"groups"`
}

// Describe implements Action.
func (a AnnounceUpgrade) Describe() string {
	return fmt.Sprintf("announce that %s can start in version %s", phrase.Count(len(a.Groups), "process group"), a.Version)
}

// Subject implements Action.
func (a AnnounceUpgrade) Subject() string { return phrase.List(a.Groups) }

func (AnnounceUpgrade) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

// WithdrawUpgrade removes an announcement: another control-plane instance must not restart
// process groups into a version that they are not prepared for any more.
type WithdrawUpgrade struct {
	Version string                   `json:"version"`
	Groups  []v1beta2.ProcessGroupID `json:"groups"`
}

// Describe implements Action.
func (a WithdrawUpgrade) Describe() string {
	return fmt.Sprintf("withdraw the announcement that %s can start in version %s", phrase.Count(len(a.Groups), "process group"), a.Version)
}

// Subject implements Action.
func (a WithdrawUpgrade) Subject() string { return phrase.List(a.Groups) }

func (WithdrawUpgrade) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

// HoldLock takes the database's lock manually for a user, so that no control-plane instance
// acts. It takes the lock itself, in one transaction, and no pass releases it.
type HoldLock struct {
	Owner string        `json:"owner"`
	User  string        `json:"person"`
	For   time.Duration `json:"for"`
}

// Describe implements Action.
func (a HoldLock) Describe() string {
	return fmt.Sprintf("hold the lock as %s for %s, manually for %s", a.Owner, a.For, a.User)
}

// Subject implements Action.
func (HoldLock) Subject() string { return "lock" }

func (HoldLock) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

// ReleaseLock clears the lock for a user, if it is still the one that was shown.
type ReleaseLock struct {
	Seen fdb.Lock `json:"seen"`
	User string   `json:"person"`
	// Force clears a lock even if another owner may still rely on it.
	Force bool `json:"force,omitempty"`
}

// Describe implements Action.
func (a ReleaseLock) Describe() string {
	return fmt.Sprintf("release the lock of %s, which ends at %s", a.Seen.Holder(), a.Seen.End.UTC().Format(time.RFC3339))
}

// Subject implements Action.
func (ReleaseLock) Subject() string { return "lock" }

func (ReleaseLock) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

// ApplyFailureDetector creates or updates the CronJob of the failure detector.
type ApplyFailureDetector struct {
	Name string `json:"name"`
	// Schedule is that of the CronJob, in cron syntax.
	Schedule string `json:"schedule"`
	// Differences are where an existing CronJob differs from the desired one.
	Differences []string         `json:"differences,omitempty" fingerprint:"-"`
	Object      *batchv1.CronJob `json:"-"`
	// Create is true when it does not exist yet.
	Create bool `json:"create,omitempty"`
}

// Describe implements Action.
func (a ApplyFailureDetector) Describe() string {
	if a.Create {
		return fmt.Sprintf("create CronJob %s (schedule %s)", a.Name, a.Schedule)
	}
	what := "the spec"
	if len(a.Differences) > 0 {
		what = phrase.Some(a.Differences, maxGroups)
	}
	return fmt.Sprintf("update CronJob %s (%s)", a.Name, what)
}

// Subject implements Action.
func (a ApplyFailureDetector) Subject() string { return "cronjob/" + a.Name }

func (ApplyFailureDetector) effect() Effect { return Effect{Stale: Detector, Impact: NoImpact} }

// Apply implements Edit.
func (a ApplyFailureDetector) Apply(s Snapshot) Snapshot {
	s.Detector = DetectorFacts{Job: a.Object}
	return s
}

// DeleteFailureDetector deletes the CronJob of the failure detector. Kubernetes deletes its jobs
// and their pods with it.
type DeleteFailureDetector struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Describe implements Action.
func (a DeleteFailureDetector) Describe() string { return "delete CronJob " + a.Name }

// Subject implements Action.
func (a DeleteFailureDetector) Subject() string { return "cronjob/" + a.Name }

func (DeleteFailureDetector) effect() Effect { return Effect{Stale: Detector, Impact: NoImpact} }

// Apply implements Edit.
func (a DeleteFailureDetector) Apply(s Snapshot) Snapshot {
	s.Detector = DetectorFacts{}
	return s
}

// RecordFailures writes to the FoundationDBCluster when failed process groups were seen. The
// change of the annotation starts the next pass of a watch, and a reconciliation of an operator.
type RecordFailures struct {
	Cluster string `json:"cluster"`
	// Groups are the failed process groups.
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	At     time.Time                `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a RecordFailures) Describe() string {
	return fmt.Sprintf("record that %s failed: %s", phrase.Count(len(a.Groups), "process group"), phrase.Some(a.Groups, maxGroups))
}

// Subject implements Action.
func (a RecordFailures) Subject() string { return a.Cluster }

func (RecordFailures) effect() Effect { return Effect{Stale: ClusterResource, Impact: NoImpact} }

// Value is the value of v1beta2.AnnotationFailuresSeen.
func (a RecordFailures) Value() string { return a.At.UTC().Format(time.RFC3339) }

// Apply implements Edit.
func (a RecordFailures) Apply(s Snapshot) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.Cluster.ObjectMeta, v1beta2.AnnotationFailuresSeen, a.Value())
	return s
}
