package coordinators_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
			g := commandstest.Coordinated(t, tc.byName)
			lost := g.Lose(tc.lost, tc.claims)
			if tc.unresponsive {
				for pod := range g.Cluster.Pods {
					g.Cluster.KillPod(pod)
				}
			}
			before := g.Cluster.Resource.Status.ConnectionString
			code := g.Run(append([]string{"coordinators", "repair", "sample", "--yes"}, tc.args...)...)
			output := g.Out.String() + g.Err.String()
			if code != tc.want {
				t.Errorf("exit code %d, want %d", code, tc.want)
			}
			for _, word := range tc.says {
				if !strings.Contains(output, word) {
					t.Errorf("no %q", word)
				}
			}
			if moved := before != g.Cluster.Resource.Status.ConnectionString; moved != (tc.lost == 1 && code == exit.ExitDone) {
				t.Errorf("moved: %t", moved)
			}
			if code == exit.ExitDone && tc.lost == 1 && slices.Contains(g.Coordinating(), lost[0]) {
				t.Errorf("%s is still a coordinator", lost[0])
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}
