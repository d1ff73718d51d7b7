package reconcile_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func reconcileOver(sites string, more ...string) []string {
	return append([]string{"reconcile", "--contexts", sites}, more...)
}

// changed gives all sites the same change of the spec.
func changed(g *commandstest.Given, edit func(*v1beta2.FoundationDBClusterSpec)) {
	for _, site := range g.Sites {
		edit(&site.Cluster.Resource.Spec)
		site.Cluster.Resource.Generation++
		site.Cluster.Acted = nil
	}
}

func oneMoreStorage(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Storage++ }

// acted returns how many actions were carried out at each site.
func acted(g *commandstest.Given) map[string]int {
	counts := map[string]int{}
	for name, site := range g.Sites {
		counts[name] = len(site.Cluster.Acted)
	}
	return counts
}

// leases returns how many Leases are held over all sites.
func leases(g *commandstest.Given) (held int) {
	for _, site := range g.Sites {
		held += site.Leases
	}
	return held
}

func TestPassesOverSitesRunInTurnUntilAllAreReconciled(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2", "dc3")
	changed(g, oneMoreStorage)
	if code := g.Run(reconcileOver("dc1,dc2,dc3", "--yes", "--wait")...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	out := g.Out.String()
	at := []int{
		strings.Index(out, "site dc1: fdb/sample-dc1\n"), strings.Index(out, "site dc2: fdb/sample-dc2\n"), strings.Index(out, "site dc3: fdb/sample-dc3\n"),
		strings.Index(out, "\ndc1: sample-dc1: reconciled ("), strings.Index(out, "\ndc2: sample-dc2: reconciled ("), strings.Index(out, "\ndc3: sample-dc3: reconciled ("),
	}
	if slices.Contains(at, -1) || !slices.IsSorted(at) {
		t.Errorf("%v:\n%s", at, out)
	}
	for name, site := range g.Sites {
		if n := len(site.Cluster.Pods); n != 10 {
			t.Errorf("%s has %d pods", name, n)
		}
	}
	if leases(g) != 0 {
		t.Error("Leases are held after the run")
	}
}

func TestTheResultOverSitesHasEachSite(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	changed(g, oneMoreStorage)
	if code := g.Run(reconcileOver("dc1,dc2", "--yes", "-o", "json")...); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n")
	var event struct{ Site, Resource string }
	var last struct {
		Kind      string
		ExitCode  int
		Resources []struct{ Site, Resource string }
	}
	if err := json.Unmarshal([]byte(lines[0]), &event); err != nil || event.Site != "dc1" || event.Resource != "sample-dc1" {
		t.Errorf("%v: %s", err, lines[0])
	}
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &last)
	if err != nil || last.Kind != "ReconcileResultList" || last.ExitCode != exit.ExitWaiting || len(last.Resources) != 2 || last.Resources[1].Site != "dc2" {
		t.Errorf("%v: %s", err, lines[len(lines)-1])
	}
}

func TestNothingIsChangedAtAnySite(t *testing.T) {
	tests := map[string]struct {
		given func(g *commandstest.Given)
		code  int
		says  string
	}{
		"while another run holds the Lease of the second site": {
			given: func(g *commandstest.Given) { g.Sites["dc2"].Cluster.LeaseHolder = "them@there" },
			code:  exit.ExitConflict, says: "the lease of site dc2 is held by them@there",
		},
		"while one cannot be read": {
			given: func(g *commandstest.Given) { g.LoseSite("dc2") },
			code:  exit.ExitUnreachable, says: "site dc2 could not be read: the connection to the server dc2.example:6443",
		},
		"without a lock in the database": {
			given: func(g *commandstest.Given) { *g.Sites["dc2"].Cluster.Resource.Spec.LockOptions.DisableLocks = true },
			code:  exit.ExitUsage, says: "site dc2: spec.lockOptions.disableLocks",
		},
		"without one lock for all": {
			given: func(g *commandstest.Given) {
				g.Sites["dc2"].Cluster.Resource.Spec.LockOptions.LockKeyPrefix = "other"
			},
			code: exit.ExitUsage, says: "spec.lockOptions.lockKeyPrefix must be the same",
		},
		"whose spec contradicts that of another": {
			given: func(g *commandstest.Given) {
				g.Sites["dc2"].Cluster.Resource.Spec.DatabaseConfiguration.RedundancyMode = "triple"
			},
			code: exit.ExitUsage, says: "the specs of the sites contradict each other",
		},
		"without a permission at one of them": {
			given: func(g *commandstest.Given) { g.Sites["dc2"].Denied = []string{"create pods"} },
			code:  exit.ExitForbidden, says: "site dc2: ",
		},
		"without approval": {
			given: func(g *commandstest.Given) { g.Input = new("n\n") },
			code:  exit.ExitUnconfirmed, says: "declined (nothing was changed)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.OverSites(t, "dc1", "dc2")
			changed(g, oneMoreStorage)
			tc.given(g)
			line := reconcileOver("dc1,dc2")
			if g.Input == nil {
				line = append(line, "--yes")
			}
			code := g.Run(line...)
			if said := g.Out.String() + g.Err.String(); code != tc.code || !strings.Contains(said, tc.says) {
				t.Errorf("exit code %d, want %d with %q: %s", code, tc.code, tc.says, said)
			}
			if diff := cmp.Diff(map[string]int{"dc1": 0, "dc2": 0}, acted(g)); diff != "" || leases(g) != 0 {
				t.Errorf("actions at the sites (-want +got), and %d Leases:\n%s", leases(g), diff)
			}
		})
	}
}

// losing makes the API server of a site unreachable before an action of another one, counted from 1.
func losing(g *commandstest.Given, lost, during string, before int) {
	n := 0
	g.Sites[during].Cluster.Refuse = func(plan.Action) error {
		if n++; n == before {
			g.LoseSite(lost)
		}
		return nil
	}
}

func TestALostSiteStopsTheRunAndALaterOneGoesOn(t *testing.T) {
	for before := 1; before <= 4; before++ {
		g := commandstest.OverSites(t, "dc1", "dc2", "dc3")
		changed(g, oneMoreStorage)
		losing(g, "dc2", "dc1", before)
		if code := g.Run(reconcileOver("dc1,dc2,dc3", "--yes")...); code != exit.ExitUnreachable {
			t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
		}
		if n := acted(g); n["dc1"] != before || n["dc2"] != 0 || n["dc3"] != 0 {
			t.Errorf("lost at action %d: %v\n%s", before, n, &g.Out)
		}
		if out := g.Out.String(); !strings.Contains(out, "\ndc1: sample-dc1: failed after ") || !strings.Contains(out, "site dc2: the connection to the server dc2.example:6443 was refused") || !strings.Contains(out, "dc2: sample-dc2: no pass was run\ndc3: sample-dc3: no pass was run\n") {
			t.Errorf("prints:\n%s", out)
		}
		if want := "hint: resume once the API server answers: kubectl fdb reconcile --yes --contexts dc1,dc2,dc3\n"; !strings.Contains(g.Err.String(), want) {
			t.Errorf("hints: %s", &g.Err)
		}
		g.Sites["dc2"].Down = nil
		if code := g.Run(reconcileOver("dc1,dc2,dc3", "--yes", "--wait")...); code != exit.ExitDone {
			t.Errorf("resumed after action %d: exit code %d: %s%s", before, code, &g.Out, &g.Err)
		}
	}
}

func TestARunThatWaitsGoesOnWhenALostSiteIsBack(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	changed(g, oneMoreStorage)
	losing(g, "dc2", "dc1", 2)
	timers := 0
	g.Clock.OnTimer = func(time.Duration) bool {
		if g.Sites["dc2"].Down != nil {
			timers++
		}
		if timers == 5 {
			g.Sites["dc2"].Down = nil
		}
		return false
	}
	if code := g.Run(reconcileOver("dc1,dc2", "--yes", "--wait")...); code != exit.ExitDone || !strings.Contains(g.Err.String(), "no answer: ") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// atMostOneZoneDown checks before each deletion of a pod at any site that no other pod of the database is down.
func atMostOneZoneDown(t *testing.T, g *commandstest.Given) {
	t.Helper()
	for name, site := range g.Sites {
		site.Cluster.Refuse = func(a plan.Action) error {
			var down []string
			for _, other := range g.Sites {
				for _, group := range other.Cluster.Resource.Status.ProcessGroups {
					pod := other.Cluster.Pods[group.PodName(other.Cluster.Resource)]
					if pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
						down = append(down, string(group.FaultDomain))
					}
				}
			}
			if d, is := a.(plan.DeletePods); is && len(slices.Compact(slices.Sorted(slices.Values(down)))) > 0 {
				t.Errorf("%s: %s while %v are down", name, d.Describe(), down)
			}
			return nil
		}
	}
}

func TestAtMostOneFaultDomainIsTakenDownAtATimeOverSites(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2", "dc3")
	changed(g, func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
		general := s.Processes[v1beta2.ProcessClassGeneral]
		general.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{PriorityClassName: "high", Containers: []corev1.Container{{Name: "foundationdb"}}}}
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: general}
	})
	atMostOneZoneDown(t, g)
	if code := g.Run(reconcileOver("dc1,dc2,dc3", "--yes", "--wait", "--timeout", "6h")...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for name, site := range g.Sites {
		if !slices.ContainsFunc(site.Cluster.Acted, func(a plan.Action) bool { _, is := a.(plan.DeletePods); return is }) {
			t.Errorf("%s: no pod was deleted", name)
		}
		for pod := range maps.Values(site.Cluster.Pods) {
			if pod.Spec.PriorityClassName != "high" {
				t.Errorf("%s: pod %s is not updated", name, pod.Name)
			}
		}
	}
}

func TestAKnobOfAllSitesRestartsTheDatabaseOnceInGlobalMode(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2", "dc3")
	changed(g, func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_available_space_ratio=0.01"}},
		}
	})
	if code := g.Run(reconcileOver("dc1,dc2,dc3", "--yes", "--wait", "--timeout", "6h")...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	restarts := 0
	for _, site := range g.Sites {
		for _, a := range site.Cluster.Acted {
			if _, is := a.(plan.RestartProcesses); is {
				restarts++
			}
		}
	}
	if restarts != 1 {
		t.Errorf("%d restarts", restarts)
	}
}

func TestOnePlanOverSitesIsApprovedAndCarriedOut(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	changed(g, oneMoreStorage)
	file := filepath.Join(t.TempDir(), "plan.json")
	g.Run(planOver("-o", "json")...)
	saved := g.Out.String()
	var list struct{ Digest string }
	if err := json.Unmarshal([]byte(saved), &list); err != nil || !strings.HasPrefix(list.Digest, "sha256:") {
		t.Errorf("%v: digest %q", err, list.Digest)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(saved, list.Digest, "sha256:00", 1))
	if code := g.Run(reconcileOver("dc1,dc2", "--yes", "--plan", file)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "its digest does not match its plans") {
		t.Errorf("another digest: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	write(saved)
	if code := g.Run(reconcileOver("dc1", "--yes", "--plan", file)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "is for dc2, which the command does not change") {
		t.Errorf("another site: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if n := acted(g); n["dc1"]+n["dc2"] != 0 {
		t.Errorf("changed by a plan that was refused: %v", n)
	}
	if code := g.Run(reconcileOver("dc2,dc1", "--yes", "--plan", file)...); code != exit.ExitWaiting && code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if n := acted(g); n["dc1"] == 0 || n["dc2"] == 0 {
		t.Errorf("carried out at %v: %s%s", n, &g.Out, &g.Err)
	}
}

func TestAPlanOverSitesIsStaleIfOneSiteChanged(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	changed(g, oneMoreStorage)
	file := filepath.Join(t.TempDir(), "plan.json")
	g.Run(planOver("-o", "json")...)
	if err := os.WriteFile(file, g.Out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	oneMoreStorage(&g.Sites["dc2"].Cluster.Resource.Spec)
	g.Sites["dc2"].Cluster.Resource.Generation++
	if code := g.Run(reconcileOver("dc1,dc2", "--yes", "--plan", file)...); code != exit.ExitConflict {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if n := acted(g); n["dc1"]+n["dc2"] != 0 {
		t.Errorf("changed by a plan that is stale: %v", n)
	}
}

func TestTheLeasesOfAllSitesAreTakenInOneOrderOrNone(t *testing.T) {
	for _, order := range []string{"dc1,dc2,dc3", "dc3,dc2,dc1"} {
		g := commandstest.OverSites(t, "dc1", "dc2", "dc3")
		changed(g, oneMoreStorage)
		var taken []string
		for name, site := range g.Sites {
			site.OnLease = func() {
				if taken = append(taken, name); len(taken) == 3 {
					g.Sites["dc3"].Cluster.LeaseHolder = "them@there"
				}
			}
			site.Cluster.Refuse = func(plan.Action) error {
				if held := leases(g); held != 3 {
					t.Errorf("%s acts with %d Leases", name, held)
				}
				return nil
			}
		}
		g.Run(reconcileOver(order, "--yes")...)
		if want := []string{"dc1", "dc2", "dc3", "dc1", "dc2", "dc1", "dc2"}; !slices.Equal(taken, want) {
			t.Errorf("--contexts %s: Leases taken: %v, want %v", order, taken, want)
		}
		if leases(g) != 0 {
			t.Errorf("%d Leases are held after the run", leases(g))
		}
	}
}

// overStored are sites whose resources are read through their clients, as the real ones are.
func overStored(t *testing.T, names ...string) *commandstest.Given {
	t.Helper()
	g := commandstest.OverSites(t, names...)
	for _, site := range g.Sites {
		site.Proposes, site.Cluster.Acted = true, nil
	}
	return g
}

func TestOneCommandUpgradesTheDatabaseAtAllSites(t *testing.T) {
	g := overStored(t, "dc1", "dc2", "dc3")
	if code := g.Run(reconcileOver("dc1,dc2,dc3", "--set", "version=7.4.6", "--yes", "--wait", "--timeout", "6h")...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	restarts := 0
	for name, site := range g.Sites {
		if c := site.Cluster.Resource; c.Spec.Version != "7.4.6" || c.Status.RunningVersion != "7.4.6" {
			t.Errorf("%s: version %s of the spec, %s of the status", name, c.Spec.Version, c.Status.RunningVersion)
		}
		for _, a := range site.Cluster.Acted {
			if _, is := a.(plan.RestartProcesses); is {
				restarts++
			}
		}
	}
	if restarts != 1 {
		t.Errorf("%d restarts", restarts)
	}
}

func TestNoSpecIsStoredBesideOneThatIsRefused(t *testing.T) {
	for _, inDryRun := range []bool{true, false} {
		g := overStored(t, "dc1", "dc2")
		g.Sites["dc2"].OnStore = func(_ string, dryRun bool) error {
			if dryRun == inDryRun {
				return errors.New("the quota is exceeded")
			}
			return nil
		}
		code := g.Run(reconcileOver("dc1,dc2", "--set", "processCounts.storage=4", "--yes")...)
		stored, said := g.Sites["dc1"].Cluster.Resource.Spec.ProcessCounts.Storage == 4, g.Err.String()
		if code == exit.ExitDone || stored == inDryRun || !strings.Contains(said, "the quota is exceeded") {
			t.Errorf("refused in a dry run %t: exit code %d, stored %t: %s", inDryRun, code, stored, said)
		}
		if !inDryRun && (!strings.Contains(said, "dc1: sample-dc1 is stored, dc2: sample-dc2 is not, and no pass was run") || strings.Contains(said, "nothing was changed")) {
			t.Errorf("stored in part: %s", said)
		}
		if n := acted(g); n["dc1"]+n["dc2"] != 0 {
			t.Errorf("acted: %v", n)
		}
	}
}

func TestAPlanOfAChangeAtAllSitesIsCarriedOut(t *testing.T) {
	g := overStored(t, "dc1", "dc2")
	file := filepath.Join(t.TempDir(), "plan.json")
	if code := g.Run(planOver("--set", "processCounts.storage=4", "-o", "json")...); code != exit.ExitNo {
		t.Fatalf("plan: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if err := os.WriteFile(file, g.Out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if g.Sites["dc1"].Cluster.Resource.Spec.ProcessCounts.Storage != 3 {
		t.Error("a plan stored the spec")
	}
	g.Run(reconcileOver("dc1,dc2", "--set", "processCounts.storage=4", "--plan", file, "--yes")...)
	for name, site := range g.Sites {
		if n := site.Cluster.Resource.Spec.ProcessCounts.Storage; n != 4 || len(site.Cluster.Pods) != 10 {
			t.Errorf("%s: %d storage, %d pods: %s%s", name, n, len(site.Cluster.Pods), &g.Out, &g.Err)
		}
	}
}
