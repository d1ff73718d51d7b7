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
