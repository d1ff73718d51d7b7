package fdbsim

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// exclusion is one target of exclude or include: an address, a whole machine or
// a locality.
type exclusion struct {
	text     string
	locality bool // "locality_KEY:VALUE"
	machine  bool // an IP address without a port
}

const localityMark = "locality_"

// parseExclusion reads a target. It does not take ":tls".
func parseExclusion(text string) (exclusion, bool) {
	if strings.HasPrefix(text, localityMark) && strings.Contains(text, ":") {
		return exclusion{text: text, locality: true}, true
	}
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return exclusion{text: ip.String(), machine: true}, true
	}
	a, err := fdb.ParseAddress(text)
	if err != nil || a.TLS || a.FromHostname || !a.IsIP() {
		return exclusion{}, false
	}
	return exclusion{text: a.HostPort()}, true
}

// matches reports whether the target means a process.
func (e exclusion) matches(s *server) bool {
	if e.locality {
		key, value, _ := strings.Cut(strings.TrimPrefix(e.text, localityMark), ":")
		return s.args.matches(key, value) || (key == fdb.LocalityFDBProcessID && value == s.disk.processID)
	}
	return slices.ContainsFunc(s.args.Public, func(a fdb.Address) bool {
		return a.HostPort() == e.text || (e.machine && a.Host == e.text)
	})
}

// Where exclusions are stored.
const (
	excludedKeys         = confPrefix + "excluded/"
	excludedLocalityKeys = confPrefix + "excluded_locality/"
	failedKeys           = confPrefix + "failed/"
	failedLocalityKeys   = confPrefix + "failed_locality/"
)

func (e exclusion) key(failed bool) string {
	switch {
	case e.locality && failed:
		return failedLocalityKeys + e.text
	case e.locality:
		return excludedLocalityKeys + e.text
	case failed:
		return failedKeys + e.text
	default:
		return excludedKeys + e.text
	}
}

// exclusions are the stored targets, addresses first.
func (db *database) exclusions(failed bool) []exclusion {
	prefixes := []string{excludedKeys, excludedLocalityKeys}
	if failed {
		prefixes = []string{failedKeys, failedLocalityKeys}
	}
	var all []exclusion
	for _, prefix := range prefixes {
		for _, p := range db.keys.latestRange(prefix, prefixEnd(prefix)) {
			if e, ok := parseExclusion(strings.TrimPrefix(p.key, prefix)); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

// prefixEnd is the first key after every key with a prefix.
func prefixEnd(prefix string) string {
	end := len(prefix)
	for end > 0 && prefix[end-1] == 0xff {
		end--
	}
	if end == 0 {
		return "\xff"
	}
	return prefix[:end-1] + string([]byte{prefix[end-1] + 1})
}

// excluded reports whether any exclusion, or failed mark, means the process.
func (db *database) excluded(s *server) bool {
	db.system.refresh(db)
	leaving := db.system.leaving
	if len(leaving) == 0 {
		return false
	}
	if slices.ContainsFunc(s.names, func(name string) bool { return leaving[name] }) {
		return true
	}
	return leaving[fdb.LocalityExclusion(fdb.LocalityFDBProcessID, s.disk.processID)]
}

// unknownLogAddress stands for a log server that died before anybody could ask
// it for its address.
const unknownLogAddress = fdb.UnknownLogAddress

// inProgress are the addresses from which data still has to move, or whose log
// is still needed, because of an exclusion.
func (db *database) inProgress() []string {
	found := map[string]bool{}
	for _, ss := range db.storage {
		if db.excluded(ss.server) {
			found[ss.server.address().HostPort()] = true
		}
	}
	for _, g := range db.logs {
		for _, set := range g.sets {
			for _, l := range set.logs {
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
// Of one that is dead nobody knows the address any more.
func (db *database) logInProgress(l logServer) (string, bool) {
	host := l.host(db)
	if host == nil {
		return unknownLogAddress, len(db.logs) > 1
	}
	return host.address().HostPort(), db.excluded(host)
}

// setExclusions stores targets and lets the cluster act on them.
func (db *database) setExclusions(targets []exclusion, failed bool) {
	changes := []mutation{{key: confPrefix + "excluded", value: []byte(db.w.hex(32))}}
	for _, e := range targets {
		if e.locality {
			changes = append(changes, mutation{key: confPrefix + "excluded_locality", value: []byte(db.w.hex(32))})
		}
		changes = append(changes, mutation{key: e.key(failed)})
	}
	db.commit(changes)
	if failed {
		db.restartDistribution(db.w.pace.Distribution)
	}
	db.exclusionsChanged()
}

// exclusionsChanged makes data distribution look, and recovers soon when an
// excluded process has a role that others must take.
func (db *database) exclusionsChanged() {
	db.wakeDistribution(0)
	db.w.after(betterCheck, db.lookForBetter)
	db.w.wake()
}
