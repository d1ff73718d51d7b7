package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Shared is what the instances that use one database tell each other through it.
type Shared struct {
	// Lock is the record in force; nil for none.
	Lock *fdb.Lock
	// Denied are the owners on the deny list.
	Denied []string
	// Denials are notes about those on the deny list, as far as there are any. Nil unless
	// asked for.
	Denials map[string]fdb.Denial
	// Announced are the process groups that can start in a version, by version. Nil unless
	// asked for.
	Announced map[string][]string
	// Maintenance says since when each process group is about to restart during
	// maintenance.
	Maintenance map[string]time.Time
	// Lists are the process groups of all instances on each of the shared lists, and
	// since when. Nil unless asked for; a list without entries is there and empty.
	Lists map[fdb.SharedList]map[fdb.Member]time.Time
	// Addresses are the bare IPs of listed process groups. Nil unless asked for.
	Addresses map[fdb.Member][]string
}

// SharedRequest says what to read besides the lock and the deny list.
type SharedRequest struct {
	// Denials has the notes about the deny list read.
	Denials bool
	// Upgrades has the announcements for all versions read.
	Upgrades bool
	// Maintenance has the maintenance notes read.
	Maintenance bool
	// Lists has the shared lists and the addresses of listed process groups read.
	Lists bool
}

// ReadShared reads all that was asked for in one transaction, so that it belongs together.
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
		return Shared{}, fmt.Errorf("reading what instances share: %w", err)
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
			return Shared{}, &Error{Kind: KindUnparsed, Doing: "reading maintenance notes", Err: err}
		}
		shared.Maintenance[fdb.LastPart(p.Key)] = at
	}
	if r.Lists {
		if err := shared.readLists(v, keys); err != nil {
			return Shared{}, &Error{Kind: KindUnparsed, Doing: "reading the shared lists", Err: err}
		}
	}
	return shared, nil
}

// denialsIn are the notes that can be read. Nothing rests on them.
func denialsIn(v View, keys fdb.LockKeys) map[string]fdb.Denial {
	denials := map[string]fdb.Denial{}
	for _, p := range v.Within(keys.DenialNotes()) {
		if denial, ok := fdb.DecodeDenial(p.Value); ok {
			denials[fdb.LastPart(p.Key)] = denial
		}
	}
	return denials
}

// AnnounceUpgrade notes that process groups can start in a version. Notes of others, and
// of other versions, stay.
func AnnounceUpgrade(ctx context.Context, kv KV, keys fdb.LockKeys, version string, groups []string) error {
	if version == "" {
		return &Error{Kind: KindBadInput, Doing: "announcing an upgrade", Detail: "no version"}
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
		return fmt.Errorf("announcing the upgrade to %s: %w", version, err)
	}
	return nil
}

// WithdrawUpgrade takes back what was announced of process groups for a version.
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
		return fmt.Errorf("taking back what was announced for %s: %w", version, err)
	}
	return nil
}

// ClearUpgrades removes what all instances announced, for any version.
func ClearUpgrades(ctx context.Context, kv KV, keys fdb.LockKeys) error {
	begin, end := keys.AllUpgrades()
	err := settled(ctx, kv, []Read{ReadRange(begin, end)}, func(v View) ([]Mutation, error) {
		if len(v.Within(begin, end)) == 0 {
			return nil, nil
		}
		return []Mutation{ClearRange(begin, end)}, nil
	})
	if err != nil {
		return fmt.Errorf("clearing announced upgrades: %w", err)
	}
	return nil
}

// NoteMaintenance notes since when process groups are about to restart during maintenance.
func NoteMaintenance(ctx context.Context, kv KV, keys fdb.LockKeys, groups []string, at time.Time) error {
	return changeMaintenance(ctx, kv, keys, groups, func(key []byte, _ bool) *Mutation {
		m := Set(key, fdb.EncodeMaintenance(at))
		return &m
	})
}

// ForgetMaintenance removes the notes of process groups.
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
		return fmt.Errorf("changing maintenance notes: %w", err)
	}
	return nil
}
