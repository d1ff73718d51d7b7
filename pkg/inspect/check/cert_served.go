package check

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// TLSAddresses returns where processes listen with TLS, one address for each process; empty if the cluster mounts no
// certificates that they could be compared with.
func (f Facts) TLSAddresses() []fdb.Address {
	if f.Secrets == nil || f.Database.Status == nil {
		return nil
	}
	var all []fdb.Address
	for _, p := range f.Database.Status.ProcessList() {
		if a, found := tlsAddress(p); found {
			all = append(all, a)
		}
	}
	return all
}

// tlsAddress returns the listener with TLS of a process. One that is converted to or from TLS has two listeners.
func tlsAddress(p fdb.Process) (fdb.Address, bool) {
	addresses, err := fdb.PublicAddresses(p.CommandLine)
	if err != nil {
		addresses = nil
	}
	for _, a := range append([]fdb.Address{p.Address}, addresses...) {
		if a.TLS && a.IsIP() {
			return a, true
		}
	}
	return fdb.Address{}, false
}

// servedBy returns the certificate that a process serves, as far as it was read.
func (f Facts) servedBy(p fdb.Process) fdb.ServedCertificate {
	address, found := tlsAddress(p)
	i := slices.IndexFunc(f.Served, func(c fdb.ServedCertificate) bool { return c.Address == address })
	if !found || i < 0 {
		return fdb.ServedCertificate{Unread: "was not read"}
	}
	return f.Served[i]
}

// foreignCertificates returns the served certificates that no mounted Secret has, with the processes that serve each.
func (f Facts) foreignCertificates() (foreign map[fdb.ServedCertificate][]fdb.Process, unread reasons) {
	var mounted []string
	for _, secret := range f.Secrets {
		mounted = append(mounted, secret.Fingerprints...)
	}
	foreign = map[fdb.ServedCertificate][]fdb.Process{}
	for _, p := range f.Database.Status.ProcessList() {
		if _, serves := tlsAddress(p); !serves {
			continue
		}
		c := f.servedBy(p)
		if c.Unread != "" {
			unread.add(process(p), c.Unread)
		} else if !slices.Contains(mounted, c.Fingerprint) {
			c.Address = fdb.Address{}
			foreign[c] = append(foreign[c], p)
		}
	}
	return foreign, unread
}

// incomparable returns why served certificates cannot be compared with those of the Secrets; empty if they can.
func (f Facts) incomparable() string {
	var why reasons
	certificates := 0
	for _, name := range slices.Sorted(maps.Keys(f.Secrets)) {
		why.add("Secret "+name, f.Secrets[name].Unread)
		certificates += len(f.Secrets[name].Fingerprints)
	}
	if len(why) == 0 && certificates == 0 {
		why.add("", "no Secret with certificates is mounted into the pods: they have another source")
	}
	return why.String()
}

func servedCertificates(f Facts) ([]Finding, string) {
	switch {
	case f.Secrets != nil && f.Database.Status == nil:
		return nil, "what processes serve is unknown: the database lists none"
	case len(f.TLSAddresses()) == 0:
		return nil, ""
	case f.ServedUnread != "":
		return nil, f.ServedUnread
	case f.incomparable() != "":
		return nil, f.incomparable()
	}
	var found []Finding
	foreign, unread := f.foreignCertificates()
	for c, processes := range foreign {
		found = append(found, Finding{
			Subjects: subjectsOf(processes), Fix: f.restartOf(processes),
			Message: fmt.Sprintf("the served certificate is in no mounted Secret: SHA-256 %.16s, valid from %s to %s",
				c.Fingerprint, c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339)) + certRefreshText(f.Cluster, c.NotAfter.Sub(f.Now)),
		})
	}
	slices.SortFunc(found, func(a, b Finding) int { return slices.Compare(a.Subjects, b.Subjects) })
	return found, unread.String()
}

// servesTooLong reports whether a certificate that no Secret has expires before its process is certain to read the Secret.
func servesTooLong(f Facts) bool {
	if f.Database.Status == nil || f.incomparable() != "" {
		return false
	}
	delay, _, known := certRefresh(f.Cluster)
	foreign, _ := f.foreignCertificates()
	for c := range foreign {
		if left := c.NotAfter.Sub(f.Now); left <= 0 || !known || left < delay {
			return true
		}
	}
	return false
}
