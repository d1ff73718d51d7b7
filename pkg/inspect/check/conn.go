package check

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// connections returns the rules about connection strings.
func connections() []Rule {
	return []Rule{
		{
			Code: "CONN-001", Severity: Error, Title: "The resource has the connection string of the database", Needs: findings.NeedsAvailableDatabase,
			Why: "A client that uses the connection string of the resource looks for the wrong coordinators. A pass that ended right after a change of coordinators leaves this behind; the next one fixes it.",
			Find: func(f Facts) ([]Finding, string) {
				return f.sameString("foundationdbcluster/"+f.Cluster.Name, f.Cluster.Status.ConnectionString, f.Database.Status.Cluster.ConnectionString, "the database")
			},
		},
		{
			Code: "CONN-002", Severity: Error, Title: "The ConfigMap has the connection string of the resource",
			Why:  "New pods, and clients that mount the ConfigMap, start with its cluster file.",
			Find: configMapString,
		},
		{
			Code: "CONN-003", Severity: Warning, Title: "Coordinator names resolve in less than a second",
			Why:  "fdbserver processes resolve coordinators continuously, and their heartbeats time out after 2 s. A resolver that drops queries, or waits for a name that no longer exists, can make the database elect one cluster controller after the other and stop serving. Check the DNS servers of the Kubernetes cluster and how many queries they drop.",
			Find: coordinatorNames,
		},
		{
			Code: "CONN-004", Severity: Error, Title: "Coordinator names resolve to their pods",
			Why:  "A name that resolves to another address makes processes and clients ask a process that is no coordinator, or that of another database, so a vote of the quorum is missing. The resolver of a Kubernetes cluster keeps an address for some seconds: if the address remains, compare the EndpointSlices of the headless Service with the pods, and look for a second record of the same name.",
			Find: coordinatorAddresses,
		},
	}
}

func configMapString(f Facts) ([]Finding, string) {
	name := "configmap/" + f.Cluster.ConfigMapName()
	switch {
	case f.ConfigMap == nil:
		return with(one(name, "not found", f.fix("reconcile")...))
	case f.Cluster.Status.ConnectionString == "" && f.ConfigMap.Data[objects.KeyClusterFile] == "":
		return nil, "" // there is no database yet
	default:
		return f.sameString(name, f.ConfigMap.Data[objects.KeyClusterFile], f.Cluster.Status.ConnectionString, "the resource")
	}
}

// sameString compares connection strings as text, without surrounding white space: both the
// coordinators and the ID count.
// connectionWords returns a connection string without its ID, which grants access to the database. It mentions the ID
// if two strings differ in nothing else.
func connectionWords(text, other string) string {
	shown := redact.Kept(text)
	if shown == redact.Kept(other) {
		return strconv.Quote(shown) + " with another ID"
	}
	return strconv.Quote(shown)
}

func (f Facts) sameString(subject, have, want, whose string) ([]Finding, string) {
	switch have, want = strings.TrimSpace(have), strings.TrimSpace(want); {
	case want == "":
		return nil, "the connection string of " + whose + " is unknown"
	case have == want:
		return nil, ""
	default:
		return with(one(subject, fmt.Sprintf("it has %s, %s %s", connectionWords(have, want), whose, connectionWords(want, have)), f.fix("reconcile")...))
	}
}

// recordDelay is how long a name of a new pod may resolve to the address of its former one: the DNS
// server of Kubernetes caches records for 30 s, and EndpointSlices follow pods.
const recordDelay = time.Minute

// coordinatorAddresses compares what the names of coordinators resolve to with the addresses of their
// pods. Names of other Kubernetes clusters have no pod here; CONN-003 reports names that do not resolve.
func coordinatorAddresses(f Facts) ([]Finding, string) {
	names, unknown := f.CoordinatorNames()
	if unknown != "" {
		return nil, unknown
	}
	var found []Finding
	var unread reasons
	for _, name := range names {
		pod := f.podNamed(name)
		n, measured := f.Names.Of(name)
		switch {
		case pod == nil:
		case f.NamesUnread != "":
			unread.add(host(name), f.NamesUnread)
		case !measured:
			unread.add(host(name), "was not looked up")
		case n.Failed == n.Lookups:
		case len(n.Addresses) == 0:
			unread.add(host(name), "no lookup returned an address")
		default:
			wrong, untested := f.wrongAddresses(pod, n)
			found = append(found, wrong...)
			unread.add(host(name), untested)
		}
	}
	return found, unread.String()
}

// wrongAddresses returns a finding about a name that resolves to an address that its pod does not have.
// That of a pod that is being replaced or has just started proves nothing.
func (f Facts) wrongAddresses(pod *corev1.Pod, n fdb.NameLookup) ([]Finding, string) {
	own := addressesOf(pod)
	at := slices.IndexFunc(n.Addresses, func(a netip.Addr) bool { return !slices.Contains(own, a) })
	switch {
	case at < 0:
		return nil, ""
	case len(own) == 0 || pod.DeletionTimestamp != nil:
		return nil, "pod " + pod.Name + " has no address at the moment"
	case f.Now.Sub(pod.CreationTimestamp.Time) < recordDelay:
		return nil, fmt.Sprintf("pod %s was created less than %s ago, so its DNS record can still be that of its former pod", pod.Name, brief(recordDelay))
	}
	whose := ""
	for _, name := range slices.Sorted(maps.Keys(f.Pods)) {
		if slices.Contains(addressesOf(f.Pods[name]), n.Addresses[at]) {
			whose = ", the address of pod " + name
		}
	}
	message := fmt.Sprintf("it resolves to %s%s; its pod %s has %s", n.Addresses[at], whose, pod.Name, own[0])
	return one(host(n.Name), message, f.fix("exec", "--", "getent", "ahosts", n.Name)...), ""
}

// groupNamed returns the process group with this DNS name; nil for a name of another cluster.
func (f Facts) groupNamed(name string) *v1beta2.ProcessGroupStatus {
	at := slices.IndexFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.DNSName(f.Cluster) == name })
	if at < 0 {
		return nil
	}
	return f.Groups()[at]
}

// podNamed returns the pod of the process group with this DNS name, nil if there is none.
func (f Facts) podNamed(name string) *corev1.Pod {
	if g := f.groupNamed(name); g != nil {
		return f.Pod(g)
	}
	return nil
}

// addressesOf returns all IPs of a pod, and the one of its service.
func addressesOf(pod *corev1.Pod) []netip.Addr {
	texts := []string{pod.Status.PodIP}
	for _, ip := range pod.Status.PodIPs {
		texts = append(texts, ip.IP)
	}
	if public, err := objects.PublicIPs(pod); err == nil {
		texts = append(texts, public...)
	}
	var all []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			all = append(all, address.Unmap())
		}
	}
	return all
}

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
