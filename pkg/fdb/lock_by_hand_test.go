package fdb

import (
	"testing"
	"time"
)

// kept is a lock that a user holds manually as dc1.
func kept(user string, end time.Time) *Lock {
	return &Lock{Owner: "dc1", Start: noon.Add(-time.Minute), End: end, Nonce: NonceByHand(user, "n1")}
}

func TestAManuallyHeldLockExcludesOthers(t *testing.T) {
	later, over := noon.Add(time.Minute), noon.Add(-time.Second)
	tests := map[string]struct {
		found  *Lock
		denied []string
		user   string
		want   LockOutcome
	}{
		"a run waits":                             {found: kept("ann@a", later), want: LockHeld},
		"another user waits":                      {found: kept("ann@a", later), user: "bob@b", want: LockHeld},
		"whoever keeps it may keep it longer":     {found: kept("ann@a", later), user: "ann@a", want: LockExtended},
		"its time ends":                           {found: kept("ann@a", over), want: LockExtended},
		"a user gets what a run has":              {found: &Lock{Owner: "dc1", End: later}, user: "ann@a", want: LockExtended},
		"a user gets nothing from another":        {found: &Lock{Owner: "dc2", End: later}, user: "ann@a", want: LockHeld},
		"a user with a denied owner ID gets none": {denied: []string{"dc1"}, user: "ann@a", want: LockDenied},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := DecideLock(tc.found, tc.denied, LockRequest{Owner: "dc1", Now: noon, Duration: time.Hour, Nonce: "n2", User: tc.user})
			if d.Outcome != tc.want {
				t.Errorf("%s, want %s", d.Outcome, tc.want)
			}
			if d.Write != nil && d.Write.User() != tc.user {
				t.Errorf("kept by %q", d.Write.User())
			}
		})
	}
}

func TestAManualLockNamesItsUser(t *testing.T) {
	l := kept("ann; root@a\n", noon)
	read, err := DecodeLock(l.Encode())
	if err != nil || read.User() != "ann root@a" || read.Holder() != "dc1, held manually by ann root@a" || !read.Same(*l) {
		t.Errorf("%+v, user %q: %v", read, read.User(), err)
	}
	if l := (Lock{Owner: "dc1", Nonce: "XYZ"}); l.User() != "" || l.Holder() != "dc1" {
		t.Errorf("a run's lock is of %q", l.Holder())
	}
}

func TestWhichLocksCanBeReleasedManually(t *testing.T) {
	later, over := noon.Add(time.Minute), noon.Add(-time.Second)
	other := &Lock{Owner: "dc2", End: later}
	tests := map[string]struct {
		found  *Lock
		seen   *Lock // nil is found
		denied []string
		owner  string // empty is dc1
		plain  ReleaseOutcome
		forced ReleaseOutcome
	}{
		"one's own":                              {found: kept("ann@a", later), plain: ReleaseGranted, forced: ReleaseGranted},
		"one that a run left":                    {found: &Lock{Owner: "dc1", End: later, Nonce: "n"}, plain: ReleaseGranted, forced: ReleaseGranted},
		"what another user holds, by force":      {found: kept("bob@b", later), plain: ReleaseOthers, forced: ReleaseGranted},
		"what another user held":                 {found: kept("bob@b", over), plain: ReleaseGranted, forced: ReleaseGranted},
		"another's that ran out, by force":       {found: &Lock{Owner: "dc2", End: over}, plain: ReleaseOthers, forced: ReleaseGranted},
		"a denied one's, by force":               {found: other, denied: []string{"dc2"}, plain: ReleaseOthers, forced: ReleaseGranted},
		"never one that another relies on":       {found: other, plain: ReleaseHeld, forced: ReleaseHeld},
		"never one that changed since":           {found: kept("ann@a", later), seen: kept("ann@a", over), plain: ReleaseChanged, forced: ReleaseChanged},
		"never one that another run wrote again": {found: &Lock{Owner: "dc1", End: later, Nonce: "n2"}, seen: &Lock{Owner: "dc1", End: later, Nonce: "n1"}, plain: ReleaseChanged, forced: ReleaseChanged},
		"none":                                   {plain: ReleaseFree, forced: ReleaseFree, seen: other},
		"what one keeps oneself without a name":  {found: &Lock{End: later, Nonce: NonceByHand("ann@a", "n")}, owner: "-", plain: ReleaseGranted, forced: ReleaseGranted},
		"never one without an owner ID":          {found: &Lock{End: later}, owner: "-", plain: ReleaseHeld, forced: ReleaseHeld},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := ReleaseRequest{Owner: "dc1", User: "ann@a", Now: noon}
			if tc.owner != "" {
				r.Owner = ""
			}
			if tc.seen == nil {
				tc.seen = tc.found
			}
			r.Seen = *tc.seen
			if got := DecideRelease(tc.found, tc.denied, r); got != tc.plain {
				t.Errorf("%s, want %s", got, tc.plain)
			}
			r.Force = true
			if got := DecideRelease(tc.found, tc.denied, r); got != tc.forced {
				t.Errorf("by force %s, want %s", got, tc.forced)
			}
		})
	}
}
