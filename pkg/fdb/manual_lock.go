package fdb

import (
	"strings"
	"time"
)

// manualNonce is the prefix of the nonce of a lock that a user holds manually. It is
// stored in databases and must not change. The operator ignores nonces and treats the
// lock as one of the owner.
const manualNonce = "by hand: "

// NonceByHand returns the nonce of a lock that a user, "user@host", holds manually.
func NonceByHand(user, nonce string) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == ';' {
			return -1
		}
		return r
	}, user)
	return manualNonce + printable + "; " + nonce
}

// User returns the user who holds the lock manually; empty if a run holds it.
func (l Lock) User() string {
	rest, found := strings.CutPrefix(l.Nonce, manualNonce)
	if !found {
		return ""
	}
	user, _, _ := strings.Cut(rest, "; ")
	return user
}

// Holder describes the holder of the lock for users.
func (l Lock) Holder() string {
	if user := l.User(); user != "" {
		return l.Owner + ", held manually by " + user
	}
	return l.Owner
}

// heldManuallyFrom reports whether a user other than user holds the lock manually,
// with the same owner ID.
func (l Lock) heldManuallyFrom(user string, now time.Time) bool {
	return l.User() != "" && l.User() != user && !l.ExpiredAt(now)
}

// Same reports whether two locks are identical.
func (l Lock) Same(o Lock) bool {
	return l.HeldBy(o.Owner, o.Nonce) && l.Start.Equal(o.Start) && l.End.Equal(o.End)
}

// ReleaseRequest is a request to clear a lock that was read before.
type ReleaseRequest struct {
	// Seen is the lock as it was printed. Any other is not released.
	Seen Lock
	// Owner is the owner ID of the request, and User its user.
	Owner, User string
	Now         time.Time
	// Force also clears an expired or denied lock of another owner, and a lock that another
	// user holds manually with this owner ID. It never clears a lock on which another
	// control-plane instance may rely.
	Force bool
}

// ReleaseOutcome is the outcome of a request to clear the lock.
type ReleaseOutcome string

// Outcomes of a ReleaseRequest.
const (
	ReleaseGranted ReleaseOutcome = "released"
	// ReleaseFree means that there is no lock to clear.
	ReleaseFree ReleaseOutcome = "free"
	// ReleaseChanged means that the lock is not the one that was read.
	ReleaseChanged ReleaseOutcome = "changed meanwhile"
	// ReleaseOthers means that another holds the lock, and that release can be
	// forced.
	ReleaseOthers ReleaseOutcome = "another's"
	// ReleaseHeld means that another control-plane instance holds the lock and
	// relies on it.
	ReleaseHeld ReleaseOutcome = "held by another"
)

// DecideRelease decides on a request, given the existing lock (nil for none) and the deny
// list. Control-plane instances without an owner ID cannot be distinguished: their lock
// belongs to the requester only if the same user holds it manually.
func DecideRelease(found *Lock, denied []string, r ReleaseRequest) ReleaseOutcome {
	forced := func() ReleaseOutcome {
		if r.Force {
			return ReleaseGranted
		}
		return ReleaseOthers
	}
	switch {
	case found == nil:
		return ReleaseFree
	case !found.Same(r.Seen):
		return ReleaseChanged
	case found.Owner == r.Owner && (r.Owner != "" || r.User != "" && found.User() == r.User):
		if found.heldManuallyFrom(r.User, r.Now) {
			return forced()
		}
		return ReleaseGranted
	case found.MayBeTakenOver(denied, r.Now):
		return forced()
	default:
		return ReleaseHeld
	}
}
