package keyspace

import (
	"slices"
	"sort"
)

// Space is the ordered store of a database, with enough history to read at
// the versions of open transactions and to find conflicts.
type Space struct {
	sorted  []string
	history map[string][]Revision // ascending versions
	writes  []writeRecord         // ascending versions
	Changes uint64                // how often anything was written
}

// Revision is a key's value from a version on.
type Revision struct {
	Version int64
	Value   []byte
	cleared bool
}

// Range is [begin, end).
type Range struct{ Begin, End string }

// Overlaps reports whether the ranges have a key in common.
func (r Range) Overlaps(o Range) bool { return r.Begin < o.End && o.Begin < r.End }

// Single is the range that holds one key.
func Single(key string) Range { return Range{key, key + "\x00"} }

// writeRecord is what one commit wrote.
type writeRecord struct {
	version int64
	ranges  []Range
}

// Pair is a key with its value.
type Pair struct {
	Key   string
	Value []byte
}

// Mutation sets a key, or clears a range when it has one.
type Mutation struct {
	Key   string
	Value []byte
	Clear *Range
}

// Touches is the range of keys that the mutation changes.
func (m Mutation) Touches() Range {
	if m.Clear != nil {
		return *m.Clear
	}
	return Single(m.Key)
}

// VersionsPerSecond is the rate at which versions grow.
const VersionsPerSecond = 1_000_000

// TransactionLife is how many versions a read version stays usable.
const TransactionLife = 5 * VersionsPerSecond

// remembered is for how many versions the past is kept: twice the life of a
// transaction.
const remembered = 2 * TransactionLife

// At is the value of a key as of a version.
func (k *Space) At(key string, version int64) ([]byte, bool) {
	for _, r := range slices.Backward(k.history[key]) {
		if r.Version <= version {
			return r.Value, !r.cleared
		}
	}
	return nil, false
}

const newest = int64(1)<<62 - 1

// Latest is the current value of a key.
func (k *Space) Latest(key string) ([]byte, bool) { return k.At(key, newest) }

// LatestRange are the keys in [begin, end) now.
func (k *Space) LatestRange(begin, end string) []Pair { return k.RangeAt(begin, end, newest) }

// RangeAt are the keys in [begin, end) as of a version.
func (k *Space) RangeAt(begin, end string, version int64) []Pair {
	var found []Pair
	for i := sort.SearchStrings(k.sorted, begin); i < len(k.sorted) && k.sorted[i] < end; i++ {
		if value, ok := k.At(k.sorted[i], version); ok {
			found = append(found, Pair{k.sorted[i], value})
		}
	}
	return found
}

// Conflicts reports whether anything in the ranges was written after a version.
func (k *Space) Conflicts(reads []Range, after int64) bool {
	for _, record := range slices.Backward(k.writes) {
		if record.version <= after {
			return false
		}
		for _, w := range record.ranges {
			if slices.ContainsFunc(reads, w.Overlaps) {
				return true
			}
		}
	}
	return false
}

// Apply commits mutations at a version, in their order.
func (k *Space) Apply(version int64, mutations []Mutation) {
	k.Changes++
	record := writeRecord{version: version}
	for _, m := range mutations {
		record.ranges = append(record.ranges, m.Touches())
		if m.Clear == nil {
			k.Put(m.Key, Revision{Version: version, Value: m.Value})
			continue
		}
		for _, p := range k.LatestRange(m.Clear.Begin, m.Clear.End) {
			k.Put(p.Key, Revision{Version: version, cleared: true})
		}
	}
	k.writes = append(k.writes, record)
	k.trim(version - remembered)
}

// Put adds a revision of a key.
func (k *Space) Put(key string, r Revision) {
	if k.history == nil {
		k.history = map[string][]Revision{}
	}
	if _, known := k.history[key]; !known {
		i := sort.SearchStrings(k.sorted, key)
		k.sorted = slices.Insert(k.sorted, i, key)
	}
	k.history[key] = append(slices.DeleteFunc(k.history[key], func(o Revision) bool {
		return o.Version == r.Version
	}), r)
}

// FallBack drops what was committed after a version. A key that was overwritten later is missing then, if its
// former value was forgotten.
func (k *Space) FallBack(version int64) {
	k.Changes++
	for key, revisions := range k.history {
		k.history[key] = slices.DeleteFunc(revisions, func(r Revision) bool { return r.Version > version })
		if len(k.history[key]) == 0 {
			delete(k.history, key)
			k.sorted = slices.DeleteFunc(k.sorted, func(o string) bool { return o == key })
		}
	}
}

// trim forgets what no open transaction can ask for.
func (k *Space) trim(before int64) {
	k.writes = slices.DeleteFunc(k.writes, func(w writeRecord) bool { return w.version < before })
	for key, revisions := range k.history {
		keep := 0
		for keep < len(revisions)-1 && revisions[keep+1].Version < before {
			keep++
		}
		if last := revisions[len(revisions)-1]; last.cleared && last.Version < before {
			delete(k.history, key)
			k.sorted = slices.DeleteFunc(k.sorted, func(o string) bool { return o == key })
			continue
		}
		k.history[key] = revisions[keep:]
	}
}
