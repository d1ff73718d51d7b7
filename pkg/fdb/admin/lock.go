package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// LockHeldError reports the holder of the lock, or why it cannot be taken.
type LockHeldError struct {
	Decision fdb.LockDecision
}

func (e *LockHeldError) Error() string {
	if e.Decision.Outcome == fdb.LockHeld && e.Decision.Holder != nil {
		return fmt.Sprintf("the lock is held by %q until %s", e.Decision.Holder.Holder(), e.Decision.Holder.End.Format("15:04:05 MST"))
	}
	return fmt.Sprintf("the lock is denied: %s", e.Decision.Outcome)
}

// settleTries is how often a transaction with an unknown result is retried.
const settleTries = 3

// TakeLock takes, extends or takes over the lock in one transaction. It returns the decision in force, and *LockHeldError if the lock cannot be taken; it does not
// wait. Write in the decision is the lock that is stored now, Holder the one that was found. The request's nonce must be new for each call: it shows whether a
// commit with an unknown result happened. A database that is locked itself is KindLocked.
func TakeLock(ctx context.Context, kv KV, keys fdb.LockKeys, r fdb.LockRequest) (fdb.LockDecision, error) {
	if r.Nonce == "" {
		return fdb.LockDecision{}, &Error{Kind: KindBadInput, Operation: "taking the lock", Detail: "requires a nonce"}
	}
	begin, end := keys.DenyList()
	reads := []Read{ReadKey(keys.Lock()), ReadKey(DatabaseLockedKey), ReadRange(begin, end)}
	var taken fdb.LockDecision // of the last attempt that was made
	err := settled(ctx, kv, reads, func(v View) ([]Mutation, error) {
		found, err := lockIn(v, keys)
		if err != nil {
			return nil, err
		}
		if found != nil && found.HeldBy(r.Owner, r.WrittenNonce()) {
			taken.Write = found // an earlier attempt was committed after all
			return nil, nil
		}
		if _, locked := v.Value(DatabaseLockedKey); locked {
			return nil, &Error{Kind: KindLocked, Operation: "taking the lock", Detail: "the database is locked"}
		}
		d := fdb.DecideLock(found, deniedIn(v, keys), r)
		if !d.Outcome.Granted() {
			return nil, &LockHeldError{Decision: d}
		}
		taken = d
		return []Mutation{Set(keys.Lock(), d.Write.Encode())}, nil
	})
	if err != nil {
		return fdb.LockDecision{}, fmt.Errorf("take the lock: %w", err)
	}
	return taken, nil
}

// ReleaseLock clears the lock if it is the one that this run wrote. An absent or
// expired lock, or one of another holder, is not changed, which is not an error.
func ReleaseLock(ctx context.Context, kv KV, keys fdb.LockKeys, lock fdb.Lock) error {
	reads := []Read{ReadKey(keys.Lock())}
	err := settled(ctx, kv, reads, func(v View) ([]Mutation, error) {
		found, err := lockIn(v, keys)
		if err != nil {
			return nil, err
		}
		if found == nil || !found.HeldBy(lock.Owner, lock.Nonce) {
			return nil, nil
		}
		return []Mutation{Clear(keys.Lock())}, nil
	})
	if err != nil {
		return fmt.Errorf("release the lock: %w", err)
	}
	return nil
}

// ReleaseLockByHand clears the lock that a user read before, in one transaction that reads
// it again, and returns the outcome and the lock that is stored otherwise. A lock that is
// already free is not an error.
func ReleaseLockByHand(ctx context.Context, kv KV, keys fdb.LockKeys, r fdb.ReleaseRequest) (fdb.ReleaseOutcome, *fdb.Lock, error) {
	begin, end := keys.DenyList()
	var (
		outcome fdb.ReleaseOutcome
		found   *fdb.Lock
	)
	err := settled(ctx, kv, []Read{ReadKey(keys.Lock()), ReadRange(begin, end)}, func(v View) ([]Mutation, error) {
		var err error
		if found, err = lockIn(v, keys); err != nil {
			return nil, err
		}
		if outcome = fdb.DecideRelease(found, deniedIn(v, keys), r); outcome != fdb.ReleaseGranted {
			return nil, nil
		}
		return []Mutation{Clear(keys.Lock())}, nil
	})
	if err != nil {
		return "", nil, fmt.Errorf("release the lock manually: %w", err)
	}
	return outcome, found, nil
}

// KeepLockUntil lets the lock expire at a time, if it is the one that this run wrote,
// instead of clearing it now. An absent lock, or one of another holder, is not changed,
// which is not an error.
func KeepLockUntil(ctx context.Context, kv KV, keys fdb.LockKeys, lock fdb.Lock, end time.Time) error {
	reads := []Read{ReadKey(keys.Lock())}
	err := settled(ctx, kv, reads, func(v View) ([]Mutation, error) {
		found, err := lockIn(v, keys)
		if err != nil {
			return nil, err
		}
		if found == nil || !found.HeldBy(lock.Owner, lock.Nonce) {
			return nil, nil
		}
		found.End = end.UTC().Truncate(time.Second)
		return []Mutation{Set(keys.Lock(), found.Encode())}, nil
	})
	if err != nil {
		return fmt.Errorf("set the expiry of the lock: %w", err)
	}
	return nil
}

// ReadLock returns the lock in force, nil for none, and the owners on the deny
// list.
func ReadLock(ctx context.Context, kv KV, keys fdb.LockKeys) (lock *fdb.Lock, denied []string, err error) {
	begin, end := keys.DenyList()
	reads := []Read{ReadKey(keys.Lock()), ReadRange(begin, end)}
	_, err = kv.Txn(ctx, reads, func(v View) ([]Mutation, error) {
		var err error
		lock, err = lockIn(v, keys)
		denied = deniedIn(v, keys)
		return nil, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the lock: %w", err)
	}
	return lock, denied, nil
}

// UpdateDenyList adds owners to the deny list or removes them; other owners are not
// changed. An added entry gets a Denial, which is removed with the entry.
func UpdateDenyList(ctx context.Context, kv KV, keys fdb.LockKeys, denied map[string]bool, by fdb.Denial) error {
	note, err := by.Encode()
	if err != nil {
		return err
	}
	begin, end := keys.DenyList()
	err = settled(ctx, kv, []Read{ReadRange(begin, end)}, func(v View) ([]Mutation, error) {
		var mutations []Mutation
		for owner, deny := range denied {
			key := keys.Denied(owner)
			_, listed := v.Value(key)
			switch {
			case owner == "":
				return nil, &Error{Kind: KindBadInput, Operation: "updating the deny list", Detail: "the owner must have an ID"}
			case deny && !listed:
				mutations = append(mutations, Set(key, []byte(owner)), Set(keys.DenialNote(owner), note))
			case !deny && listed:
				mutations = append(mutations, Clear(key), Clear(keys.DenialNote(owner)))
			}
		}
		return mutations, nil
	})
	if err != nil {
		return fmt.Errorf("update the deny list: %w", err)
	}
	return nil
}

// settled runs a transaction whose decide recognizes its own earlier work, and retries
// while the result is unknown. A retry reads what was committed, and if that was
// nothing, writes the same keys, so that an earlier attempt that is still in flight
// conflicts with it.
func settled(ctx context.Context, kv KV, reads []Read, decide func(View) ([]Mutation, error)) error {
	var err error
	for range settleTries {
		if _, err = kv.Txn(ctx, reads, decide); KindOf(err) != KindUnknownResult {
			return err
		}
	}
	return err
}

// lockIn returns the lock; nil for none. An empty value is none.
func lockIn(v View, keys fdb.LockKeys) (*fdb.Lock, error) {
	value, found := v.Value(keys.Lock())
	if !found || len(value) == 0 {
		return nil, nil
	}
	lock, err := fdb.DecodeLock(value)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Operation: "reading the lock", Err: err}
	}
	return &lock, nil
}

func deniedIn(v View, keys fdb.LockKeys) []string {
	begin, end := keys.DenyList()
	var denied []string
	for _, p := range v.Within(begin, end) {
		denied = append(denied, strings.TrimPrefix(string(p.Key), string(begin)))
	}
	return denied
}
