package reconcile_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func planOver(more ...string) []string {
	return append([]string{"plan", "--contexts", "dc1,dc2", "--forecast=false"}, more...)
}

func TestAPlanOverSitesHasEachSiteInItsOrder(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	if code := g.Run(planOver()...); code != exit.ExitDone || !strings.HasPrefix(g.Out.String(), "2 of 2 sites read\n") {
		t.Fatalf("nothing to do: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Sites["dc2"].Cluster.Resource.Spec.ProcessCounts.Storage++
	g.Sites["dc2"].Cluster.Resource.Generation++
	if code := g.Run(planOver()...); code != exit.ExitNo {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	out := g.Out.String()
	at := []int{strings.Index(out, "2 of 2 sites read\n+ 1 pod  "), strings.Index(out, "\nsite dc1: fdb/sample-dc1\n"), strings.Index(out, "sample-dc1: nothing to do"), strings.Index(out, "\nsite dc2: fdb/sample-dc2\n+ 1 pod")}
	if slices.Contains(at, -1) || !slices.IsSorted(at) {
		t.Errorf("%v:\n%s", at, out)
	}
}

func TestAnActionOfTheDatabaseThatSitesPlanAlikeIsNamedOnce(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	g.Cluster = g.Sites["dc1"].Cluster
	for _, site := range g.Sites {
		site.Cluster.Resource.Spec.DatabaseConfiguration.StorageEngine = "ssd-redwood-1"
		site.Cluster.Resource.Spec.DatabaseConfiguration.StorageMigrationType = new(v1beta2.StorageMigrationAggressive)
		site.Cluster.Resource.Generation++
		site.Cluster.Tick(commandstest.SleepsMost * 20)
	}
	if code := g.Run(planOver()...); code != exit.ExitNo {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if out := g.Out.String(); !strings.Contains(out, "common: run configure") || !strings.Contains(out, "(dc1, dc2; once, by the first)") {
		t.Errorf("no common action:\n%s", out)
	}
	g.Run(planOver("-o", "json")...)
	var list struct {
		Plans  []struct{ Metadata struct{ Site string } }
		Common []struct {
			Kind  string
			Sites []string
		}
	}
	if err := json.Unmarshal(g.Out.Bytes(), &list); err != nil || len(list.Plans) != 2 || list.Plans[1].Metadata.Site != "dc2" || len(list.Common) != 1 || list.Common[0].Kind != "Configure" {
		t.Errorf("%v: %+v", err, list)
	}
}

func TestNothingIsDecidedAboutAnUnreadSite(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	g.Sites["dc1"].Down = commandstest.Refused("dc1.example:6443")
	if code := g.Run(planOver()...); code != exit.ExitUnreachable || !strings.HasPrefix(g.Out.String(), "1 of 2 sites read\nunread: dc1: the connection to the server dc1.example:6443") || strings.Contains(g.Out.String(), "site dc1:") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run(planOver("-o", "json")...); code != exit.ExitUnreachable || !strings.Contains(g.Out.String(), `"unread": [`) {
		t.Errorf("JSON: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestAPlanOverSitesIsRefusedForContradictingSpecsAndOtherScopes(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	for _, more := range [][]string{{"-f", "sample.yaml"}, {"--with-backups"}, {"fdbbackup/nightly"}} {
		if code := g.Run(planOver(more...)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "--contexts and --sites conflict with") {
			t.Errorf("%v: exit code %d: %s", more, code, &g.Err)
		}
	}
	g.Sites["dc2"].Cluster.Resource.Spec.DatabaseConfiguration.RedundancyMode = "triple"
	if code := g.Run(planOver()...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "spec.databaseConfiguration.redundancy_mode differs: double at dc1, triple at dc2") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
