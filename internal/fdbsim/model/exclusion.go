package model

import (
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Exclusion is one target of exclude or include: an address, a whole machine or
// a locality.
type Exclusion struct {
	Text     string
	Locality bool // "locality_KEY:VALUE"
	Machine  bool // an IP address without a port
}

const localityMark = "locality_"

// ParseExclusion reads a target. It does not take ":tls".
func ParseExclusion(text string) (Exclusion, bool) {
	if strings.HasPrefix(text, localityMark) && strings.Contains(text, ":") {
		return Exclusion{Text: text, Locality: true}, true
	}
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return Exclusion{Text: ip.String(), Machine: true}, true
	}
	a, err := fdb.ParseAddress(wrappedPort(text))
	if err != nil || a.TLS || a.FromHostname || !a.IsIP() {
		return Exclusion{}, false
	}
	return Exclusion{Text: a.HostPort()}, true
}

// wrappedPort keeps the lowest 16 bits of a port, as FoundationDB does with one that is too large.
func wrappedPort(text string) string {
	i := strings.LastIndexByte(text, ':')
	port, err := strconv.ParseUint(text[i+1:], 10, 31)
	if i < 0 || err != nil {
		return text
	}
	return text[:i+1] + strconv.FormatUint(port&math.MaxUint16, 10)
}

// Matches reports whether the target means a process.
func (e Exclusion) Matches(s *Process) bool {
	if e.Locality {
		key, value, _ := strings.Cut(strings.TrimPrefix(e.Text, localityMark), ":")
		return s.Args.Matches(key, value) || (key == fdb.LocalityFDBProcessID && value == s.Disk.ProcessID)
	}
	return slices.ContainsFunc(s.Args.Public, func(a fdb.Address) bool {
		return a.HostPort() == e.Text || (e.Machine && a.Host == e.Text)
	})
}

// Where exclusions are stored.
const (
	excludedKeys         = confPrefix + "excluded/"
	excludedLocalityKeys = confPrefix + "excluded_locality/"
	failedKeys           = confPrefix + "failed/"
	failedLocalityKeys   = confPrefix + "failed_locality/"
)

// ExclusionKind is what a stored target is: excluded, or marked as failed.
type ExclusionKind int

// The kinds of stored targets.
const (
	KindExcluded ExclusionKind = iota
	KindFailed
)

// ExclusionKinds returns all kinds of stored targets.
func ExclusionKinds() []ExclusionKind { return []ExclusionKind{KindExcluded, KindFailed} }

func (e Exclusion) key(kind ExclusionKind) string {
	switch {
	case e.Locality && kind == KindFailed:
		return failedLocalityKeys + e.Text
	case e.Locality:
		return excludedLocalityKeys + e.Text
	case kind == KindFailed:
		return failedKeys + e.Text
	default:
		return excludedKeys + e.Text
	}
}

// Exclusions are the stored targets, addresses first.
func (db *Database) Exclusions(kind ExclusionKind) []Exclusion {
	prefixes := []string{excludedKeys, excludedLocalityKeys}
	if kind == KindFailed {
		prefixes = []string{failedKeys, failedLocalityKeys}
	}
	var all []Exclusion
	for _, prefix := range prefixes {
		for _, p := range db.Keys.LatestRange(prefix, PrefixEnd(prefix)) {
			if e, ok := ParseExclusion(strings.TrimPrefix(p.Key, prefix)); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

// PrefixEnd is the first key after every key with a prefix.
func PrefixEnd(prefix string) string {
	end := len(prefix)
	for end > 0 && prefix[end-1] == 0xff {
		end--
	}
	if end == 0 {
		return "\xff"
	}
	return prefix[:end-1] + string([]byte{prefix[end-1] + 1})
}

// Excluded reports whether any exclusion, or failed mark, means the process.
func (db *Database) Excluded(s *Process) bool {
	db.system.refresh(db)
	excluded := db.system.exclusionTargets
	if len(excluded) == 0 {
		return false
	}
	meant, known := db.system.meant[s]
	if !known {
		meant = slices.ContainsFunc(s.names, func(name string) bool { return excluded[name] }) ||
			excluded[fdb.LocalityExclusion(fdb.LocalityFDBProcessID, s.Disk.ProcessID)]
		db.system.meant[s] = meant
	}
	return meant
}

// unknownLogAddress stands for a log server that died before its address was
// read.
const unknownLogAddress = fdb.UnknownLogAddress

// InProgress are the addresses from which data still has to move, or whose log
// is still needed, because of an exclusion.
func (db *Database) InProgress() []string {
	found := map[string]bool{}
	for _, ss := range db.Storage {
		if db.Excluded(ss.Server) {
			found[ss.Server.Address().HostPort()] = true
		}
	}
	for _, g := range db.Logs {
		for _, set := range g.Sets {
			for _, l := range set.Logs {
				if address, pending := db.logInProgress(l); pending {
					found[address] = true
				}
			}
		}
	}
	addresses := make([]string, 0, len(found))
	for a := range found {
		addresses = append(addresses, a)
	}
	slices.Sort(addresses)
	return addresses
}

// logInProgress is the address under which a log server counts as in progress.
// The address of a dead one is unknown.
func (db *Database) logInProgress(l LogServer) (string, bool) {
	host := l.Host(db)
	if host == nil {
		return unknownLogAddress, len(db.Logs) > 1
	}
	return host.Address().HostPort(), db.Excluded(host)
}

// SetExclusions stores targets and lets the cluster act on them.
func (db *Database) SetExclusions(targets []Exclusion, kind ExclusionKind) {
	changes := []keyspace.Mutation{{Key: confPrefix + "excluded", Value: []byte(db.Simulation.Hex(32))}}
	for _, e := range targets {
		if e.Locality {
			changes = append(changes, keyspace.Mutation{Key: confPrefix + "excluded_locality", Value: []byte(db.Simulation.Hex(32))})
		}
		changes = append(changes, keyspace.Mutation{Key: e.key(kind)})
	}
	db.Commit(changes)
	if kind == KindFailed {
		db.RestartDistribution(db.Simulation.Pace.Distribution)
		db.Simulation.After(failedDropped, db.dropFailed)
	}
	db.exclusionsChanged()
}

// failedDropped is how long data distribution takes to give up a process that is marked as failed
// (5.9 s on 7.3.79).
const failedDropped = 5500 * time.Millisecond

// dropFailed takes the processes that are marked as failed out of all replicas that have another, which
// does not wait for data to move.
func (db *Database) dropFailed() {
	failed := db.Exclusions(KindFailed)
	isFailed := func(ss *StorageServer) bool {
		return slices.ContainsFunc(failed, func(e Exclusion) bool { return e.Matches(ss.Server) })
	}
	held := map[*StorageServer]bool{}
	for _, sh := range db.Shards {
		if slices.ContainsFunc(sh.Replicas, func(ss *StorageServer) bool { return !isFailed(ss) }) {
			sh.Replicas = slices.DeleteFunc(slices.Clone(sh.Replicas), isFailed)
			sh.Move = nil
		}
		for _, ss := range sh.Replicas {
			held[ss] = true
		}
	}
	db.Storage = slices.DeleteFunc(db.Storage, func(ss *StorageServer) bool { return isFailed(ss) && !held[ss] })
	db.Simulation.Wake()
}

// exclusionsChanged makes data distribution look, and recovers soon when an
// excluded process has a role that others must take.
func (db *Database) exclusionsChanged() {
	db.wakeDistribution(0)
	db.Simulation.After(betterCheck, db.lookForBetter)
	db.Simulation.Wake()
}
