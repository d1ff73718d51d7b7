package fdb

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// DefaultLockPrefix is where the records shared by all instances live unless
// spec.lockOptions.lockKeyPrefix says otherwise.
const DefaultLockPrefix = "\xff\x02/org.foundationdb.kubernetes-operator"

// DefaultLockDuration is how long a lock is held before others may take it over.
// spec.lockOptions.lockDurationMinutes.
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

// Lock is the key of the lock record.
func (k LockKeys) Lock() []byte { return k.join("global") }

// Denied is the key that puts owner on the deny list; its value is the owner.
func (k LockKeys) Denied(owner string) []byte {
	return append(append(k.join("denyList"), '/'), owner...)
}

// DenyList is the range of all deny list entries; end is exclusive.
func (k LockKeys) DenyList() (begin, end []byte) {
	list := k.join("denyList")
	return append(slices.Clone(list), '/'), append(list, '/'+1)
}

// Lock is the record that says which instance may change the database. Times are
// whole seconds.
type Lock struct {
	// Owner is the holder's spec.processGroupIDPrefix.
	Owner string    `json:"owner"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Nonce tells one attempt to write the record from another. The operator
	// ignores it and drops it when it writes.
	Nonce string `json:"nonce,omitempty"`
}

// Encode is the record's value: a tuple of owner, start, end and, if there is one,
// the nonce.
func (l Lock) Encode() []byte {
	t := Tuple{l.Owner, l.Start.Unix(), l.End.Unix()}
	if l.Nonce != "" {
		t = append(t, l.Nonce)
	}
	return t.Pack()
}

// DecodeLock reads a record. Elements after the third that it does not understand
// are somebody else's business.
func DecodeLock(value []byte) (Lock, error) {
	t, err := UnpackTuple(value)
	if len(t) < 3 {
		if err == nil {
			err = fmt.Errorf("%s, want at least 3", phrase.Count(len(t), "element"))
		}
		return Lock{}, fmt.Errorf("decoding lock: %w", err)
	}
	owner, isOwner := t[0].(string)
	start, isStart := t[1].(int64)
	end, isEnd := t[2].(int64)
	if !isOwner || !isStart || !isEnd {
		return Lock{}, fmt.Errorf("decoding lock: elements of type %T, %T, %T", t[0], t[1], t[2])
	}
	l := Lock{Owner: owner, Start: time.Unix(start, 0).UTC(), End: time.Unix(end, 0).UTC()}
	if len(t) > 3 {
		l.Nonce, _ = t[3].(string)
	}
	return l, nil
}

// ExpiredAt reports whether anybody may take the lock over.
func (l Lock) ExpiredAt(now time.Time) bool { return l.End.Unix() < now.Unix() }

// MayBeTakenOver reports whether any instance may have the lock, whoever wrote the record.
func (l Lock) MayBeTakenOver(denied []string, now time.Time) bool {
	return l.ExpiredAt(now) || slices.Contains(denied, l.Owner)
}

// HeldBy reports whether this very attempt of owner wrote the record. Only then may it
// be released: the operator, or another run under the same name, may have rewritten it.
func (l Lock) HeldBy(owner, nonce string) bool { return l.Owner == owner && l.Nonce == nonce }

// LockRequest asks for the lock.
type LockRequest struct {
	Owner    string
	Now      time.Time
	Duration time.Duration
	Nonce    string
	// Person is who asks, "user@host", to keep the lock by hand; empty for an instance at work.
	Person string
	// AllowEmptyOwner accepts an owner without a name. All of those share one
	// lock, so two of them do not keep each other out.
	AllowEmptyOwner bool
}

// LockOutcome is what becomes of a request for the lock.
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

// LockDecision is the answer to a LockRequest.
type LockDecision struct {
	Outcome LockOutcome
	// Write is the record to commit; nil unless the outcome is granted.
	Write *Lock
	// Holder is the record found; nil when there was none.
	Holder *Lock
}

// QuietUntil is until when other instances have to be kept away for what an earlier run of
// this one may have taken down; zero when there was none. Such a run leaves its lock for as
// long as the database may not show a death, or was killed with all of it. Whatever it took
// down, it did so before now; and a lock that is extended again and again ends where it would
// have ended.
func (d LockDecision) QuietUntil(now time.Time) time.Time {
	if d.Outcome != LockExtended {
		return time.Time{}
	}
	if shown := now.Add(DeathNoticedAfter); d.Holder.End.After(shown) {
		return shown
	}
	return d.Holder.End
}

// DecideLock answers a request in view of the record found (nil for none) and of
// the deny list. The deny list counts even when nobody holds the lock, which the
// operator does not look at then. A take-over keeps the start of the old record. What a
// person keeps by hand nobody else gets before its time is over, the instance at its own
// work neither.
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
	case found.Owner == r.Owner && found.keptFrom(r.Person, r.Now):
		return refuse(LockHeld)
	case found.Owner == r.Owner:
		return grant(LockExtended, found.Start)
	case found.MayBeTakenOver(denied, r.Now):
		return grant(LockTakenOver, found.Start)
	default:
		return refuse(LockHeld)
	}
}

// WrittenNonce is the nonce of the record that a granted request writes.
func (r LockRequest) WrittenNonce() string {
	if r.Person == "" {
		return r.Nonce
	}
	return NonceByHand(r.Person, r.Nonce)
}

func (r LockRequest) record(start time.Time) *Lock {
	return &Lock{
		Owner: r.Owner,
		Start: start.UTC().Truncate(time.Second),
		End:   r.Now.Add(r.Duration).UTC().Truncate(time.Second),
		Nonce: r.WrittenNonce(),
	}
}
