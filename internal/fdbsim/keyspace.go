package fdbsim

import (
	"slices"
	"sort"
)

// keyspace is the ordered store of a database, with enough history to read at
// the versions of open transactions and to find conflicts.
type keyspace struct {
	sorted  []string
	history map[string][]revision // ascending versions
	writes  []writeRecord         // ascending versions
	changes uint64                // how often anything was written
}

// revision is a key's value from a version on.
type revision struct {
	version int64
	value   []byte
	cleared bool
}

// keyRange is [begin, end).
type keyRange struct{ begin, end string }

func (r keyRange) overlaps(o keyRange) bool { return r.begin < o.end && o.begin < r.end }

func singleKey(key string) keyRange { return keyRange{key, key + "\x00"} }

// writeRecord is what one commit wrote.
type writeRecord struct {
	version int64
	ranges  []keyRange
}

// pair is a key with its value.
type pair struct {
	key   string
	value []byte
}

// mutation sets a key, or clears a range when it has one.
type mutation struct {
	key   string
	value []byte
	clear *keyRange
}

func (m mutation) touches() keyRange {
	if m.clear != nil {
		return *m.clear
	}
	return singleKey(m.key)
}

// remembered is for how many versions the past is kept: twice the life of a
// transaction.
const remembered = 2 * transactionLife

func (k *keyspace) at(key string, version int64) ([]byte, bool) {
	for _, r := range slices.Backward(k.history[key]) {
		if r.version <= version {
			return r.value, !r.cleared
		}
	}
	return nil, false
}

const newest = int64(1)<<62 - 1

func (k *keyspace) latest(key string) ([]byte, bool) { return k.at(key, newest) }

func (k *keyspace) latestRange(begin, end string) []pair { return k.rangeAt(begin, end, newest) }

// rangeAt are the keys in [begin, end) as of a version.
func (k *keyspace) rangeAt(begin, end string, version int64) []pair {
	var found []pair
	for i := sort.SearchStrings(k.sorted, begin); i < len(k.sorted) && k.sorted[i] < end; i++ {
		if value, ok := k.at(k.sorted[i], version); ok {
			found = append(found, pair{k.sorted[i], value})
		}
	}
	return found
}

// conflicts reports whether anything in the ranges was written after a version.
func (k *keyspace) conflicts(reads []keyRange, after int64) bool {
	for _, record := range slices.Backward(k.writes) {
		if record.version <= after {
			return false
		}
		for _, w := range record.ranges {
			if slices.ContainsFunc(reads, w.overlaps) {
				return true
			}
		}
	}
	return false
}

// apply commits mutations at a version, in their order.
func (k *keyspace) apply(version int64, mutations []mutation) {
	k.changes++
	record := writeRecord{version: version}
	for _, m := range mutations {
		record.ranges = append(record.ranges, m.touches())
		if m.clear == nil {
			k.put(m.key, revision{version: version, value: m.value})
			continue
		}
		for _, p := range k.latestRange(m.clear.begin, m.clear.end) {
			k.put(p.key, revision{version: version, cleared: true})
		}
	}
	k.writes = append(k.writes, record)
	k.trim(version - remembered)
}

func (k *keyspace) put(key string, r revision) {
	if k.history == nil {
		k.history = map[string][]revision{}
	}
	if _, known := k.history[key]; !known {
		i := sort.SearchStrings(k.sorted, key)
		k.sorted = slices.Insert(k.sorted, i, key)
	}
	k.history[key] = append(slices.DeleteFunc(k.history[key], func(o revision) bool {
		return o.version == r.version
	}), r)
}

// trim forgets what no open transaction can ask for.
func (k *keyspace) trim(before int64) {
	k.writes = slices.DeleteFunc(k.writes, func(w writeRecord) bool { return w.version < before })
	for key, revisions := range k.history {
		keep := 0
		for keep < len(revisions)-1 && revisions[keep+1].version < before {
			keep++
		}
		if last := revisions[len(revisions)-1]; last.cleared && last.version < before {
			delete(k.history, key)
			k.sorted = slices.DeleteFunc(k.sorted, func(o string) bool { return o == key })
			continue
		}
		k.history[key] = revisions[keep:]
	}
}
