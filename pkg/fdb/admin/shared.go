package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Shared is the state that the control-plane instances of one database share in
// it.
type Shared struct {
	// Lock is the lock in force; nil for none.
	Lock *fdb.Lock
	// Denied are the owners on the deny list.
	Denied []string
	// Denials are the existing Denials of the deny list. Nil unless requested.
	Denials map[string]fdb.Denial
	// Announced are the process groups that can start in a version, by version. Nil unless
	// requested.
	Announced map[string][]string
	// Maintenance is since when each process group is about to restart during
	// maintenance.
	Maintenance map[string]time.Time
	// Lists are all process groups on each of the shared lists, and since when. Nil
	// unless requested; a list without entries is present and empty.
	Lists map[fdb.SharedList]map[fdb.Member]time.Time
	// Addresses are the bare IPs of listed process groups. Nil unless requested.
	Addresses map[fdb.Member][]string
}

// SharedRequest selects what to read besides the lock and the deny list.
type SharedRequest struct {
	// Denials reads the Denials.
	Denials bool
	// Upgrades reads the announcements for all versions.
	Upgrades bool
	// Maintenance reads the maintenance entries.
	Maintenance bool
	// Lists reads the shared lists and the addresses of listed process groups.
	Lists bool
}

// ReadShared reads everything requested in one transaction, so that it is consistent.
func ReadShared(ctx context.Context, kv KV, keys fdb.LockKeys, r SharedRequest) (Shared, error) {
	begin, end := keys.DenyList()
	reads := []Read{ReadKey(keys.Lock()), ReadRange(begin, end)}
	if r.Denials {
		reads = append(reads, ReadRange(keys.DenialNotes()))
	}
	if r.Upgrades {
		reads = append(reads, ReadRange(keys.AllUpgrades()))
	}
	if r.Maintenance {
		reads = append(reads, ReadRange(keys.Maintenance()))
	}
	if r.Lists {
		reads = append(reads, listReads(keys)...)
	}
	var shared Shared
	_, err := kv.Txn(ctx, reads, func(v View) ([]Mutation, error) {
		var err error
		shared, err = sharedIn(v, keys, r)
		return nil, err
	})
	if err != nil {
		return Shared{}, fmt.Errorf("read the shared state: %w", err)
	}
	return shared, nil
}

func sharedIn(v View, keys fdb.LockKeys, r SharedRequest) (Shared, error) {
	lock, err := lockIn(v, keys)
	if err != nil {
		return Shared{}, err
	}
	shared := Shared{Lock: lock, Denied: deniedIn(v, keys), Maintenance: map[string]time.Time{}}
	if r.Denials {
		shared.Denials = denialsIn(v, keys)
	}
	if r.Upgrades {
		shared.Announced = map[string][]string{}
		for _, p := range v.Within(keys.AllUpgrades()) {
			version := fdb.AnnouncedVersion(p.Key)
			shared.Announced[version] = append(shared.Announced[version], fdb.LastPart(p.Key))
		}
	}
	for _, p := range v.Within(keys.Maintenance()) {
		at, err := fdb.DecodeMaintenance(p.Value)
		if err != nil {
			return Shared{}, &Error{Kind: KindUnparsed, Operation: "reading maintenance entries", Err: err}
		}
		shared.Maintenance[fdb.LastPart(p.Key)] = at
	}
	if r.Lists {
		if err := shared.readLists(v, keys); err != nil {
			return Shared{}, &Error{Kind: KindUnparsed, Operation: "reading the shared lists", Err: err}
		}
	}
	return shared, nil
}

// denialsIn returns the Denials that can be decoded. They are informational.
func denialsIn(v View, keys fdb.LockKeys) map[string]fdb.Denial {
	denials := map[string]fdb.Denial{}
	for _, p := range v.Within(keys.DenialNotes()) {
		if denial, ok := fdb.DecodeDenial(p.Value); ok {
			denials[fdb.LastPart(p.Key)] = denial
		}
	}
	return denials
}

// AnnounceUpgrade announces that process groups can start in a version. Announcements of
// others, and of other versions, are not changed.
func AnnounceUpgrade(ctx context.Context, kv KV, keys fdb.LockKeys, version string, groups []string) error {
	if version == "" {
		return &Error{Kind: KindBadInput, Operation: "announcing an upgrade", Detail: "no version"}
	}
	err := settled(ctx, kv, []Read{ReadRange(keys.Upgrades(version))}, func(v View) ([]Mutation, error) {
		var mutations []Mutation
		for _, group := range groups {
			key := keys.Upgrade(version, group)
			if _, there := v.Value(key); !there {
				mutations = append(mutations, Set(key, []byte(group)))
			}
		}
		return mutations, nil
	})
	if err != nil {
		return fmt.Errorf("announce the upgrade to %s: %w", version, err)
	}
	return nil
}

// WithdrawUpgrade removes the announcements of process groups for a version.
func WithdrawUpgrade(ctx context.Context, kv KV, keys fdb.LockKeys, version string, groups []string) error {
	err := settled(ctx, kv, []Read{ReadRange(keys.Upgrades(version))}, func(v View) ([]Mutation, error) {
		var mutations []Mutation
		for _, group := range groups {
			key := keys.Upgrade(version, group)
			if _, there := v.Value(key); there {
				mutations = append(mutations, Clear(key))
			}
		}
		return mutations, nil
	})
	if err != nil {
		return fmt.Errorf("withdraw the upgrade to %s: %w", version, err)
	}
	return nil
}

// ClearUpgrades removes all announcements, for any version.
func ClearUpgrades(ctx context.Context, kv KV, keys fdb.LockKeys) error {
	begin, end := keys.AllUpgrades()
	err := settled(ctx, kv, []Read{ReadRange(begin, end)}, func(v View) ([]Mutation, error) {
		if len(v.Within(begin, end)) == 0 {
			return nil, nil
		}
		return []Mutation{ClearRange(begin, end)}, nil
	})
	if err != nil {
		return fmt.Errorf("clear announced upgrades: %w", err)
	}
	return nil
}

// NoteMaintenance writes since when process groups are about to restart during
// maintenance.
func NoteMaintenance(ctx context.Context, kv KV, keys fdb.LockKeys, groups []string, at time.Time) error {
	return changeMaintenance(ctx, kv, keys, groups, func(key []byte, _ bool) *Mutation {
		m := Set(key, fdb.EncodeMaintenance(at))
		return &m
	})
}

// ForgetMaintenance removes the maintenance entries of process groups.
func ForgetMaintenance(ctx context.Context, kv KV, keys fdb.LockKeys, groups []string) error {
	return changeMaintenance(ctx, kv, keys, groups, func(key []byte, there bool) *Mutation {
		if !there {
			return nil
		}
		m := Clear(key)
		return &m
	})
}

func changeMaintenance(ctx context.Context, kv KV, keys fdb.LockKeys, groups []string, change func(key []byte, there bool) *Mutation) error {
	err := settled(ctx, kv, []Read{ReadRange(keys.Maintenance())}, func(v View) ([]Mutation, error) {
		var mutations []Mutation
		for _, group := range groups {
			key := keys.UnderMaintenance(group)
			_, there := v.Value(key)
			if m := change(key, there); m != nil {
				mutations = append(mutations, *m)
			}
		}
		return mutations, nil
	})
	if err != nil {
		return fmt.Errorf("change maintenance entries: %w", err)
	}
	return nil
}
