package clusters_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// One pod cannot be scheduled, and a storage group has lost its PVC.
func failing(t *testing.T) (g *commandstest.Given, pod string) {
	t.Helper()
	g, pod = commandstest.WithoutNode(t)
	delete(g.Cluster.Volumes, lostVolume(g))
	return g, pod
}

func lostVolume(g *commandstest.Given) string { return g.PodsOf("storage")[0] + "-data" }

func TestTreeShowsAllObjects(t *testing.T) {
	tests := map[string][]string{
		"all":       {"describe", "sample", "--tree"},
		"unhealthy": {"describe", "sample", "--tree", "--unhealthy"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			g, _ := failing(t)
			if code := g.Run(args...); code != exit.ExitDone {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			golden.RequireEqual(t, g.Out.Bytes())
		})
	}
}

// Every process group of the cluster is there with its pod, and what is missing is named.
func TestTreeListsEveryGroupAndNamesMissingObjects(t *testing.T) {
	g, pod := failing(t)
	if code := g.Run("describe", "sample", "--tree", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	var v describe.Tree
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	problem := map[string]string{}
	groups := 0
	var walk func(i describe.TreeItem)
	walk = func(i describe.TreeItem) {
		if i.Kind == "ProcessGroup" {
			groups++
			if len(i.Children) == 0 || i.Children[0].Kind != "Pod" {
				t.Errorf("%s has no pod: %+v", i.Name, i.Children)
			}
		}
		if i.Problem {
			problem[i.Kind+"/"+i.Name] = i.State
		}
		for _, child := range i.Children {
			walk(child)
		}
	}
	walk(v.Root)
	if want := len(g.Cluster.Resource.Status.ProcessGroups); groups != want {
		t.Errorf("%d process groups, want %d", groups, want)
	}
	volume := "PersistentVolumeClaim/" + lostVolume(g)
	if problem[volume] != "not found" || problem["Pod/"+pod] != "Pending" {
		t.Errorf("want %s not found and %s pending, got %v", volume, pod, problem)
	}
}

// A node that no longer exists is named; without the right to list nodes that is unknown, and a
// warning has the reason.
func TestTreeShowsMissingAndUnknownNodes(t *testing.T) {
	tests := map[string]struct {
		hidden    error
		out, warn string
	}{
		"the node no longer exists":    {out: "Node lost-1  not found", warn: "node lost-1 of some pods no longer exists"},
		"reading nodes is not allowed": {hidden: commandstest.ErrForbidden, out: "Node lost-1  unknown", warn: "cannot determine whether nodes are ready: forbidden"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, pod := failing(t)
			g.Cluster.Pods[pod].Spec.NodeName = "lost-1"
			g.NodesHidden = tc.hidden
			if code := g.Run("describe", "sample", "--tree"); code != exit.ExitDone || !strings.Contains(g.Out.String(), tc.out) || !strings.Contains(g.Err.String(), tc.warn) {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}

// Names that do not exist are errors, as everywhere.
func TestTreeOfAnUnknownCluster(t *testing.T) {
	g, _ := failing(t)
	if code := g.Run("describe", "absent", "--tree"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "absent") || g.Out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
