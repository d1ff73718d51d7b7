package check

import (
	"net/netip"
	"strings"
	"testing"
	"time"

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
