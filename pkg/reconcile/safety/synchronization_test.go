package safety

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// together are two instances, dc1 and dc2, each with a group that is pending and ready for
// every common action since a minute ago.
func together() plan.Snapshot {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := plan.Snapshot{Now: now, Coordination: plan.CoordinationFacts{Read: true, Lists: plan.ListFacts{
		Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{},
	}}}
	for _, list := range fdb.SharedLists() {
		s.Coordination.Lists.Entries[list] = map[fdb.Member]time.Time{ofDC1: now.Add(-time.Minute), ofDC2: now.Add(-time.Minute)}
	}
	return s
}

var ofDC1, ofDC2 = fdb.Member{Instance: "dc1", Group: "dc1-a"}, fdb.Member{Instance: "dc2", Group: "dc2-b"}

func TestGlobalModeActsOnlyOnceAllPendingGroupsAreReady(t *testing.T) {
	both := []fdb.Member{ofDC1, ofDC2}
	since := func(list func(SynchronizedAction) fdb.SharedList, m fdb.Member, ago time.Duration) func(SynchronizedAction, plan.Snapshot) {
		return func(c SynchronizedAction, s plan.Snapshot) {
			s.Coordination.Lists.Entries[list(c)][m] = s.Now.Add(-ago)
		}
	}
	without := func(list func(SynchronizedAction) fdb.SharedList, m fdb.Member) func(SynchronizedAction, plan.Snapshot) {
		return func(c SynchronizedAction, s plan.Snapshot) { delete(s.Coordination.Lists.Entries[list(c)], m) }
	}
	pending := func(c SynchronizedAction) fdb.SharedList { return c.Pending }
	ready := func(c SynchronizedAction) fdb.SharedList { return c.Ready }
	tests := map[string]struct {
		given    func(SynchronizedAction, plan.Snapshot)
		members  []fdb.Member
		evidence string
		missing  time.Duration
	}{
		"acts on the groups of all control-plane instances": {func(SynchronizedAction, plan.Snapshot) {}, both, "2 of 2 pending process groups are ready, unchanged for 1m0s", 0},
		"acts when the last entry is 30 s old":              {since(ready, ofDC2, 30*time.Second), both, "2 of 2 pending process groups are ready, unchanged for 30s", 0},
		"waits while one became pending just now":           {since(pending, ofDC2, 29*time.Second), nil, "dc2-b was listed 29s ago, 30s required", time.Second},
		"waits while one became ready just now":             {since(ready, ofDC1, 10*time.Second), nil, "dc1-a was listed 10s ago", 20 * time.Second},
		"waits for a clock that is ahead":                   {since(ready, ofDC1, -time.Hour), nil, "dc1-a was listed 0s ago", 30 * time.Second},
		"does not act without pending groups":               {func(c SynchronizedAction, s plan.Snapshot) { clear(s.Coordination.Lists.Entries[c.Pending]) }, nil, "no process group is both", 30 * time.Second},
		"does not act on groups on no list":                 {func(c SynchronizedAction, s plan.Snapshot) { clear(s.Coordination.Lists.Entries) }, nil, "no process group is both", 30 * time.Second},
	}
	for name, tc := range tests {
		for _, action := range []SynchronizedAction{CommonExclusion(), CommonInclusion(), CommonRestart()} {
			s := together()
			tc.given(action, s)
			members, check, missing := Synchronized(s, action)
			if diff := cmp.Diff(tc.members, members); diff != "" || check.OK != (tc.members != nil) {
				t.Errorf("%s: %s: %t with\n%s", action.Name, name, check.OK, diff)
			}
			if !strings.Contains(check.Evidence, tc.evidence) || missing != tc.missing || check.Gate != plan.GateSync {
				t.Errorf("%s: %s: %q in %s, want %q in %s", action.Name, name, check.Evidence, missing, tc.evidence, tc.missing)
			}
		}
	}
	for name, given := range map[string]func(SynchronizedAction, plan.Snapshot){
		"one that is pending is not ready": without(ready, ofDC2),
		"one that is ready is not pending": without(pending, ofDC2),
	} {
		for _, action := range []SynchronizedAction{CommonExclusion(), CommonInclusion(), CommonRestart()} {
			s := together()
			given(action, s)
			if members, check, missing := Synchronized(s, action); check.OK || members != nil || missing < 30*time.Second || !strings.Contains(check.Evidence, "dc2-b") {
				t.Errorf("%s: %s: %v, %q, %s", action.Name, name, members, check.Evidence, missing)
			}
		}
	}
}

func TestSynchronizedActionsWaitWhileListsAreUnread(t *testing.T) {
	s := together()
	s.Coordination.Lists.Read = false
	for _, action := range []SynchronizedAction{CommonExclusion(), CommonInclusion(), CommonRestart()} {
		if members, check, missing := Synchronized(s, action); check.OK || members != nil || missing == 0 {
			t.Errorf("%s: %v, %q", action.Name, members, check.Evidence)
		}
	}
}

// Groups that wait for a place in their budget do not hold exclusions forever; no one
// restarts or is included in halves.
func TestAGlobalModeExclusionContinuesWithoutUnreadyGroups(t *testing.T) {
	for _, tc := range []struct {
		action SynchronizedAction
		age    time.Duration
		want   []fdb.Member
	}{
		{CommonExclusion(), 5*time.Minute - time.Second, nil},
		{CommonExclusion(), 5 * time.Minute, []fdb.Member{ofDC1}},
		{CommonRestart(), 24 * time.Hour, nil},
		{CommonInclusion(), 24 * time.Hour, nil},
	} {
		for name, missesOne := range map[string]fdb.SharedList{"not ready": tc.action.Ready, "not pending": tc.action.Pending} {
			s := together()
			s.Now = s.Now.Add(tc.age - time.Minute)
			delete(s.Coordination.Lists.Entries[missesOne], ofDC2)
			members, check, _ := Synchronized(s, tc.action)
			if diff := cmp.Diff(tc.want, members); diff != "" {
				t.Errorf("%s after %s with one %s: %q\n%s", tc.action.Name, tc.age, name, check.Evidence, diff)
			}
		}
	}
}

func TestWhichClientVersionsAreCompatibleWithAVersion(t *testing.T) {
	target := fdb.Version{Major: 7, Minor: 3, Patch: 79}
	for version, want := range map[string]bool{
		"7.3.79": true, "7.3.1": true, "7.4.6": true, "7.1.61": false, "6.3.25": false, "": false, "Unknown": false,
	} {
		if got := CanTalkTo(fdb.SupportedVersion{ClientVersion: version}, target); got != want {
			t.Errorf("%q: %t, want %t", version, got, want)
		}
	}
}

func TestAnUnknownProtocolVersionCountsAsNotReported(t *testing.T) {
	for protocol, want := range map[string]bool{"Unknown": false, "fdb00b073000000": true} {
		if got := ProtocolReported(fdb.SupportedVersion{ProtocolVersion: protocol}); got != want {
			t.Errorf("%s: %t, want %t", protocol, got, want)
		}
	}
}

func TestUnnamedClientsAreCounted(t *testing.T) {
	named := make([]fdb.ConnectedClient, 2)
	tests := map[string]struct {
		entry fdb.SupportedVersion
		want  int
	}{
		"all are named":      {fdb.SupportedVersion{MaxProtocol: new(2), MaxProtocolClients: named}, 0},
		"one is not":         {fdb.SupportedVersion{MaxProtocol: new(3), MaxProtocolClients: named}, 1},
		"more named":         {fdb.SupportedVersion{MaxProtocol: new(1), MaxProtocolClients: named}, 0},
		"without a count":    {fdb.SupportedVersion{MaxProtocolClients: named}, 0},
		"a count of no name": {fdb.SupportedVersion{MaxProtocol: new(1)}, 1},
	}
	for name, tc := range tests {
		if got := UnnamedClients(tc.entry); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestClientsAreIgnoredByLogGroup(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	c.Spec.AutomationOptions.IgnoreLogGroupsForUpgrade = []v1beta2.LogGroup{"batch"}
	for group, want := range map[string]bool{"batch": true, "web": false, "": false} {
		if got := IsIgnoredClient(c, fdb.ConnectedClient{LogGroup: group}); got != want {
			t.Errorf("%q: %t, want %t", group, got, want)
		}
	}
}

func TestClientsOnMachinesOfProcessesAreRecognized(t *testing.T) {
	s := leavable(t)
	pod := &corev1.Pod{}
	pod.Status.PodIPs = []corev1.PodIP{{IP: "10.1.0.1"}, {IP: "fd00::1"}}
	s.Pods = map[string]*corev1.Pod{"any": pod}
	edit("test-1", func(p *fdb.Process) { p.Address = fdb.Address{} })(&s)
	machines := MachinesOfServers(plan.Snapshot{Database: s.Database, Pods: s.Pods})
	for address, want := range map[string]bool{
		"10.0.0.1:4000": true, "10.1.0.1:4000": true, "[fd00::1]:4000": true, "10.9.0.1:4000": false, "": false, "no address": false,
	} {
		if got := machines.Has(fdb.ConnectedClient{Address: address}); got != want {
			t.Errorf("%q: %t, want %t", address, got, want)
		}
	}
	if machines[""] {
		t.Error("a process without an address makes a machine without a name")
	}
}
