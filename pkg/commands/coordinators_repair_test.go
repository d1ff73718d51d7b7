package commands

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// coordinated is a cluster whose coordinators are known by name or by IP address, with
// enough processes for others.
func coordinated(t *testing.T, byName bool) *given {
	t.Helper()
	g := newGiven(t)
	g.cluster.Resource.Spec.Routing.UseDNSInClusterFile = &byName
	g.cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 3}
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	g.cluster.Tick(6 * time.Minute)
	return g
}

// lose ends the pods of so many coordinators, with their volumes or without.
func (g *given) lose(n int, volumes bool) []string {
	g.t.Helper()
	lost := g.coordinating()[:n]
	for _, id := range lost {
		pod := "sample-" + id
		g.cluster.KillPod(pod)
		if volumes {
			delete(g.cluster.Volumes, pod+"-data")
		}
	}
	g.cluster.Tick(3 * time.Minute)
	return lost
}

func TestCoordinatorsRepair(t *testing.T) {
	tests := map[string]struct {
		byName       bool
		lost         int
		claims       bool // their PVCs are lost as well
		unresponsive bool // no pod runs from which the database could be asked
		args         []string
		want         int
		says         []string
	}{
		"good ones stay":                                {byName: true, want: exit.ExitDone, says: []string{"the coordinators match the spec"}},
		"one that is lost is replaced":                  {byName: true, lost: 1, args: []string{"--wait"}, want: exit.ExitDone, says: []string{"ChangeCoordinators", "the coordinators match the spec", "distribute the new connection string to all pods: kubectl fdb reconcile sample --wait", "connection-string drift sample"}},
		"a dry run prints that one may come back":       {byName: true, lost: 1, args: []string{"--dry-run"}, want: exit.ExitNo, says: []string{"the coordinator change waits", "lost its pod 0s ago"}},
		"without a quorum no others are chosen":         {byName: true, lost: 2, want: exit.ExitRefused, says: []string{"down", "3 are at their addresses or come back there", "these must be recovered: sample-", "wait sample --for available"}},
		"nor with --wait":                               {byName: true, lost: 2, args: []string{"--wait"}, want: exit.ExitRefused, says: []string{"G-COORD: coordinators cannot be changed without a quorum"}},
		"what is known by IP address moves with a pod":  {lost: 2, want: exit.ExitRefused, says: []string{"moved", "it will have another address", "do not delete any PVC"}},
		"without volumes what they know may be nowhere": {lost: 2, claims: true, want: exit.ExitRefused, says: []string{"lost", "neither a pod nor a PVC", "restore a backup into a new cluster"}},
		"whether there is a quorum is unknown":          {byName: true, unresponsive: true, want: exit.ExitUnreachable, says: []string{"cannot determine whether a quorum of coordinators is reachable", "no pod has a cluster file", "these must be recovered: sample-"}},
		"in JSON":                                       {lost: 2, args: []string{"-o", "json"}, want: exit.ExitRefused, says: []string{`"kind": "CoordinatorDiagnosis"`, `"case": "addresses-changed"`, `"quorum": 2`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := coordinated(t, tc.byName)
			lost := g.lose(tc.lost, tc.claims)
			if tc.unresponsive {
				for pod := range g.cluster.Pods {
					g.cluster.KillPod(pod)
				}
			}
			before := g.cluster.Resource.Status.ConnectionString
			code := g.run(append([]string{"coordinators", "repair", "sample", "--yes"}, tc.args...)...)
			output := g.out.String() + g.err.String()
			if code != tc.want {
				t.Errorf("exit code %d, want %d", code, tc.want)
			}
			for _, word := range tc.says {
				if !strings.Contains(output, word) {
					t.Errorf("no %q", word)
				}
			}
			if moved := before != g.cluster.Resource.Status.ConnectionString; moved != (tc.lost == 1 && code == exit.ExitDone) {
				t.Errorf("moved: %t", moved)
			}
			if code == exit.ExitDone && tc.lost == 1 && slices.Contains(g.coordinating(), lost[0]) {
				t.Errorf("%s is still a coordinator", lost[0])
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}
