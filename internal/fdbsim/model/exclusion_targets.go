package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// StillNeeded reports whether required data or a required log is known to be
// on a process that the target means.
func (db *Database) StillNeeded(e Exclusion) bool {
	pending := db.InProgress()
	if slices.ContainsFunc(db.Storage, func(ss *StorageServer) bool {
		return e.Matches(ss.Server) && slices.Contains(pending, ss.Server.Address().HostPort())
	}) {
		return true
	}
	return slices.ContainsFunc(db.Members, func(s *Process) bool {
		return s.Alive() && e.Matches(s) && slices.Contains(pending, s.Address().HostPort())
	})
}

// ResolveTargets turns localities into the addresses of the processes that have
// them, dead storage servers included. Localities without a process stay.
func (db *Database) ResolveTargets(targets []Exclusion) (matched, unmatched []Exclusion) {
	known := slices.Clone(db.Members)
	for _, ss := range db.Storage {
		known = append(known, ss.Server)
	}
	for _, e := range targets {
		if !e.Locality {
			matched = append(matched, e)
			continue
		}
		found := false
		for _, s := range known {
			if e.Matches(s) {
				matched = append(matched, Exclusion{Text: s.Address().HostPort()})
				found = true
			}
		}
		if !found {
			unmatched = append(unmatched, e)
		}
	}
	stable.Sort(matched, func(a, b Exclusion) int { return CompareTargets(a.Text, b.Text) })
	return slices.Compact(matched), unmatched
}

// CompareTargets orders addresses by number, not by text.
func CompareTargets(a, b string) int {
	return cmp.Or(targetIP(a).Compare(targetIP(b)), strings.Compare(a, b))
}

func targetIP(text string) netip.Addr {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip
	}
	a, err := fdb.ParseAddress(text)
	if err != nil {
		return netip.Addr{}
	}
	ip, err := netip.ParseAddr(a.Host)
	if err != nil {
		return netip.Addr{}
	}
	return ip
}

// HostOf is the host of an address with a port, "" when it is no address.
func HostOf(hostPort string) string {
	a, err := fdb.ParseAddress(hostPort)
	if err != nil {
		return ""
	}
	return a.Host
}

// Include ends the exclusions, or the failed marks, of targets.
func (db *Database) Include(targets []Exclusion, kind ExclusionKind) {
	var changes []keyspace.Mutation
	for _, e := range targets {
		for _, key := range db.storedAs(e, kind) {
			removed := keyspace.Single(key)
			changes = append(changes, keyspace.Mutation{Clear: &removed})
		}
	}
	if len(changes) == 0 {
		return
	}
	db.Commit(changes)
	db.exclusionsChanged()
}

// storedAs are the keys that including a target clears: a whole machine takes
// its ports with it.
func (db *Database) storedAs(e Exclusion, kind ExclusionKind) []string {
	var keys []string
	for _, stored := range db.Exclusions(kind) {
		if stored.Text == e.Text || (e.Machine && HostOf(stored.Text) == e.Text) {
			keys = append(keys, stored.key(kind))
		}
	}
	return keys
}
