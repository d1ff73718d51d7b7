package fdb

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"time"
)

// NameLookups are the results of a container's resolver when all names were looked up
// several times concurrently.
type NameLookups struct {
	Names []NameLookup
	// Overhead is the slowest lookup of an IP address among them, which requires no resolver:
	// the time to start programs in the container.
	Overhead time.Duration
}

// NameLookup are the results for one name.
type NameLookup struct {
	Name    string
	Lookups int
	// Failed is how many found no address.
	Failed int
	// Unanswered is how many timed out.
	Unanswered int
	// Slowest is the longest of all, including timeouts.
	Slowest time.Duration
	// Addresses are all that any lookup found, sorted, each once.
	Addresses []netip.Addr
}

// Found adds addresses that a lookup found.
func (n *NameLookup) Found(addresses []netip.Addr) {
	for _, a := range addresses {
		if at, known := slices.BinarySearchFunc(n.Addresses, a.Unmap(), netip.Addr.Compare); !known {
			n.Addresses = slices.Insert(n.Addresses, at, a.Unmap())
		}
	}
}

// Of returns the lookups of a name, and whether there were any.
func (l NameLookups) Of(name string) (NameLookup, bool) {
	i := slices.IndexFunc(l.Names, func(n NameLookup) bool { return n.Name == name })
	if i < 0 {
		return NameLookup{}, false
	}
	return l.Names[i], l.Names[i].Lookups > 0
}

// Total returns the number of lookups.
func (l NameLookups) Total() int {
	total := 0
	for _, n := range l.Names {
		total += n.Lookups
	}
	return total
}

// HostNames returns the coordinators' hosts that must be resolved, each once.
func (s ConnectionString) HostNames() []string {
	var names []string
	for _, c := range s.Coordinators {
		if !c.IsIP() && !slices.Contains(names, c.Host) {
			names = append(names, c.Host)
		}
	}
	return names
}

// ServedCertificate is what a process presented to a new TLS connection.
type ServedCertificate struct {
	// Address is the listener with TLS.
	Address Address
	// Fingerprint is the SHA-256 of the process' own certificate in hexadecimal digits, and NotBefore and NotAfter are
	// its validity.
	Fingerprint         string
	NotBefore, NotAfter time.Time
	// Unread is why it is unknown; empty if it is known.
	Unread string
}

// Fingerprint returns the SHA-256 of a certificate in hexadecimal digits.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
