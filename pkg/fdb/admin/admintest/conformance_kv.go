package admintest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

func key(name string) []byte { return []byte(conformancePrefix + "/" + name) }

// write sets or, with nil, clears a key in a transaction of its own.
func write(t *testing.T, kv admin.KV, k, value []byte) {
	t.Helper()
	m := admin.Clear(k)
	if value != nil {
		m = admin.Set(k, value)
	}
	_, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(k)}, func(admin.View) ([]admin.Mutation, error) {
		return []admin.Mutation{m}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, kv admin.KV, k []byte) (value []byte, found bool) {
	t.Helper()
	_, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(k)}, func(v admin.View) ([]admin.Mutation, error) {
		value, found = v.Value(k)
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return value, found
}

func bytesConform(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	everything := make([]byte, 256)
	for i := range everything {
		everything[i] = byte(i)
	}
	for name, value := range map[string][]byte{
		"every byte":                 everything,
		"a row in a value's clothes": []byte("x' is `y'"),
		"nothing":                    {},
		"an end of line":             []byte("a\r\nb; commit\n"),
		"the beginning of the help":  []byte("The following options are available to be set using the `option' command:"),
	} {
		k := append(key("bytes/"), everything[1:]...)
		write(t, kv, k, value)
		got, found := read(t, kv, k)
		if !found || !bytes.Equal(got, value) {
			t.Errorf("%s: got %q %v, want %q", name, got, found, value)
		}
		write(t, kv, k, nil)
		if got, found := read(t, kv, k); found {
			t.Errorf("%s: cleared, and still %q", name, got)
		}
	}
}

func readOnlyConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	calls := 0
	version, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(key("nowhere"))}, func(v admin.View) ([]admin.Mutation, error) {
		calls++
		if value, found := v.Value(key("nowhere")); found {
			t.Errorf("got %q", value)
		}
		return nil, nil
	})
	if err != nil || version != 0 || calls != 1 {
		t.Errorf("got version %d after %d calls (%v)", version, calls, err)
	}
	refusal := errors.New("no")
	if _, err := kv.Txn(t.Context(), nil, func(admin.View) ([]admin.Mutation, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refusal: got %v", err)
	}
}

func conflictConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	k := key("conflict")
	write(t, kv, k, []byte("old"))
	defer write(t, kv, k, nil)
	var seen []string
	version, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(k)}, func(v admin.View) ([]admin.Mutation, error) {
		value, _ := v.Value(k)
		seen = append(seen, string(value))
		if len(seen) == 1 {
			write(t, kv, k, []byte("rival"))
		}
		return []admin.Mutation{admin.Set(k, append(value, '+'))}, nil
	})
	if err != nil || version == 0 {
		t.Fatalf("got version %d (%v)", version, err)
	}
	if diff := cmp.Diff([]string{"old", "rival"}, seen); diff != "" {
		t.Error(diff)
	}
	if got, _ := read(t, kv, k); string(got) != "rival+" {
		t.Errorf("got %q", got)
	}
}

func rangeConflictConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	begin, end := key("range/"), key("range0")
	var seen []int
	_, err := kv.Txn(t.Context(), []admin.Read{admin.ReadRange(begin, end)}, func(v admin.View) ([]admin.Mutation, error) {
		seen = append(seen, len(v.Within(begin, end)))
		if len(seen) == 1 {
			write(t, kv, key("range/rival"), []byte("x"))
		}
		return []admin.Mutation{admin.ClearRange(begin, end), admin.Set(key("alone"), nil)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1}, seen); diff != "" {
		t.Error(diff)
	}
	if _, found := read(t, kv, key("range/rival")); found {
		t.Error("the range was not cleared")
	}
	write(t, kv, key("alone"), nil)
}

func atomicityConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	_, err := kv.Txn(t.Context(), nil, func(admin.View) ([]admin.Mutation, error) {
		return []admin.Mutation{admin.Set(key("first"), []byte("1")), admin.Set(key("second"), make([]byte, 100_001))}, nil
	})
	if admin.KindOf(err) != admin.KindBadInput {
		t.Errorf("a value that is too long: got %v", err)
	}
	if value, found := read(t, kv, key("first")); found {
		t.Errorf("half of it was committed: %q", value)
	}
}

func lockConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	keys := fdb.LockKeys{Prefix: conformancePrefix + "/lock"}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	request := func(owner, nonce string, now time.Time) fdb.LockRequest {
		return fdb.LockRequest{Owner: owner, Now: now, Duration: time.Minute, Nonce: nonce}
	}
	refused := func(err error, want fdb.LockOutcome) {
		t.Helper()
		if held, ok := errors.AsType[*admin.LockHeldError](err); !ok || held.Decision.Outcome != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	mine := *must(admin.TakeLock(t.Context(), kv, keys, request("dc1", "n1", now)))(t).Write
	_, err := admin.TakeLock(t.Context(), kv, keys, request("dc2", "n2", now))
	refused(err, fdb.LockHeld)

	denyListConforms(t, kv, keys, now, func() {
		_, err := admin.TakeLock(t.Context(), kv, keys, request("dc2", "n2", now.Add(time.Hour)))
		refused(err, fdb.LockDenied)
	})

	late := now.Add(30 * time.Second)
	if err := admin.KeepLockUntil(t.Context(), kv, keys, mine, late); err != nil {
		t.Fatal(err)
	}
	if lock, _, err := admin.ReadLock(t.Context(), kv, keys); err != nil || lock == nil || !lock.End.Equal(late) || !lock.Start.Equal(mine.Start) {
		t.Errorf("held until %s, and got %+v (%v)", late, lock, err)
	}

	theirs := *must(admin.TakeLock(t.Context(), kv, keys, request("dc2", "n2", now.Add(time.Hour))))(t).Write
	if taken := now.Add(time.Hour); !theirs.Start.Equal(taken) {
		t.Errorf("a takeover starts at %s, got %s", taken, theirs.Start)
	}
	if err := admin.ReleaseLock(t.Context(), kv, keys, mine); err != nil {
		t.Fatal(err)
	}
	if err := admin.KeepLockUntil(t.Context(), kv, keys, mine, now); err != nil {
		t.Fatal(err)
	}
	lock, denied, err := admin.ReadLock(t.Context(), kv, keys)
	if err != nil || lock == nil || !lock.HeldBy("dc2", "n2") || len(denied) > 0 {
		t.Errorf("got %+v, %v (%v)", lock, denied, err)
	}
	if err := admin.ReleaseLock(t.Context(), kv, keys, theirs); err != nil {
		t.Fatal(err)
	}
	if lock, _, err := admin.ReadLock(t.Context(), kv, keys); err != nil || lock != nil {
		t.Errorf("released, and still %+v (%v)", lock, err)
	}
}

// denyListConforms denies dc2 the lock, calls whileDenied, and allows it again.
func denyListConforms(t *testing.T, kv admin.KV, keys fdb.LockKeys, at time.Time, whileDenied func()) {
	t.Helper()
	denial := fdb.Denial{By: "me@here", At: at, Reason: `"dc2" is lost`}
	change := func(denied bool, want map[string]fdb.Denial) {
		t.Helper()
		if err := admin.UpdateDenyList(t.Context(), kv, keys, map[string]bool{"dc2": denied}, denial); err != nil {
			t.Fatal(err)
		}
		shared := must(admin.ReadShared(t.Context(), kv, keys, admin.SharedRequest{Denials: true}))(t)
		if diff := cmp.Diff(want, shared.Denials); diff != "" {
			t.Error(diff)
		}
	}
	change(true, map[string]fdb.Denial{"dc2": denial})
	whileDenied()
	change(false, map[string]fdb.Denial{})
}

func sharedConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	keys := fdb.LockKeys{Prefix: conformancePrefix + "/shared"}
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(admin.AnnounceUpgrade(t.Context(), kv, keys, "7.4.6", []string{"storage-1", "storage-2"}))
	do(admin.AnnounceUpgrade(t.Context(), kv, keys, "7.4.6", []string{"storage-2", "log-1"}))
	do(admin.AnnounceUpgrade(t.Context(), kv, keys, "7.4.60", []string{"storage-9"}))
	do(admin.NoteMaintenance(t.Context(), kv, keys, []string{"storage-1", "storage-2"}, at))
	do(admin.ForgetMaintenance(t.Context(), kv, keys, []string{"storage-2", "nowhere"}))

	want := admin.Shared{
		Announced:   map[string][]string{"7.4.6": {"log-1", "storage-1", "storage-2"}, "7.4.60": {"storage-9"}},
		Maintenance: map[string]time.Time{"storage-1": at},
	}
	request := admin.SharedRequest{Upgrades: true, Maintenance: true}
	if diff := cmp.Diff(want, must(admin.ReadShared(t.Context(), kv, keys, request))(t)); diff != "" {
		t.Error(diff)
	}

	do(admin.WithdrawUpgrade(t.Context(), kv, keys, "7.4.6", []string{"storage-1", "storage-2", "storage-9"}))
	want.Announced["7.4.6"] = []string{"log-1"}
	if diff := cmp.Diff(want, must(admin.ReadShared(t.Context(), kv, keys, request))(t)); diff != "" {
		t.Error(diff)
	}

	do(admin.ClearUpgrades(t.Context(), kv, keys))
	do(admin.ForgetMaintenance(t.Context(), kv, keys, []string{"storage-1"}))
	left := must(admin.ReadShared(t.Context(), kv, keys, request))(t)
	if diff := cmp.Diff(admin.Shared{Announced: map[string][]string{}, Maintenance: map[string]time.Time{}}, left); diff != "" {
		t.Error(diff)
	}
}
