package check

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func parsed(text string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(text)} }

var addressProblems = map[string]problem{
	"the name of a coordinator with an unknown address": {
		"CONN-004", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Addresses = parsed("192.0.2.1") }),
		"it resolves to 192.0.2.1; its pod sample-log-", "fdb exec sample -- getent ahosts sample-log-",
	},
	"the name of a coordinator with one address too many": {
		"CONN-004", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Found(parsed("192.0.2.1")) }),
		"it resolves to 192.0.2.1; its pod sample-log-", "fdb exec sample -- getent ahosts sample-log-",
	},
	"the name of a coordinator with the address of another pod": {
		"CONN-004", withNames(func(f *Facts, first *fdb.NameLookup) { first.Addresses = addressesOf(f.Pod(f.first("storage"))) }),
		", the address of pod sample-storage-", "fdb exec sample -- getent ahosts sample-log-",
	},
}

func TestCheckComparesTheAddressesOfCoordinatorNamesWithTheirPods(t *testing.T) {
	wrong := parsed("192.0.2.1")
	tests := map[string]struct {
		given    func(*Facts)
		outcome  Outcome
		findings int
		reason   string
	}{
		"no names":         {func(*Facts) {}, Passed, 0, ""},
		"no names, unread": {func(f *Facts) { f.NamesUnread = "no running pod" }, Passed, 0, ""},
		"its own":          {withNames(func(*Facts, *fdb.NameLookup) {}), Passed, 0, ""},
		"the one that its process announces": {withNames(func(f *Facts, first *fdb.NameLookup) {
			pod := f.Pod(f.first("log"))
			pod.Annotations = map[string]string{"foundationdb.org/public-ip-source": "service", "foundationdb.org/public-ip": "192.0.2.1"}
			first.Addresses = wrong
		}), Passed, 0, ""},
		"mapped to IPv6": {withNames(func(f *Facts, first *fdb.NameLookup) {
			own := addressesOf(f.Pod(f.first("log")))
			first.Addresses = nil
			first.Found([]netip.Addr{netip.AddrFrom16(own[0].As16())})
		}), Passed, 0, ""},
		"another": {withNames(func(_ *Facts, first *fdb.NameLookup) { first.Addresses = wrong }), Failed, 1, ""},
		"another of a name of no pod": {withNames(func(f *Facts, first *fdb.NameLookup) {
			f.Names.Names[1].Addresses = wrong
		}), Passed, 0, ""},
		"none":          {withNames(func(_ *Facts, first *fdb.NameLookup) { first.Addresses = nil }), NotChecked, 0, "no lookup returned an address"},
		"not resolved":  {withNames(func(_ *Facts, first *fdb.NameLookup) { first.Addresses, first.Failed = nil, 13 }), Passed, 0, ""},
		"not measured":  {withNames(func(f *Facts, _ *fdb.NameLookup) { f.NamesUnread = "the container has no getent" }), NotChecked, 0, "the container has no getent"},
		"not looked up": {withNames(func(f *Facts, _ *fdb.NameLookup) { f.Names = fdb.NameLookups{} }), NotChecked, 0, "was not looked up"},
		"of a new pod": {withNames(func(f *Facts, first *fdb.NameLookup) {
			f.Pod(f.first("log")).CreationTimestamp = metav1.NewTime(f.Now.Add(-30 * time.Second))
			first.Addresses = wrong
		}), NotChecked, 0, "was created less than 1m0s ago"},
		"of a pod that is deleted": {withNames(func(f *Facts, first *fdb.NameLookup) {
			f.Pod(f.first("log")).DeletionTimestamp = &metav1.Time{Time: noon}
			first.Addresses = wrong
		}), NotChecked, 0, "has no address at the moment"},
		"of a pod without one": {withNames(func(f *Facts, first *fdb.NameLookup) {
			pod := f.Pod(f.first("log"))
			pod.Status.PodIP, pod.Status.PodIPs = "", nil
			first.Addresses = wrong
		}), NotChecked, 0, "has no address at the moment"},
		"no connection string": {func(f *Facts) { f.Database.Status.Cluster.ConnectionString = "odd" }, NotChecked, 0, "parse connection string"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			item := itemOf(t, reportOn(f, Options{}), "CONN-004")
			if item.Outcome != tc.outcome || len(item.Findings) != tc.findings || !strings.Contains(item.Reason, tc.reason) {
				t.Errorf("got %+v", item)
			}
		})
	}
}

// withNames has coordinators with names, of which the first is that of a pod of the cluster, and
// whose lookups were fast.
func withNames(edit func(f *Facts, first *fdb.NameLookup)) func(*Facts) {
	return func(f *Facts) {
		names := []string{f.first("log").DNSName(f.Cluster), "other.example.com"}
		f.Database.Status.Cluster.ConnectionString = "a:b@" + names[0] + ":4501," + names[1] + ":4501,10.0.0.1:4501"
		f.Cluster.Status.ConnectionString = f.Database.Status.Cluster.ConnectionString
		f.ConfigMap.Data["cluster-file"] = f.Cluster.Status.ConnectionString
		f.Names = fdb.NameLookups{Overhead: 3 * time.Millisecond}
		for _, name := range names {
			f.Names.Names = append(f.Names.Names, fdb.NameLookup{Name: name, Lookups: 13, Slowest: 20 * time.Millisecond})
		}
		f.Pod(f.first("log")).Status.PodIP, f.Pod(f.first("storage")).Status.PodIP = "10.1.0.7", "10.1.0.8"
		f.Names.Names[0].Addresses = addressesOf(f.Pod(f.first("log")))
		edit(f, &f.Names.Names[0])
	}
}

var nameProblems = map[string]problem{
	"a slow name": {
		"CONN-003", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Slowest = 5 * time.Second }),
		"the slowest of 26 lookups at the same time took 5s; heartbeats of fdbserver processes wait 2s", "fdb exec sample -- cat /etc/resolv.conf",
	},
	"a name that takes a second": {
		"CONN-003", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Slowest = time.Second + 3*time.Millisecond }),
		"took 1s", "fdb exec sample",
	},
	"a resolver that does not answer": {
		"CONN-003", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Slowest, first.Unanswered = 8*time.Second, 2 }),
		"2 of 26 lookups at the same time got no answer in 8s", "fdb exec sample",
	},
	"a name that does not resolve": {
		"CONN-003", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Failed = 13 }),
		"it does not resolve, although pod sample-log-1 runs: compare spec.routing.dnsDomain (cluster.local) with resolv.conf", "fdb exec sample -- cat /etc/resolv.conf",
	},
	"a name that sometimes resolves": {
		"CONN-003", withNames(func(_ *Facts, first *fdb.NameLookup) { first.Failed = 4 }),
		"4 of 13 lookups found no address", "fdb exec sample -- getent ahosts sample-log-",
	},
	"the name of a missing pod": {"CONN-003", withNames(func(f *Facts, first *fdb.NameLookup) {
		first.Failed = 13
		delete(f.Pods, f.first("log").PodName(f.Cluster))
	}), "as expected: pod sample-log-", "fdb coordinators repair sample --dry-run"},
	"the name of a pod that is deleted": {"CONN-003", withNames(func(f *Facts, first *fdb.NameLookup) {
		first.Failed = 13
		f.Pod(f.first("log")).DeletionTimestamp = &metav1.Time{Time: noon}
	}), "as expected: pod sample-log-", "fdb coordinators repair sample --dry-run"},
	"the name of a pod that waits": {"CONN-003", withNames(func(f *Facts, first *fdb.NameLookup) {
		first.Failed = 13
		f.Pod(f.first("log")).Status.Phase = corev1.PodPending
	}), "as expected: pod sample-log-", "fdb coordinators repair sample --dry-run"},
}

func TestCheckReportsSlowOrFailingCoordinatorDNSNames(t *testing.T) {
	tests := map[string]struct {
		given    func(*Facts)
		outcome  Outcome
		findings int
		says     string
	}{
		"no names":         {func(*Facts) {}, Passed, 0, ""},
		"no names, unread": {func(f *Facts) { f.NamesUnread = "no running pod" }, Passed, 0, ""},
		"no database yet": {func(f *Facts) {
			f.Database.Status.Cluster.ConnectionString, f.Cluster.Status.ConnectionString = "", ""
		}, Passed, 0, ""},
		"fast": {withNames(func(*Facts, *fdb.NameLookup) {}), Passed, 0, ""},
		"names of the resource, without an answer": {withNames(func(f *Facts, first *fdb.NameLookup) {
			f.Database.Status, first.Slowest = nil, 5*time.Second
		}), Failed, 1, ""},
		"not measured":      {withNames(func(f *Facts, _ *fdb.NameLookup) { f.NamesUnread = "the container has no getent" }), NotChecked, 0, "the container has no getent"},
		"nothing measured":  {withNames(func(f *Facts, _ *fdb.NameLookup) { f.Names = fdb.NameLookups{} }), NotChecked, 0, "was not looked up"},
		"one not looked up": {withNames(func(_ *Facts, first *fdb.NameLookup) { first.Name = "else" }), NotChecked, 0, "was not looked up"},
		"slow programs": {withNames(func(f *Facts, first *fdb.NameLookup) {
			f.Names.Overhead, first.Slowest = 900*time.Millisecond, 1500*time.Millisecond
		}), NotChecked, 0, "programs start slowly in the pod"},
		"slow programs, and a slower name": {withNames(func(f *Facts, first *fdb.NameLookup) {
			f.Names.Overhead, first.Slowest, f.Names.Names[1].Slowest = time.Second, 1500*time.Millisecond, 5*time.Second
		}), Failed, 1, "programs start slowly in the pod"},
		"slow and failing":     {withNames(func(_ *Facts, first *fdb.NameLookup) { first.Failed, first.Slowest = 13, 5*time.Second }), Failed, 2, ""},
		"no connection string": {func(f *Facts) { f.Database.Status.Cluster.ConnectionString = "odd" }, NotChecked, 0, "parse connection string"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			item := itemOf(t, reportOn(f, Options{}), "CONN-003")
			if item.Outcome != tc.outcome || len(item.Findings) != tc.findings || !strings.Contains(item.Reason, tc.says) {
				t.Errorf("got %+v", item)
			}
		})
	}
}
