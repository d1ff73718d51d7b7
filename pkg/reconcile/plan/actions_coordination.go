package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
