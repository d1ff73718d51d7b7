package dashboard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dashboard"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

func TestTheDashboardShellUsesTheNamespaceAndContextOfTheCluster(t *testing.T) {
	reads := dashboard.NewScreenReads(commandstest.NewGiven(t).Environment(), "fdb")
	tests := map[string]struct {
		cluster string
		want    string
	}{
		"a cluster of the namespace": {"sample", "kubectl exec -it pod-1 --container foundationdb --namespace fdb --context test -- sh"},
		"one of another namespace":   {"shop/orders", "kubectl exec -it pod-1 --container foundationdb --namespace shop --context test -- sh"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(reads.Shell(tc.cluster, "pod-1").Args, " "); got != tc.want {
				t.Error(got)
			}
		})
	}
}

func TestTheDashboardYAMLViewShowsTheStoredObject(t *testing.T) {
	g := commandstest.Up(t)
	reads := dashboard.NewScreenReads(g.Environment(), "fdb")
	text, err := reads.YAML(t.Context(), entries.Object{Cluster: "sample"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind: FoundationDBCluster", "name: sample", "processGroups:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if lines := strings.Split(text, "\n"); slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "managedFields") }) {
		t.Error("managed fields are shown")
	}
	if _, err := reads.YAML(t.Context(), entries.Object{Cluster: "other"}); err == nil {
		t.Error("a cluster that does not exist has YAML")
	}
}

func TestTheDashboardYAMLViewHasNoPlantedSecret(t *testing.T) {
	g := commandstest.Up(t)
	commandstest.PlantedSpec(g.Cluster.Resource)
	text, err := dashboard.NewScreenReads(g.Environment(), "fdb").YAML(t.Context(), entries.Object{Cluster: "sample"})
	if found := commandstest.Exposed(text); err != nil || found != "" || !strings.Contains(text, "(hidden)") {
		t.Errorf("%v, %s", err, found)
	}
}
