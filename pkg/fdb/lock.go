package fdb

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// DefaultLockPrefix is the key prefix of the state that control-plane
// instances share, unless spec.lockOptions.lockKeyPrefix is set.
const DefaultLockPrefix = "\xff\x02/org.foundationdb.kubernetes-operator"

// DefaultLockDuration is how long a lock is held before others may take it over,
// unless spec.lockOptions.lockDurationMinutes is set.
const DefaultLockDuration = 10 * time.Minute

// LockKeys are the keys of the lock and of its deny list.
type LockKeys struct {
	// Prefix is DefaultLockPrefix when empty.
	Prefix string
}

func (k LockKeys) join(parts ...string) []byte {
	prefix := k.Prefix
	if prefix == "" {
		prefix = DefaultLockPrefix
	}
	return []byte(path.Join(append([]string{prefix}, parts...)...))
}

// Lock returns the key of the lock.
func (k LockKeys) Lock() []byte { return k.join("global") }

// Denied returns the key of an owner's deny list entry; its value is the
// owner.
func (k LockKeys) Denied(owner string) []byte {
	return append(append(k.join("denyList"), '/'), owner...)
}

// DenyList returns the range of all deny list entries; end is exclusive.
func (k LockKeys) DenyList() (begin, end []byte) {
	list := k.join("denyList")
	return append(slices.Clone(list), '/'), append(list, '/'+1)
}

// Lock identifies the control-plane instance that may change the database. Times
// are whole seconds.
type Lock struct {
	// Owner is the holder's spec.processGroupIDPrefix.
	Owner string    `json:"owner"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Nonce identifies one attempt to write the lock. The operator ignores it
	// and drops it on write.
	Nonce string `json:"nonce,omitempty"`
}

// Encode returns the lock's value: a tuple of owner, start, end and, if set, the
// nonce.
func (l Lock) Encode() []byte {
	t := Tuple{l.Owner, l.Start.Unix(), l.End.Unix()}
	if l.Nonce != "" {
		t = append(t, l.Nonce)
	}
	return t.Pack()
}

// DecodeLock decodes a lock. Unknown elements after the third are ignored.
func DecodeLock(value []byte) (Lock, error) {
	t, err := UnpackTuple(value)
	if len(t) < 3 {
		if err == nil {
			err = fmt.Errorf("%s, must be at least 3", phrase.Count(len(t), "element"))
		}
		return Lock{}, fmt.Errorf("decode lock: %w", err)
	}
	owner, isOwner := t[0].(string)
	start, isStart := t[1].(int64)
	end, isEnd := t[2].(int64)
	if !isOwner || !isStart || !isEnd {
		return Lock{}, fmt.Errorf("decode lock: elements of type %T, %T, %T", t[0], t[1], t[2])
	}
	l := Lock{Owner: owner, Start: time.Unix(start, 0).UTC(), End: time.Unix(end, 0).UTC()}
	if len(t) > 3 {
		l.Nonce, _ = t[3].(string)
	}
	return l, nil
}

// ExpiredAt reports whether the lock has expired, so that any owner may take
// it over.
func (l Lock) ExpiredAt(now time.Time) bool { return l.End.Unix() < now.Unix() }

// MayBeTakenOver reports whether another owner may take the lock: it has expired, or its
// owner is denied.
func (l Lock) MayBeTakenOver(denied []string, now time.Time) bool {
	return l.ExpiredAt(now) || slices.Contains(denied, l.Owner)
}

// HeldBy reports whether this attempt of owner wrote the lock. Only then may it be
// released: the operator, or another run with the same owner ID, may have rewritten it.
func (l Lock) HeldBy(owner, nonce string) bool { return l.Owner == owner && l.Nonce == nonce }

// LockRequest is a request for the lock.
type LockRequest struct {
	Owner    string
	Now      time.Time
	Duration time.Duration
	Nonce    string
	// User is the user, "user@host", who requests to hold the lock manually; empty for a run.
	User string
	// AllowEmptyOwner accepts an empty owner ID. All of those share one lock, so
	// they do not exclude each other.
	AllowEmptyOwner bool
}

// LockOutcome is the outcome of a request for the lock.
type LockOutcome string

// Outcomes of a LockRequest.
const (
	LockTaken     LockOutcome = "taken"
	LockExtended  LockOutcome = "extended"
	LockTakenOver LockOutcome = "taken over"
	LockHeld      LockOutcome = "held by another"
	LockDenied    LockOutcome = "denied"
	LockNameless  LockOutcome = "owner has no name"
)

// Granted reports whether the requester has the lock once Write is committed.
func (o LockOutcome) Granted() bool {
	return o == LockTaken || o == LockExtended || o == LockTakenOver
}

// LockDecision is the decision on a LockRequest.
type LockDecision struct {
	Outcome LockOutcome
	// Write is the lock to commit; nil unless the outcome is granted.
	Write *Lock
	// Holder is the existing lock; nil for none.
	Holder *Lock
}

// QuietUntil returns until when other control-plane instances must be kept out because an
// earlier run with this owner ID may have taken processes down; zero without an earlier run.
// Such a run keeps its lock for as long as the database may not report a dead process, or was
// killed while holding it. Whatever it took down, it did so before now; and a lock that is
// extended repeatedly ends when it would have ended.
func (d LockDecision) QuietUntil(now time.Time) time.Time {
	if d.Outcome != LockExtended {
		return time.Time{}
	}
	if shown := now.Add(DeathNoticedAfter); d.Holder.End.After(shown) {
		return shown
	}
	return d.Holder.End
}

// DecideLock decides on a request, given the existing lock (nil for none) and the deny
// list. The deny list applies even to a free lock, unlike in the operator. The start is when
// the owner took the lock: an extension keeps it, and a takeover sets it to the time of
// the request, where the operator keeps the start of the previous owner. A lock held manually
// is not granted to another user or to a run before it expires, not even with the same owner ID.
func DecideLock(found *Lock, denied []string, r LockRequest) LockDecision {
	refuse := func(o LockOutcome) LockDecision { return LockDecision{Outcome: o, Holder: found} }
	grant := func(o LockOutcome, start time.Time) LockDecision {
		return LockDecision{Outcome: o, Holder: found, Write: r.record(start)}
	}
	switch {
	case r.Owner == "" && !r.AllowEmptyOwner:
		return refuse(LockNameless)
	case slices.Contains(denied, r.Owner):
		return refuse(LockDenied)
	case found == nil:
		return grant(LockTaken, r.Now)
	case found.Owner == r.Owner && found.heldManuallyFrom(r.User, r.Now):
		return refuse(LockHeld)
	case found.Owner == r.Owner:
		return grant(LockExtended, found.Start)
	case found.MayBeTakenOver(denied, r.Now):
		return grant(LockTakenOver, r.Now)
	default:
		return refuse(LockHeld)
	}
}

// WrittenNonce returns the nonce of the lock that a granted request writes.
func (r LockRequest) WrittenNonce() string {
	if r.User == "" {
		return r.Nonce
	}
	return NonceByHand(r.User, r.Nonce)
}

func (r LockRequest) record(start time.Time) *Lock {
	return &Lock{
		Owner: r.Owner,
		Start: start.UTC().Truncate(time.Second),
		End:   r.Now.Add(r.Duration).UTC().Truncate(time.Second),
		Nonce: r.WrittenNonce(),
	}
}

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
