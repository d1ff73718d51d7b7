package admin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
)

const (
	globalKey = `\xff\x02/org.foundationdb.kubernetes-operator/global`
	denyRange = `\xff\x02/org.foundationdb.kubernetes-operator/denyList/ \xff\x02/org.foundationdb.kubernetes-operator/denyList0`
	conflict  = "ERROR: Transaction not committed due to conflict with another transaction (1020)\n"
)

func complaint(word string) string {
	return "ERROR: Unknown command `" + word + "'. Try `help'?\n"
}

// reading is a session up to the end of its reads: the value of key "k".
func reading(answer string) []admintest.Line {
	return []admintest.Line{
		{Expect: "writemode on"},
		{Expect: "option on ACCESS_SYSTEM_KEYS", Stdout: "Option enabled for all transactions\n"},
		{Expect: "option on LOCK_AWARE", Stdout: "Option enabled for all transactions\n"},
		{Expect: "begin", Stdout: "Transaction started\n"},
		{Expect: "get k", Stdout: answer},
		{Expect: "sync_1", Stderr: complaint("sync_1")},
		{Expect: "help options"},
	}
}

const absent = "`k': not found\n"

func committing(line, stdout, stderr string) []admintest.Line {
	return append(reading(absent),
		admintest.Line{Expect: line, Stdout: stdout, Stderr: stderr},
		admintest.Line{Expect: "sync_2", Stderr: complaint("sync_2")},
		admintest.Line{Expect: "exit"},
	)
}

func setK(admin.View) ([]admin.Mutation, error) {
	return []admin.Mutation{admin.Set([]byte("k"), []byte("v")), admin.Clear([]byte("old"))}, nil
}

const setLine = "set k v; clear old; commit"

func TestFdbcliTransactionOutcomes(t *testing.T) {
	committed := committing(setLine, ">>> set k v\n>>> clear old\n>>> commit\nCommitted (218016533)\n", "")
	conflicted := committing(setLine, ">>> set k v\n>>> clear old\n>>> commit\nRolling back current transaction\n", conflict)
	cases := map[string]struct {
		sessions [][]admintest.Line
		version  int64
		want     admin.Kind
	}{
		"committed":                     {[][]admintest.Line{committed}, 218016533, ""},
		"committed after two conflicts": {[][]admintest.Line{conflicted, conflicted, committed}, 218016533, ""},
		"conflicts without end": {
			[][]admintest.Line{conflicted, conflicted, conflicted, conflicted, conflicted}, 0, admin.KindConflict,
		},
		"too old already when reading": {
			[][]admintest.Line{{
				{Expect: "writemode on"},
				{Expect: "option on ACCESS_SYSTEM_KEYS"},
				{Expect: "option on LOCK_AWARE"},
				{Expect: "begin", Stdout: "Transaction started\n"},
				{Expect: "get k", Stdout: "Rolling back current transaction\n", Stderr: "ERROR: Transaction is too old to perform reads or be committed (1007)\n"},
				{Expect: "sync_1", Stderr: complaint("sync_1")},
				{Expect: "help options"},
			}, committed}, 218016533, "",
		},
		"slow, with remarks in between": {
			[][]admintest.Line{committing(setLine, "\nThe database is available.\n\nCommitted (7)\n", longDelay)}, 7, "",
		},
		"commit of unknown result": {
			[][]admintest.Line{committing(setLine, "", "ERROR: Transaction may or may not have committed (1021)\n")}, 0, admin.KindUnknownResult,
		},
		"lost after the commit was sent": {
			[][]admintest.Line{append(reading(absent), admintest.Line{Expect: setLine, Dies: true})}, 0, admin.KindUnknownResult,
		},
		"neither committed nor refused": {
			[][]admintest.Line{committing(setLine, "Something else\n", "")}, 0, admin.KindUnknownResult,
		},
		"lost while reading": {
			[][]admintest.Line{{{Expect: "writemode on", Dies: true}}}, 0, admin.KindTimeout,
		},
		"an answer for another key": {
			[][]admintest.Line{reading("`other': not found\n")}, 0, admin.KindUnparsed,
		},
		"a transaction that did not start": {
			[][]admintest.Line{{
				{Expect: "writemode on"},
				{Expect: "option on ACCESS_SYSTEM_KEYS"},
				{Expect: "option on LOCK_AWARE"},
				{Expect: "begin"},
				{Expect: "get k", Stdout: absent},
				{Expect: "sync_1", Stderr: complaint("sync_1")},
				{Expect: "help options"},
			}}, 0, admin.KindUnparsed,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			transcript := admintest.NewTranscript(t)
			for _, s := range c.sessions {
				transcript.Session(s...)
			}
			version, err := newCLI(transcript).Txn(t.Context(), []admin.Read{admin.ReadKey([]byte("k"))}, setK)
			if got := admin.KindOf(err); got != c.want || (err == nil) != (c.want == "") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if version != c.version {
				t.Errorf("got version %d, want %d", version, c.version)
			}
		})
	}
}

func TestATransactionWithoutMutationsCommitsNothing(t *testing.T) {
	transcript := admintest.NewTranscript(t).Session(reading("`k' is `a\\x00'\\\\'\n")...)
	version, err := newCLI(transcript).Txn(t.Context(), []admin.Read{admin.ReadKey([]byte("k"))},
		func(v admin.View) ([]admin.Mutation, error) {
			value, found := v.Value([]byte("k"))
			if diff := cmp.Diff("a\x00'\\", string(value)); diff != "" || !found {
				t.Error(diff)
			}
			return nil, nil
		})
	if err != nil || version != 0 {
		t.Errorf("got %d (%v)", version, err)
	}
}

func TestATransactionReturnsTheErrorOfItsDecision(t *testing.T) {
	sentinel := errors.New("no")
	transcript := admintest.NewTranscript(t).Session(reading(absent)...)
	_, err := newCLI(transcript).Txn(t.Context(), []admin.Read{admin.ReadKey([]byte("k"))},
		func(admin.View) ([]admin.Mutation, error) { return nil, sentinel })
	if !errors.Is(err, sentinel) {
		t.Errorf("got %v", err)
	}
}

func TestInvalidMutationsAreNotSent(t *testing.T) {
	for name, m := range map[string]admin.Mutation{
		"no key":            admin.Set(nil, []byte("v")),
		"a key too long":    admin.Set(make([]byte, 10_001), nil),
		"a value too long":  admin.Set([]byte("k"), make([]byte, 100_001)),
		"an inverted range": admin.ClearRange([]byte("b"), []byte("a")),
	} {
		t.Run(name, func(t *testing.T) {
			transcript := admintest.NewTranscript(t).Session(reading(absent)...)
			_, err := newCLI(transcript).Txn(t.Context(), []admin.Read{admin.ReadKey([]byte("k"))},
				func(admin.View) ([]admin.Mutation, error) { return []admin.Mutation{m}, nil })
			if admin.KindOf(err) != admin.KindBadInput {
				t.Errorf("got %v", err)
			}
		})
	}
}

// fakeKV is a KV over a map whose commits can be made to fail.
type fakeKV struct {
	values map[string]string
	// outcomes are of the commits to come: "" commits, "lost" does not commit and
	// reports unknown, "found" commits and reports unknown.
	outcomes []string
}

func (f *fakeKV) Txn(_ context.Context, reads []admin.Read, decide func(admin.View) ([]admin.Mutation, error)) (int64, error) {
	var pairs []admin.Pair
	for k, v := range f.values {
		for _, r := range reads {
			if k == string(r.Begin) || (r.End != nil && k >= string(r.Begin) && k < string(r.End)) {
				pairs = append(pairs, admin.Pair{Key: []byte(k), Value: []byte(v)})
			}
		}
	}
	mutations, err := decide(admin.NewView(pairs))
	if err != nil || len(mutations) == 0 {
		return 0, err
	}
	outcome := ""
	if len(f.outcomes) > 0 {
		outcome, f.outcomes = f.outcomes[0], f.outcomes[1:]
	}
	if outcome != "lost" {
		for _, m := range mutations {
			delete(f.values, string(m.Key))
			if m.Value != nil {
				f.values[string(m.Key)] = string(m.Value)
			}
		}
	}
	if outcome != "" {
		return 0, &admin.Error{Kind: admin.KindUnknownResult, Operation: "testing"}
	}
	return 1, nil
}

func TestTakingTheLockSurvivesUnknownCommitResults(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	request := fdb.LockRequest{Owner: "dc1", Now: now, Duration: fdb.DefaultLockDuration, Nonce: "n1"}
	cases := map[string]struct {
		outcomes []string
		want     admin.Kind
	}{
		"committed":              {nil, ""},
		"lost, then committed":   {[]string{"lost"}, ""},
		"unknown, but committed": {[]string{"found"}, ""},
		"always lost":            {[]string{"lost", "lost", "lost"}, admin.KindUnknownResult},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			kv := &fakeKV{values: map[string]string{}, outcomes: c.outcomes}
			taken, err := admin.TakeLock(t.Context(), kv, fdb.LockKeys{}, request)
			if got := admin.KindOf(err); got != c.want {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if err == nil && (!taken.Write.HeldBy("dc1", "n1") || kv.values[string(fdb.LockKeys{}.Lock())] != string(taken.Write.Encode())) {
				t.Errorf("got %+v, stored %q", taken.Write, kv.values)
			}
		})
	}
}

// What was there before a commit with an unknown result is not forgotten by looking again.
func TestALockTakenAfterAnUnknownCommitReportsThePriorLock(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	left := fdb.Lock{Owner: "dc1", Start: now.Add(-time.Minute), End: now.Add(time.Minute), Nonce: "earlier"}
	kv := &fakeKV{values: map[string]string{string(fdb.LockKeys{}.Lock()): string(left.Encode())}, outcomes: []string{"found"}}
	taken, err := admin.TakeLock(t.Context(), kv, fdb.LockKeys{}, fdb.LockRequest{Owner: "dc1", Now: now, Duration: fdb.DefaultLockDuration, Nonce: "n1"})
	if err != nil || taken.Outcome != fdb.LockExtended || !taken.Holder.Same(left) || !taken.Write.HeldBy("dc1", "n1") {
		t.Errorf("got %+v (%v), want the lock, extended from %+v", taken, err, left)
	}
}

func TestManualLockReleaseComparesTheLockInTheTransaction(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	shown := fdb.Lock{Owner: "dc1", Start: now, End: now.Add(time.Minute), Nonce: "n1"}
	changed := shown
	changed.Nonce = "n2"
	key := string(fdb.LockKeys{}.Lock())
	cases := map[string]struct {
		there    *fdb.Lock
		outcomes []string
		want     fdb.ReleaseOutcome
		kind     admin.Kind
	}{
		"the one that was shown":   {there: &shown, want: fdb.ReleaseGranted},
		"another one":              {there: &changed, want: fdb.ReleaseChanged},
		"none any more":            {want: fdb.ReleaseFree},
		"unknown, but committed":   {there: &shown, outcomes: []string{"found"}, want: fdb.ReleaseFree},
		"lost, and then committed": {there: &shown, outcomes: []string{"lost"}, want: fdb.ReleaseGranted},
		"always lost":              {there: &shown, outcomes: []string{"lost", "lost", "lost"}, kind: admin.KindUnknownResult},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			kv := &fakeKV{values: map[string]string{}, outcomes: c.outcomes}
			if c.there != nil {
				kv.values[key] = string(c.there.Encode())
			}
			got, found, err := admin.ReleaseLockByHand(t.Context(), kv, fdb.LockKeys{}, fdb.ReleaseRequest{Seen: shown, Owner: "dc1", Now: now})
			if admin.KindOf(err) != c.kind || got != c.want {
				t.Fatalf("%q and %v, want %q and %q", got, err, c.want, c.kind)
			}
			if left := kv.values[key]; c.want == fdb.ReleaseChanged && (left != string(changed.Encode()) || !found.Same(changed)) || c.want == fdb.ReleaseGranted && left != "" {
				t.Errorf("left %q, found %+v", left, found)
			}
		})
	}
}

func TestLockTransactionsTakeReleaseAndDeny(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	keys := fdb.LockKeys{}
	request := fdb.LockRequest{Owner: "dc1", Now: now, Duration: time.Minute, Nonce: "n1"}
	held := func(owner, nonce string) *fakeKV {
		l := fdb.Lock{Owner: owner, Start: now, End: now.Add(time.Minute), Nonce: nonce}
		return &fakeKV{values: map[string]string{string(keys.Lock()): string(l.Encode())}}
	}
	t.Run("held by another", func(t *testing.T) {
		_, err := admin.TakeLock(t.Context(), held("dc2", ""), keys, request)
		refusal, ok := errors.AsType[*admin.LockHeldError](err)
		if !ok || refusal.Decision.Outcome != fdb.LockHeld || refusal.Decision.Holder.Owner != "dc2" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("denied though free", func(t *testing.T) {
		kv := &fakeKV{values: map[string]string{string(keys.Denied("dc1")): "dc1"}}
		_, err := admin.TakeLock(t.Context(), kv, keys, request)
		if refusal, ok := errors.AsType[*admin.LockHeldError](err); !ok || refusal.Decision.Outcome != fdb.LockDenied {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a locked database", func(t *testing.T) {
		kv := &fakeKV{values: map[string]string{string(admin.DatabaseLockedKey): "x"}}
		if _, err := admin.TakeLock(t.Context(), kv, keys, request); admin.KindOf(err) != admin.KindLocked {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an unknown record", func(t *testing.T) {
		kv := &fakeKV{values: map[string]string{string(keys.Lock()): "mine!"}}
		if _, err := admin.TakeLock(t.Context(), kv, keys, request); admin.KindOf(err) != admin.KindUnparsed {
			t.Errorf("got %v", err)
		}
	})
	t.Run("without a nonce", func(t *testing.T) {
		anonymous := request
		anonymous.Nonce = ""
		if _, err := admin.TakeLock(t.Context(), &fakeKV{}, keys, anonymous); admin.KindOf(err) != admin.KindBadInput {
			t.Errorf("got %v", err)
		}
	})
	t.Run("released", func(t *testing.T) {
		kv := held("dc1", "n1")
		if err := admin.ReleaseLock(t.Context(), kv, keys, fdb.Lock{Owner: "dc1", Nonce: "n1"}); err != nil || len(kv.values) > 0 {
			t.Errorf("left %q (%v)", kv.values, err)
		}
	})
	t.Run("not released when another attempt wrote it", func(t *testing.T) {
		kv := held("dc1", "n2")
		if err := admin.ReleaseLock(t.Context(), kv, keys, fdb.Lock{Owner: "dc1", Nonce: "n1"}); err != nil || len(kv.values) != 1 {
			t.Errorf("left %q (%v)", kv.values, err)
		}
	})
	t.Run("deny list", func(t *testing.T) {
		kv := held("dc2", "")
		err := admin.UpdateDenyList(t.Context(), kv, keys, map[string]bool{"dc1": true, "dc3": false}, fdb.Denial{By: "me@here", At: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		lock, denied, err := admin.ReadLock(t.Context(), kv, keys)
		if err != nil || lock == nil || lock.Owner != "dc2" {
			t.Errorf("got %+v (%v)", lock, err)
		}
		if diff := cmp.Diff([]string{"dc1"}, denied); diff != "" {
			t.Error(diff)
		}
		if err := admin.UpdateDenyList(t.Context(), kv, keys, map[string]bool{"dc1": false}, fdb.Denial{}); err != nil || len(kv.values) != 1 {
			t.Errorf("left %q (%v)", kv.values, err)
		}
	})
}

// TestTheLockIsTakenThroughFdbcliTransactions has the bytes that FoundationDB 7.3.79 took and printed.
func TestTheLockIsTakenThroughFdbcliTransactions(t *testing.T) {
	start := time.Unix(1754300000, 0)
	transcript := admintest.NewTranscript(t).Session(
		admintest.Line{Expect: "writemode on"},
		admintest.Line{Expect: "option on ACCESS_SYSTEM_KEYS", Stdout: "Option enabled for all transactions\n"},
		admintest.Line{Expect: "option on LOCK_AWARE", Stdout: "Option enabled for all transactions\n"},
		admintest.Line{Expect: "begin", Stdout: "Transaction started\n"},
		admintest.Line{Expect: "get " + globalKey, Stdout: "`" + globalKey + "' is `\\x02dc1\\x00\\x18h\\x90~`\\x18h\\x90\\x80\\xb8\\x026b1f\\x00'\n"},
		admintest.Line{Expect: `get \xff/dbLocked`, Stdout: "`\\xff/dbLocked': not found\n"},
		admintest.Line{Expect: "getrange " + denyRange + " 10000", Stdout: "\nRange limited to 10000 keys\n\n"},
		admintest.Line{Expect: "sync_1", Stderr: complaint("sync_1")},
		admintest.Line{Expect: "help options"},
		admintest.Line{
			Expect: "set " + globalKey + ` \x02dc1\x00\x18h\x90\x7e\x60\x18h\x90\x80\xb8\x027c2a\x00; commit`,
			Stdout: ">>> set …\n>>> commit\nCommitted (1)\n",
		},
		admintest.Line{Expect: "sync_2", Stderr: complaint("sync_2")},
		admintest.Line{Expect: "exit"},
	)
	taken, err := admin.TakeLock(t.Context(), newCLI(transcript), fdb.LockKeys{}, fdb.LockRequest{
		Owner: "dc1", Now: start, Duration: fdb.DefaultLockDuration, Nonce: "7c2a",
	})
	if err != nil || taken.Write.End.Unix() != 1754300600 {
		t.Errorf("got %+v (%v)", taken, err)
	}
}
