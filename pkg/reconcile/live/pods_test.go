package live_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
)

func TestPodsForCommandsAreRankedByRoleAndReadiness(t *testing.T) {
	early := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	late := early.Add(time.Hour)
	pod := func(name string, change func(*live.PodCandidate)) live.PodCandidate {
		p := live.PodCandidate{Name: name, Running: true, Since: early}
		change(&p)
		return p
	}
	candidates := []live.PodCandidate{
		pod("pending", func(p *live.PodCandidate) { p.Running = false }),
		pod("terminating", func(p *live.PodCandidate) { p.Terminating = true }),
		pod("isolated", func(p *live.PodCandidate) { p.Isolated = true }),
		pod("coordinator not reporting", func(p *live.PodCandidate) { p.Unresponsive, p.Coordinator = true, true }),
		pod("leaving coordinator", func(p *live.PodCandidate) { p.Excluded, p.Coordinator = true, true }),
		pod("young", func(p *live.PodCandidate) { p.Since = late }),
		pod("unready coordinator", func(p *live.PodCandidate) { p.Unready, p.Coordinator = true, true }),
		pod("b", func(*live.PodCandidate) {}),
		pod("a", func(*live.PodCandidate) {}),
		pod("young coordinator", func(p *live.PodCandidate) { p.Coordinator, p.Since = true, late }),
	}
	var got []string
	for _, p := range live.ChoosePods(candidates) {
		got = append(got, p.Name)
	}
	want := []string{"young coordinator", "a", "b", "young", "leaving coordinator", "coordinator not reporting", "unready coordinator"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if candidates[0].Name != "pending" {
		t.Error("the caller's list was changed")
	}
}

func TestPodsForCommandsAreChosenOnDifferentNodesFirst(t *testing.T) {
	pod := func(name, node string) live.PodCandidate {
		return live.PodCandidate{Name: name, Node: node, Running: true}
	}
	marked := pod("e", "node-3")
	marked.Excluded = true
	answered := pod("c", "node-1")
	answered.Answered = true
	var got []string
	for _, p := range live.ChoosePods([]live.PodCandidate{pod("a", "node-1"), pod("b", "node-1"), answered, pod("d", "node-2"), marked}) {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"c", "d", "a", "b", "e"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPathsOfTheFdbcliBinary(t *testing.T) {
	want := []string{"/usr/bin/fdbcli", "/var/fdb/shared-binaries/bin/7.3.79/fdbcli", "/var/dynamic-conf/bin/7.3.79/fdbcli"}
	if diff := cmp.Diff(want, admin.BinariesFor(fdb.Version{Major: 7, Minor: 3, Patch: 79})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/usr/bin/fdbcli"}, admin.BinariesFor(fdb.Version{})); diff != "" {
		t.Error(diff)
	}
}
