package nodes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// What cordon does, uncordon undoes without being given the taint again.
func TestUncordonRevertsTaintsAndAnnotationsOfCordon(t *testing.T) {
	disk := corev1.Taint{Key: "example.com/disk", Value: "slow", Effect: corev1.TaintEffectPreferNoSchedule}
	for name, words := range map[string][]string{
		"the taint of a rule":           {"--evacuate=by-taint"},
		"a taint that is named":         {"--evacuate=none", "--taint=example.com/other=rack:NoSchedule"},
		"the taint of a rule, by value": {"--taint=example.com/maintenance=4711:NoSchedule"},
		"none":                          {"--evacuate=none"},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			commandstest.WithTaintRule(g)
			// The taint of the disk is not about replacements.
			g.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions[0].DurationInSeconds = nil
			g.Taint(disk)
			node := g.NodeOf(v1beta2.ProcessClassStorage)
			if code := g.Run(append([]string{"cordon", node, "-c", "sample", "--yes"}, words...)...); code != exit.ExitDone || !g.Cluster.Cordoned[node] {
				t.Fatalf("cordon: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			g.Out.Reset()
			if code := g.Run("uncordon", node, "-c", "sample"); code != exit.ExitDone || g.Cluster.Cordoned[node] {
				t.Fatalf("uncordon: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if diff := cmp.Diff([]corev1.Taint{disk}, g.Cluster.Taints[node]); diff != "" {
				t.Errorf("taints (-want +got):\n%s", diff)
			}
			if len(g.Cluster.NodeAnnotations[node]) > 0 {
				t.Errorf("annotations are left: %v", g.Cluster.NodeAnnotations[node])
			}
			if output := g.Out.String(); !strings.Contains(output, "schedulable: "+node) {
				t.Errorf("%s", output)
			}
		})
	}
}

// A taint of others stays, and uncordon does not claim that the node is free of it.
func TestUncordonReportsTaintsThatItLeaves(t *testing.T) {
	theirs := corev1.Taint{Key: "example.com/maintenance", Value: "4711", Effect: corev1.TaintEffectNoSchedule}
	tests := map[string]struct {
		given func(g *commandstest.Given, node string)
		taint corev1.Taint
		says  string
		lacks string
		wants int // of the same with --wait
	}{
		"set by others": {
			given: func(*commandstest.Given, string) {}, taint: theirs,
			says: "NODE: it still has the taint example.com/maintenance=4711:NoSchedule: replaced once its rule expires, counted from the next pass: storage-", lacks: "new pods may come", wants: exit.ExitWaiting,
		},
		"and seen by a pass": {
			given: func(g *commandstest.Given, _ string) { g.Run("reconcile", "sample", "--yes") }, taint: theirs,
			says: "NODE: it still has the taint example.com/maintenance=4711:NoSchedule: replaced from 20", lacks: "new pods may come", wants: exit.ExitWaiting,
		},
		"cordon found it there": {
			given: func(g *commandstest.Given, node string) {
				g.Run("cordon", node, "-c", "sample", "--taint=example.com/maintenance:NoSchedule", "--yes")
			}, taint: theirs,
			says: "NODE: it still has the taint example.com/maintenance=4711:NoSchedule: replaced from 20", lacks: "new pods may come", wants: exit.ExitWaiting,
		},
		"changed since cordon set it": {
			given: func(g *commandstest.Given, node string) {
				g.Cluster.Taints = nil
				g.Run("cordon", node, "-c", "sample", "--evacuate=by-taint", "--yes")
				g.Cluster.Taints[node][0].Value = "4711"
			}, taint: theirs,
			says: "NODE: it still has the taint example.com/maintenance=4711:NoSchedule: replaced once", lacks: "new pods may come", wants: exit.ExitWaiting,
		},
		"that no rule is about": {
			given: func(g *commandstest.Given, _ string) {
				g.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = nil
			}, taint: theirs,
			says: "NODE: only pods that tolerate its taints are scheduled: example.com/maintenance=4711:NoSchedule", lacks: "new pods may come", wants: exit.ExitDone,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			commandstest.WithTaintRule(g)
			g.Taint(tc.taint)
			node := g.NodeOf(v1beta2.ProcessClassStorage)
			tc.given(g, node)
			g.Out.Reset()
			code := g.Run("uncordon", node, "-c", "sample")
			output := g.Out.String()
			if code != exit.ExitDone || !strings.Contains(output, strings.ReplaceAll(tc.says, "NODE", node)) || strings.Contains(output, tc.lacks) {
				t.Errorf("exit code %d, want %q and not %q:\n%s%s", code, tc.says, tc.lacks, output, &g.Err)
			}
			if g.Cluster.Cordoned[node] || !slices.Contains(g.Cluster.Taints[node], tc.taint) {
				t.Errorf("cordoned %t, taints %v", g.Cluster.Cordoned[node], g.Cluster.Taints[node])
			}
			if code := g.Run("uncordon", node, "-c", "sample", "--wait", "--timeout", "1m"); code != tc.wants {
				t.Errorf("with --wait: exit code %d, want %d: %s", code, tc.wants, &g.Err)
			}
		})
	}
}
