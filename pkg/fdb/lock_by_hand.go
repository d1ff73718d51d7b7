package fdb

import (
	"strings"
	"time"
)

// byHand begins the nonce of a record that a person had written. The operator does not
// look at nonces: to it the record is one of the instance's own.
const byHand = "by hand: "

// NonceByHand is the nonce of a record by which a person, "user@host", keeps the lock.
func NonceByHand(person, nonce string) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == ';' {
			return -1
		}
		return r
	}, person)
	return byHand + printable + "; " + nonce
}

// Person is who keeps the lock by hand; empty where an instance has it for its own work.
func (l Lock) Person() string {
	rest, found := strings.CutPrefix(l.Nonce, byHand)
	if !found {
		return ""
	}
	person, _, _ := strings.Cut(rest, "; ")
	return person
}

// Holder names who has the lock, for people.
func (l Lock) Holder() string {
	if person := l.Person(); person != "" {
		return l.Owner + ", by hand of " + person
	}
	return l.Owner
}

// keptFrom reports whether a person keeps the lock from whoever asks, although both act
// for the same instance.
func (l Lock) keptFrom(person string, now time.Time) bool {
	return l.Person() != "" && l.Person() != person && !l.ExpiredAt(now)
}

// Same reports whether two records are one and the same.
func (l Lock) Same(o Lock) bool {
	return l.HeldBy(o.Owner, o.Nonce) && l.Start.Equal(o.Start) && l.End.Equal(o.End)
}

// ReleaseRequest asks to clear a record that somebody looked at before.
type ReleaseRequest struct {
	// Seen is the record as it was shown. Any other is left alone.
	Seen Lock
	// Owner is the instance that asks, and Person who asks for it.
	Owner, Person string
	Now           time.Time
	// Force also clears what another instance may not use any more, and what another person
	// keeps for this instance. It never clears what another instance can rely on.
	Force bool
}

// ReleaseOutcome is what becomes of a request to clear the lock.
type ReleaseOutcome string

// Outcomes of a ReleaseRequest.
const (
	ReleaseGranted ReleaseOutcome = "released"
	// ReleaseFree has nothing to clear.
	ReleaseFree ReleaseOutcome = "free"
	// ReleaseChanged finds another record than the one that was looked at.
	ReleaseChanged ReleaseOutcome = "changed meanwhile"
	// ReleaseOthers is another's, and can be forced.
	ReleaseOthers ReleaseOutcome = "another's"
	// ReleaseHeld is another instance's, which relies on it.
	ReleaseHeld ReleaseOutcome = "held by another"
)

// DecideRelease answers a request in view of the record found (nil for none) and of the
// deny list. Instances without a name all have the same one: of theirs, a record is one's own
// only if one keeps it by hand.
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
	case found.Owner == r.Owner && (r.Owner != "" || r.Person != "" && found.Person() == r.Person):
		if found.keptFrom(r.Person, r.Now) {
			return forced()
		}
		return ReleaseGranted
	case found.MayBeTakenOver(denied, r.Now):
		return forced()
	default:
		return ReleaseHeld
	}
}
