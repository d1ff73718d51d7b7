package coordinators_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCoordinatorsChange(t *testing.T) {
	tests := map[string]struct {
		args []string // ONE is a coordinator
		want int
		says string
		// moved is true when ONE is a coordinator no more.
		moved bool
	}{
		"good ones stay":                   {args: []string{"--yes"}, says: "the coordinators match the spec"},
		"they are moved away from a group": {args: []string{"--away-from", "ONE", "--yes", "--wait"}, says: "and none is on ONE", moved: true},
		"also when its pod is named":       {args: []string{"--away-from", "sample-ONE", "--yes", "--wait"}, says: "and none is on ONE", moved: true},
		"a dry run moves none":             {args: []string{"--away-from", "ONE", "--dry-run"}, want: exit.ExitNo, says: "~ coordinators "},
		"without a terminal a user agreed": {args: []string{"--away-from", "ONE"}, want: exit.ExitUnconfirmed, says: "use --yes"},
		"an unknown group is a mistake":    {args: []string{"--away-from", "storage-1", "--yes"}, want: exit.ExitUsage, says: "not found: storage-1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.Cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 3}
			if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s", code, &g.Err)
			}
			g.Cluster.Tick(6 * time.Minute)
			before := g.Coordinating()
			one := strings.NewReplacer("ONE", before[0])
			args := []string{"coordinators", "change", "sample"}
			for _, arg := range tc.args {
				args = append(args, one.Replace(arg))
			}
			code := g.Run(args...)
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, one.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, one.Replace(tc.says), output)
			}
			after := g.Coordinating()
			if len(after) != len(before) || slices.Contains(after, before[0]) == tc.moved {
				t.Errorf("%v after %v", after, before)
			}
		})
	}
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
