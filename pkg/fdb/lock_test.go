package fdb

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestLockDecisionsFollowOwnerExpiryAndDenyList(t *testing.T) {
	mine := Lock{Owner: "dc1", Start: noon.Add(-time.Minute), End: noon.Add(9 * time.Minute), Nonce: "old"}
	theirs := Lock{Owner: "dc2", Start: noon.Add(-time.Minute), End: noon.Add(9 * time.Minute)}
	expired := Lock{Owner: "dc2", Start: noon.Add(-time.Hour), End: noon.Add(-time.Second)}
	endingNow := Lock{Owner: "dc2", Start: noon.Add(-time.Hour), End: noon}
	write := func(start time.Time) *Lock {
		return &Lock{Owner: "dc1", Start: start, End: noon.Add(DefaultLockDuration), Nonce: "new"}
	}
	cases := map[string]struct {
		found   *Lock
		denied  []string
		request func(*LockRequest)
		want    LockDecision
	}{
		"it is free": {
			want: LockDecision{Outcome: LockTaken, Write: write(noon)},
		},
		"we have it, so the start is kept": {
			found: &mine,
			want:  LockDecision{Outcome: LockExtended, Write: write(mine.Start), Holder: &mine},
		},
		"another has it": {
			found: &theirs,
			want:  LockDecision{Outcome: LockHeld, Holder: &theirs},
		},
		"another's ran out, and the start is ours": {
			found: &expired,
			want:  LockDecision{Outcome: LockTakenOver, Write: write(noon), Holder: &expired},
		},
		"another's ends this very second": {
			found: &endingNow,
			want:  LockDecision{Outcome: LockHeld, Holder: &endingNow},
		},
		"the holder is denied": {
			found: &theirs, denied: []string{"dc2"},
			want: LockDecision{Outcome: LockTakenOver, Write: write(noon), Holder: &theirs},
		},
		"we are denied and hold it": {
			found: &mine, denied: []string{"dc1"},
			want: LockDecision{Outcome: LockDenied, Holder: &mine},
		},
		"we are denied and it is free": {
			denied: []string{"dc1"},
			want:   LockDecision{Outcome: LockDenied},
		},
		"we have no name": {
			request: func(r *LockRequest) { r.Owner = "" },
			want:    LockDecision{Outcome: LockNameless},
		},
		"having no name is allowed": {
			request: func(r *LockRequest) { r.Owner, r.AllowEmptyOwner = "", true },
			want: LockDecision{Outcome: LockTaken, Write: &Lock{
				Start: noon, End: noon.Add(DefaultLockDuration), Nonce: "new",
			}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := LockRequest{Owner: "dc1", Now: noon, Duration: DefaultLockDuration, Nonce: "new"}
			if c.request != nil {
				c.request(&r)
			}
			got := DecideLock(c.found, c.denied, r)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Outcome.Granted() != (got.Write != nil) {
				t.Errorf("granted %v, but writes %v", got.Outcome.Granted(), got.Write)
			}
		})
	}
}

func TestHowLongAnEarlierRunKeepsOtherControlPlaneInstancesOut(t *testing.T) {
	lock := func(owner string, left time.Duration) *Lock {
		return &Lock{Owner: owner, Start: noon.Add(-time.Minute), End: noon.Add(left)}
	}
	cases := map[string]struct {
		found *Lock
		want  time.Time
	}{
		"not for a lock that was free":                                    {nil, time.Time{}},
		"not for another's that ran out":                                  {lock("dc2", -time.Second), time.Time{}},
		"as long as that run left it":                                     {lock("dc1", 80*time.Second), noon.Add(80 * time.Second)},
		"until its deaths show, where that run was killed with all of it": {lock("dc1", 9*time.Minute), noon.Add(DeathNoticedAfter)},
		"no longer than that run left it, where it has already run out":   {lock("dc1", -time.Second), noon.Add(-time.Second)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := DecideLock(c.found, nil, LockRequest{Owner: "dc1", Now: noon, Duration: DefaultLockDuration, Nonce: "new"})
			if got := d.QuietUntil(noon); !got.Equal(c.want) {
				t.Errorf("until %s, want %s", got, c.want)
			}
		})
	}
}

func TestLockKeys(t *testing.T) {
	const standard = "\xff\x02/org.foundationdb.kubernetes-operator"
	begin, end := LockKeys{}.DenyList()
	got := []string{string(LockKeys{}.Lock()), string(LockKeys{}.Denied("dc1")), string(begin), string(end), string(LockKeys{Prefix: "\xff\x02/mine/"}.Lock())}
	want := []string{standard + "/global", standard + "/denyList/dc1", standard + "/denyList/", standard + "/denyList0", "\xff\x02/mine/global"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeLockRejectsInvalidValues(t *testing.T) {
	for name, value := range map[string]string{
		"nothing":            "",
		"two elements":       "\x02dc1\x00\x15\x01",
		"owner is a number":  "\x15\x01\x15\x01\x15\x01",
		"start is a string":  "\x02a\x00\x02a\x00\x15\x01",
		"cut inside the end": "\x02dc1\x00\x18\x68\x90\x7e\x60\x18\x68",
		"some raw text":      "locked",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := DecodeLock([]byte(value)); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}

func TestALockNonceOfAnotherTypeIsIgnored(t *testing.T) {
	l, err := DecodeLock([]byte("\x02dc1\x00\x15\x01\x15\x02\x21\x00"))
	if err != nil || l.Owner != "dc1" || l.Nonce != "" {
		t.Errorf("got %+v (%v)", l, err)
	}
}

func FuzzDecodeLock(f *testing.F) {
	f.Add([]byte("\x02dc1\x00\x18\x68\x90\x7e\x60\x18\x68\x90\x80\xb8\x026b1f\x00"))
	f.Add([]byte("\x02\x00\x14\x14"))
	f.Fuzz(func(t *testing.T, value []byte) {
		got, err := DecodeLock(value)
		if err != nil {
			return
		}
		again, err := DecodeLock(got.Encode())
		if err != nil || !cmp.Equal(again, got) {
			t.Errorf("%x: %+v became %+v (%v)", value, got, again, err)
		}
	})
}
