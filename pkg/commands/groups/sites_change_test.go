package groups_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const threeSites = "--contexts=dc1,dc2,dc3"

// agedSites is a database over three sites that has been up for so long that it may restart.
func agedSites(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.OverSites(t, "dc1", "dc2", "dc3")
	for _, site := range g.Sites {
		site.Cluster.Resource.Spec.MinimumUptimeSecondsForBounce = 120
	}
	g.Sites["dc1"].Cluster.Tick(15 * time.Minute)
	for _, site := range g.Sites {
		site.Cluster.Acted = nil
	}
	return g
}

// storageAt is the first storage process group of a site.
func storageAt(g *commandstest.Given, site string) string {
	return string(g.Sites[site].GroupOf(v1beta2.ProcessClassStorage).ProcessGroupID)
}

func TestProcessGroupsOfSeveralSitesAreReplacedByOneCommand(t *testing.T) {
	g := agedSites(t)
	first, third := storageAt(g, "dc1"), storageAt(g, "dc3")
	for _, site := range g.Sites {
		site.OnLease = func() {
			for name, other := range g.Sites { // they are taken in the order of the UIDs, that of dc3 last
				if site == g.Sites["dc3"] && other.Leases == 0 {
					t.Errorf("a pass acts without the Lease of %s", name)
				}
			}
		}
	}
	if code := g.Run("replace", threeSites, first, third, "--wait", "--yes", "--timeout", "3h"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for site, old := range map[string]string{"dc1": first, "dc3": third} {
		c := g.Sites[site].Cluster.Resource
		if c.ProcessGroup(v1beta2.ProcessGroupID(old)) != nil || len(c.Status.ProcessGroups) != 9 {
			t.Errorf("%s: %s is not replaced: %d process groups", site, old, len(c.Status.ProcessGroups))
		}
		if want := site + ": sample-" + site + ": replaced: " + old; !strings.Contains(g.Out.String(), want) {
			t.Errorf("no %q:\n%s", want, &g.Out)
		}
	}
	if n := len(g.Sites["dc2"].Cluster.Acted); n > 0 {
		t.Errorf("%d actions at the site without one of them", n)
	}
	for name, site := range g.Sites {
		if site.Leases != 0 {
			t.Errorf("the Lease of %s is held after the run", name)
		}
	}
}

func TestProcessGroupsOfSeveralSitesAreExcludedAndIncluded(t *testing.T) {
	g := agedSites(t)
	first, third := storageAt(g, "dc1"), storageAt(g, "dc3")
	if code := g.Run("exclude", threeSites, first, third, "--wait", "--yes", "--timeout", "3h"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for site, id := range map[string]string{"dc1": first, "dc3": third} {
		if want := site + ": sample-" + site + ": drained: " + id; !strings.Contains(g.Out.String(), want) {
			t.Errorf("no %q:\n%s", want, &g.Out)
		}
	}
	if code := g.Run("include", threeSites, "--all", "--wait", "--timeout", "3h"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("get", "exclusions", "--context", "dc1", "-o", "name"); strings.TrimSpace(g.Out.String()) != "" {
		t.Errorf("exit code %d, still excluded: %s%s", code, &g.Out, &g.Err)
	}
}

func TestARestartOverSitesTakesOneFaultDomainDownAtATime(t *testing.T) {
	g := agedSites(t)
	database := g.Sites["dc1"].Cluster.FDB.Databases()[0]
	all := len(database.Processes())
	for name, site := range g.Sites {
		site.Cluster.Refuse = func(a plan.Action) error {
			if _, is := a.(plan.RestartProcesses); is && len(database.Processes()) < all {
				t.Errorf("%s: %s while a process of another fault domain is down", name, a.Describe())
			}
			return nil
		}
	}
	if code := g.Run("restart", threeSites, "--class", "storage", "--wait", "--yes", "--timeout", "6h"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for name, site := range g.Sites {
		waves := 0
		for _, a := range site.Cluster.Acted {
			if kill, is := a.(plan.RestartProcesses); is {
				if waves++; len(kill.Groups) != 1 {
					t.Errorf("%s restarts %v at once", name, kill.Groups)
				}
			}
		}
		if waves != 3 {
			t.Errorf("%s: %d waves, want 3", name, waves)
		}
	}
}

func TestAPlanOverSitesOfARestartIsCarriedOut(t *testing.T) {
	g := agedSites(t)
	first, second := storageAt(g, "dc1"), storageAt(g, "dc2")
	if code := g.Run("restart", threeSites, first, second, "--dry-run", "-o", "json"); code != exit.ExitNo {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, g.Out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Sites["dc1"].Cluster.Tick(time.Minute)
	if code := g.Run("restart", threeSites, first, second, "--plan", file, "--yes"); code != exit.ExitDone && code != exit.ExitWaiting {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	kills := 0
	for _, site := range g.Sites {
		kills += len(site.Kills())
	}
	if kills == 0 {
		t.Errorf("nothing was restarted: %s%s", &g.Out, &g.Err)
	}
	if code := g.Run("restart", threeSites, first, "--plan", file, "--yes"); code == exit.ExitDone {
		t.Errorf("a plan of other process groups was accepted: %s", &g.Out)
	}
}

func TestARefusedCommandChangesProcessGroupsAtNoSite(t *testing.T) {
	tests := map[string]struct {
		given func(g *commandstest.Given)
		args  []string
		code  int
		says  string
	}{
		"a process group of no site": {args: []string{"replace", "storage-1"}, code: exit.ExitUsage, says: "process groups not found at any site: storage-1 (nothing was changed)"},
		"an address at two sites": {
			given: func(g *commandstest.Given) {
				for _, site := range []string{"dc1", "dc3"} {
					g.Sites[site].GroupOf(v1beta2.ProcessClassLog).Addresses = []string{"10.1.2.3"}
				}
			},
			args: []string{"replace", "10.1.2.3", "--yes"}, code: exit.ExitUsage, says: "\"10.1.2.3\" is ambiguous: it matches process groups of sites dc1 and dc3",
		},
		"no process group": {args: []string{"replace"}, code: exit.ExitUsage, says: "process groups are required"},
		"a selection that matches at no site": {
			args: []string{"restart", "--class", "transaction"}, code: exit.ExitUsage, says: "no process group of any site matches (nothing was changed)",
		},
		"a site that cannot be read": {
			given: func(g *commandstest.Given) { g.LoseSite("dc2") },
			args:  []string{"replace", "FIRST", "--yes"}, code: exit.ExitUnreachable, says: "site dc2 could not be read: ",
		},
		"the Lease of a site without one of them is held": {
			given: func(g *commandstest.Given) { g.Sites["dc2"].Cluster.LeaseHolder = "them@there" },
			args:  []string{"replace", "FIRST", "--yes"}, code: exit.ExitConflict, says: "the lease of site dc2 is held by them@there",
		},
		"another run's operation at a site without one of them": {
			given: func(g *commandstest.Given) {
				g.Sites["dc2"].Attend().Other = &reconcile.Operation{ID: "run7", Command: "replace sample-dc2 dc2-log-1 --wait", User: "ann@laptop"}
			},
			args: []string{"replace", "FIRST", "--yes"}, code: exit.ExitConflict, says: "ann@laptop",
		},
		"without a lock in the database": {
			given: func(g *commandstest.Given) { *g.Sites["dc2"].Cluster.Resource.Spec.LockOptions.DisableLocks = true },
			args:  []string{"exclude", "FIRST", "--yes"}, code: exit.ExitUsage, says: "site dc2: spec.lockOptions.disableLocks",
		},
		"loss of data":       {args: []string{"replace", "FIRST", "--skip-exclusion"}, code: exit.ExitUsage, says: "--contexts and --sites conflict with --skip-exclusion"},
		"a target":           {args: []string{"include", "--target", "10.1.2.3"}, code: exit.ExitUsage, says: "--contexts and --sites conflict with --target"},
		"a server's dry run": {args: []string{"restart", "FIRST", "--dry-run=server"}, code: exit.ExitUsage, says: "--dry-run=server is not supported with --contexts or --sites"},
		"a table of changes": {args: []string{"restart", "FIRST", "--yes", "-o", "yaml"}, code: exit.ExitUsage, says: "must be text or json"},
		"without approval":   {given: func(g *commandstest.Given) { g.Input = new("n\n") }, args: []string{"replace", "FIRST"}, code: exit.ExitUnconfirmed, says: "declined (nothing was changed)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := agedSites(t)
			if tc.given != nil {
				tc.given(g)
			}
			args := slices.Insert(slices.Clone(tc.args), 1, threeSites)
			for i, word := range args {
				if word == "FIRST" {
					args[i] = storageAt(g, "dc1")
				}
			}
			if code := g.Run(args...); code != tc.code || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d with %q: %s%s", code, tc.code, tc.says, &g.Out, &g.Err)
			}
			for site := range maps.Values(g.Sites) {
				if len(site.Cluster.Acted) > 0 {
					t.Errorf("acted: %v", site.Cluster.Acted)
				}
			}
		})
	}
}

// A selection may match others by then.
func TestTheHintToResumeOverSitesNamesTheChosenProcessGroups(t *testing.T) {
	g := agedSites(t)
	if code := g.Run("restart", threeSites, "--class", "storage", "--yes"); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	_, hint, _ := strings.Cut(g.Err.String(), "hint: wait until done: kubectl fdb restart ")
	for site := range maps.Keys(g.Sites) {
		if !strings.Contains(hint, " "+storageAt(g, site)+" ") && !strings.HasPrefix(hint, storageAt(g, site)+" ") {
			t.Errorf("without the process groups of %s: %s", site, hint)
		}
	}
	if n := strings.Count(hint, "--since="); n != 1 {
		t.Errorf("%d times --since: %s", n, hint)
	}
}

// What concerns one site acts there although the variable names all of them.
func TestFlagsOfOneSiteAreNotForTheSitesOfTheVariable(t *testing.T) {
	g := aged(t)
	file := filepath.Join(t.TempDir(), "sites.yaml")
	if err := os.WriteFile(file, []byte("sites:\n- context: dc1\n- context: dc2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Env["KUBECTL_FDB_SITES"] = file
	if code := g.Run("include", "sample", "--target", "10.1.2.3"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
