package check

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

const (
	// slowLookup is half of what the heartbeats of fdbserver processes wait.
	slowLookup = time.Second
	heartbeat  = 2 * time.Second
)

// CoordinatorNames returns the host names in the current connection string, or in that of the
// resource while the database does not answer. Unknown is why they cannot be determined.
func (f Facts) CoordinatorNames() (names []string, unknown string) {
	text := f.Cluster.Status.ConnectionString
	if f.Database.Status != nil && f.Database.Status.Cluster.ConnectionString != "" {
		text = f.Database.Status.Cluster.ConnectionString
	}
	if strings.TrimSpace(text) == "" {
		return nil, "" // there is no database yet
	}
	s, err := fdb.ParseConnectionString(text)
	if err != nil {
		return nil, err.Error()
	}
	return s.HostNames(), ""
}

func coordinatorNames(f Facts) ([]Finding, string) {
	names, unknown := f.CoordinatorNames()
	switch {
	case unknown != "":
		return nil, unknown
	case len(names) == 0:
		return nil, ""
	case f.NamesUnread != "":
		return nil, f.NamesUnread
	}
	var found []Finding
	var unread reasons
	for _, name := range names {
		n, measured := f.Names.Of(name)
		if !measured {
			unread.add(host(name), "was not looked up")
			continue
		}
		found = append(found, f.unresolved(n)...)
	}
	slow, untested := f.slowNames(names)
	unread.add("", untested)
	return append(slow, found...), unread.String()
}

func host(name string) string { return "host/" + name }

// slowNames returns one finding about all slow names: they share a resolver. Programs that start
// slowly make every lookup slow, and some slower than the slowest of the IP address.
func (f Facts) slowNames(names []string) ([]Finding, string) {
	finding := Finding{Fix: f.fix("exec", "--", "cat", "/etc/resolv.conf")}
	slowest, unanswered, unclear := time.Duration(0), 0, time.Duration(0)
	for _, name := range names {
		switch n, _ := f.Names.Of(name); {
		case n.Slowest < slowLookup:
		case n.Slowest-f.Names.Overhead < max(slowLookup, f.Names.Overhead):
			unclear = max(unclear, n.Slowest)
		default:
			finding.Subjects = append(finding.Subjects, host(name))
			slowest, unanswered = max(slowest, n.Slowest), unanswered+n.Unanswered
		}
	}
	finding.Message = fmt.Sprintf("the slowest of %s at the same time took %s; heartbeats of fdbserver processes wait %s", phrase.Count(f.Names.Total(), "lookup"), brief(slowest), heartbeat)
	if unanswered > 0 {
		finding.Message = fmt.Sprintf("%s at the same time got no answer in %s; heartbeats of fdbserver processes wait %s", phrase.CountOf(unanswered, f.Names.Total(), "lookup"), brief(slowest), heartbeat)
	}
	if unclear > 0 {
		return finding.IfAny(), fmt.Sprintf("a lookup took %s, but one of an IP address took %s: programs start slowly in the pod", brief(unclear), brief(f.Names.Overhead))
	}
	return finding.IfAny(), ""
}

// brief returns a duration in milliseconds or tenths of a second.
func brief(d time.Duration) string {
	if d < slowLookup {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// unresolved returns a finding about a name that some or all lookups did not find.
func (f Facts) unresolved(n fdb.NameLookup) []Finding {
	lookUp := f.fix("exec", "--", "getent", "ahosts", n.Name)
	switch {
	case n.Failed == 0:
		return nil
	case n.Failed+n.Unanswered < n.Lookups:
		return one(host(n.Name), phrase.CountOf(n.Failed, n.Lookups, "lookup")+" found no address", lookUp...)
	}
	switch pod, lost := f.lostPodOf(n.Name); {
	case lost:
		return one(host(n.Name), fmt.Sprintf("it does not resolve, as expected: pod %s is not running", pod), "fdb", "coordinators", "repair", f.Cluster.Name, "--dry-run")
	case pod != "":
		return one(host(n.Name), fmt.Sprintf("it does not resolve, although pod %s runs: compare spec.routing.dnsDomain (%s) with resolv.conf, which has the domain of the Kubernetes cluster", pod, f.Cluster.DNSDomain()), f.fix("exec", "--", "cat", "/etc/resolv.conf")...)
	}
	return one(host(n.Name), "it does not resolve", lookUp...)
}

// lostPodOf returns the pod of a process group with this name, and whether it is missing or not
// running. Names of other clusters are no pods of this one.
func (f Facts) lostPodOf(name string) (pod string, lost bool) {
	g := f.groupNamed(name)
	if g == nil {
		return "", false
	}
	p := f.Pod(g)
	return g.PodName(f.Cluster), p == nil || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil
}
