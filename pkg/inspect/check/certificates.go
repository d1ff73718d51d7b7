package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

const (
	// knobCertRefresh is the custom parameter for how often processes read their certificates.
	knobCertRefresh = "knob_tls_cert_refresh_delay_seconds"
	// certRefreshDefault is its default in FoundationDB 7.1 and newer.
	certRefreshDefault = 12 * time.Hour
)

// certRefresh returns how long running processes may use the old certificate after the Secret
// was renewed: the longest delay of all classes, and whether the spec sets it. Known is false
// for a value that is no number of seconds.
func certRefresh(c *v1beta2.FoundationDBCluster) (longest time.Duration, set, known bool) {
	for _, g := range c.Status.ProcessGroups {
		delay, named := certRefreshDefault, false
		for _, parameter := range c.Settings(g.ProcessClass).CustomParameters {
			name, value, _ := strings.Cut(string(parameter), "=")
			if strings.TrimSpace(name) != knobCertRefresh {
				continue
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || seconds < 0 || seconds > float64(1<<31) {
				return 0, true, false
			}
			delay, named = time.Duration(seconds*float64(time.Second)), true
		}
		if delay >= longest {
			longest, set = delay, named
		}
	}
	if longest == 0 && !set {
		longest = certRefreshDefault
	}
	return longest, set, true
}

// outdatedCertificates finds processes that may use the certificate from before the last renewal.
func outdatedCertificates(f Facts) ([]Finding, string) {
	var found []Finding
	untested := reasons{}
	for _, name := range slices.Sorted(maps.Keys(f.Secrets)) {
		secret := f.Secrets[name]
		delay, _, known := certRefresh(f.Cluster)
		read := secret.Issued.Add(delay)
		switch {
		case secret.Issued.IsZero():
			untested.add("Secret "+name, cmp.Or(secret.Unread, "it has no certificate"))
		case !known:
			untested.add("", knobCertRefresh+" is no number of seconds")
		case !f.Now.Before(read): // all processes have read it again
		case f.Database.Status == nil || !f.Database.Status.ListsProcesses():
			untested.add("", "when processes started is unknown: the database lists none")
		default:
			older, unknown := f.startedBefore(secret.Issued)
			if unknown > 0 {
				untested.add("", "the uptime is unknown for "+phrase.Count(unknown, "process"))
			}
			found = append(found, Finding{
				Subjects: subjectsOf(older), Since: secret.Issued, Fix: f.restartOf(older),
				Message: fmt.Sprintf("may use the certificate from before the renewal of Secret %s at %s, until %s at the latest", name, secret.Issued.UTC().Format(time.RFC3339), read.UTC().Format(time.RFC3339)),
			}.IfAny()...)
		}
	}
	return found, untested.String()
}

// startedBefore returns the processes that were started before a time, and counts those of unknown
// uptime. Those whose served certificate is known are neither: CERT-005 judges them.
func (f Facts) startedBefore(t time.Time) (older []fdb.Process, unknown int) {
	for _, p := range f.Database.Status.ProcessList() {
		switch uptime, known := p.Uptime(); {
		case f.servedBy(p).Fingerprint != "":
		case !known:
			unknown++
		case f.Now.Add(-uptime).Before(t):
			older = append(older, p)
		}
	}
	return older, unknown
}

// restartOf returns the dry run of a restart of the classes of processes, which makes them read their
// certificates again.
func (f Facts) restartOf(processes []fdb.Process) []string {
	var classes []string
	for _, p := range processes {
		classes = append(classes, p.ClassType)
	}
	slices.Sort(classes)
	return f.fix("restart", "--class", strings.Join(slices.Compact(classes), ","), "--dry-run")
}

func subjectsOf(processes []fdb.Process) []string {
	var all []string
	for _, p := range processes {
		all = append(all, process(p))
	}
	return all
}

// certRefreshText describes when a renewed certificate is in use, and whether that is in time
// for one that expires after left.
func certRefreshText(c *v1beta2.FoundationDBCluster, left time.Duration) string {
	delay, set, known := certRefresh(c)
	if !known {
		return "; when running processes read a renewed Secret is unknown: " + knobCertRefresh + " is no number of seconds"
	}
	source := "the default of tls_cert_refresh_delay_seconds"
	if set {
		source = knobCertRefresh
	}
	words := fmt.Sprintf("; running processes read a renewed Secret up to %s later (%s)", delay, source)
	if left < delay {
		words += ", which is longer than it is valid: restart the processes once the Secret is renewed"
	}
	return words
}

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
	stable.Sort(found, func(a, b Finding) int { return slices.Compare(a.Subjects, b.Subjects) })
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
