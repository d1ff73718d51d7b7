package reconcile_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// actionsIn are the actions of a plan by kind, subject and fingerprint, without what only
// records.
func actionsIn(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Items []struct{ Kind, Subject, Fingerprint string }
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	actions := []string{}
	for _, item := range v.Items {
		if item.Kind != "WriteStatus" {
			actions = append(actions, item.Kind+" "+item.Subject+" "+item.Fingerprint)
		}
	}
	return actions
}

// grow asks for more storage.
func grow(g *commandstest.Given) {
	g.Cluster.Resource.Spec.ProcessCounts.Storage = 6
	g.Cluster.Resource.Generation++
}

func exclude(g *commandstest.Given) {
	g.T.Helper()
	if code := g.Run("exclude", "sample", g.Storage()[0], "--yes"); code != exit.ExitDone {
		g.T.Fatalf("exit code %d: %s", code, &g.Err)
	}
}

func TestEveryChangingCommandAppliesItsOwnPlanFile(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		// requested is true for commands that take --yes.
		requested bool
		// later is true for commands that wait, and so also carry out what the plan forecasts.
		later bool
		want  int
	}{
		"reconcile":           {given: grow, args: []string{"reconcile", "sample"}, requested: true, want: exit.ExitWaiting},
		"replace":             {args: []string{"replace", "sample", "STORAGE0"}, requested: true},
		"replace, undone":     {given: func(g *commandstest.Given) { g.Run("replace", "sample", g.Storage()[0], "--yes") }, args: []string{"replace", "sample", "STORAGE0", "--undo"}, requested: true},
		"restart":             {args: []string{"restart", "sample", "STORAGE0"}, requested: true},
		"exclude":             {args: []string{"exclude", "sample", "STORAGE0"}, requested: true},
		"include":             {given: exclude, args: []string{"include", "sample", "--all"}},
		"cordon":              {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=now"}, requested: true, want: exit.ExitWaiting},
		"uncordon":            {given: func(g *commandstest.Given) { g.Cluster.Cordoned = map[string]bool{g.NodeOfStorage(): true} }, args: []string{"uncordon", "NODE", "-c", "sample"}},
		"drain":               {args: []string{"drain", "NODE", "-c", "sample"}, requested: true, later: true},
		"drain, without wait": {args: []string{"drain", "NODE", "-c", "sample", "--wait=false"}, requested: true, want: exit.ExitWaiting},
		"coordinators change": {args: []string{"coordinators", "change", "sample", "--away-from", "COORDINATOR"}, requested: true},
		"maintenance on":      {args: []string{"maintenance", "on", "sample", "ZONE"}},
		"pause":               {args: []string{"pause", "sample", "--for", "2h"}},
		"resume":              {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.Skip = true }, args: []string{"resume", "sample"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Spacious(t)
			if tc.given != nil {
				tc.given(g)
			}
			args := g.InText(tc.args...)
			path := g.Planned(args...)
			if len(actionsIn(t, path)) == 0 {
				t.Fatalf("the plan has nothing: %s", &g.Out)
			}
			args = append(args, "--plan", path)
			if tc.requested {
				if code := g.Run(args...); code != exit.ExitUnconfirmed || len(g.Cluster.Acted) > 0 {
					t.Fatalf("without --yes: exit code %d, did %v", code, g.Changes())
				}
				args = append(args, "--yes")
			}
			if code := g.Run(args...); code != tc.want {
				t.Errorf("exit code %d, want %d\n%s%s", code, tc.want, &g.Out, &g.Err)
			}
			want, got := actionsIn(t, path), g.Changes()
			if tc.later {
				got = slices.DeleteFunc(got, func(a string) bool { return !slices.Contains(want, a) })
			}
			slices.Sort(want) // actions of one kind run together
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("planned (-), done (+):\n%s", diff)
			}
		})
	}
}

func TestAPlanIsRefusedOnceTheClusterStateHasChanged(t *testing.T) {
	tests := map[string]struct {
		moved func(*commandstest.Given)
		args  []string // other than those of the plan
		says  []string
	}{
		"another spec": {
			moved: func(g *commandstest.Given) {
				g.Cluster.Resource.Spec.ProcessCounts.Storage = 7
				g.Cluster.Resource.Generation++
			},
			says: []string{"the spec of the cluster: generation 2 when it was approved, now generation 3", "approved, and no longer planned: AddGroups", "planned now, and not approved: AddGroups"},
		},
		"a spec that wants the same in another way": {
			moved: func(g *commandstest.Given) { g.Cluster.Resource.Generation++ },
			says:  []string{"the spec of the cluster: generation 2 when it was approved, now generation 3"},
		},
		"a user did part of it": {
			moved: func(g *commandstest.Given) { g.Run("reconcile", "sample", "--yes", "--only", "AddProcessGroups") },
			says:  []string{"approved, and no longer planned: AddGroups"},
		},
		"another connection string": {
			moved: func(g *commandstest.Given) {
				g.Run("coordinators", "change", "sample", "--away-from", g.Coordinating()[0], "--yes")
			},
			says: []string{"the connection string: it changed after the approval"},
		},
		"a database that is down": {
			moved: func(g *commandstest.Given) {
				g.Cluster.Broken = map[string]bool{}
				for name := range g.Cluster.Pods {
					g.Cluster.Broken[name] = true
					g.Cluster.KillServers(name)
				}
				g.Cluster.Tick(time.Minute)
			},
			says: []string{"the database: available when it was approved, now"},
		},
		"other steps": {args: []string{"--skip", "AddPods"}, says: []string{"the command: reconcile sample when it was approved, now reconcile sample --skip AddPods"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Spacious(t)
			grow(g)
			path := g.Planned("reconcile", "sample")
			if tc.moved != nil {
				tc.moved(g)
			}
			g.Cluster.Acted = nil
			args := append([]string{"reconcile", "sample", "--yes", "--plan", path}, tc.args...)
			if code := g.Run(args...); code != exit.ExitConflict || len(g.Cluster.Acted) > 0 {
				t.Errorf("exit code %d, did %v\n%s%s", code, g.Changes(), &g.Out, &g.Err)
			}
			for _, says := range append(tc.says, "G-PLAN", "hint: create a new plan: kubectl fdb reconcile sample", "--dry-run -o json -n fdb --context test > "+path) {
				if !strings.Contains(g.Err.String(), says) {
					t.Errorf("does not say %q:\n%s", says, &g.Err)
				}
			}
			g.Run(append(args, "-o", "json")...)
			if !strings.Contains(g.Err.String(), `"differences":[{"code":`) {
				t.Errorf("JSON: %s", &g.Err)
			}
		})
	}
}

func TestAnInvalidOrForeignPlanFileIsAUsageError(t *testing.T) {
	// An edit computes the digests of the fields again: the rest must refuse by itself.
	edit := func(old, instead string) func(string) string {
		return func(text string) string { return resealed(t, strings.Replace(text, old, instead, 1)) }
	}
	tests := map[string]struct {
		edit func(text string) string
		args []string
		says string
	}{
		"truncated":                     {edit: func(text string) string { return text[:len(text)/2] }, says: "not a complete JSON document"},
		"empty":                         {edit: func(string) string { return "" }, says: "not a complete JSON document"},
		"no JSON":                       {edit: func(string) string { return "kind: Plan" }, says: "not a complete JSON document"},
		"two documents":                 {edit: func(text string) string { return text + text }, says: "not a complete JSON document"},
		"of another kind":               {edit: edit(`"kind": "Plan"`, `"kind": "ClusterStatus"`), says: `unsupported kind "ClusterStatus"`},
		"of another version":            {edit: edit("cli.kubectl-fdb/v2", "cli.kubectl-fdb/v9"), says: "must be cli.kubectl-fdb/v2"},
		"of the first version":          {edit: edit("cli.kubectl-fdb/v2", "cli.kubectl-fdb/v1"), says: "(cli.kubectl-fdb/v1): save a new plan"},
		"with an item that was changed": {edit: edit(`"fingerprint": "sha256:`, `"fingerprint": "sha256:0`), says: "its digest does not match its items"},
		"of an earlier version":         {edit: edit(`"fingerprint": "sha256:`, `"fingerprint": "", "was": "sha256:`), says: "was saved by an earlier version"},
		"without a seed":                {edit: edit(`"seed": "42"`, `"seed": "x"`), says: "must be a number"},
		"of another cluster":            {edit: edit(`"cluster": "sample"`, `"cluster": "other"`), says: "for cluster other in namespace fdb"},
		"of another namespace":          {edit: edit(`"namespace": "fdb"`, `"namespace": "x"`), says: "for cluster sample in namespace x"},
		"of another Kubernetes cluster": {edit: edit(`"uid": "1"`, `"uid": "2"`), says: "one in another Kubernetes cluster"},
		"of another command":            {args: []string{"exclude", "sample", "STORAGE0"}, says: "for the command reconcile, not for exclude"},
		"with a text that was changed":  {edit: func(text string) string { return strings.Replace(text, `"summary": "`, `"summary": "not `, 1) }, says: "it was modified: items is not what was printed"},
		"without digests of its fields": {edit: func(text string) string { return strings.Replace(text, `"digests": {`, `"was": {`, 1) }, says: "it has no digests of its fields"},
		"that could not be made":        {edit: edit(`"outcome": "`, `"outcome": "failed", "was": "`), says: "a stage failed"},
		"that is not there":             {args: []string{"reconcile", "sample", "--plan", "/nowhere"}, says: "no such file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			grow(g)
			path := g.Planned("reconcile", "sample")
			if tc.edit != nil {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(tc.edit(string(text))), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := tc.args
			if args == nil {
				args = []string{"reconcile", "sample"}
			}
			args = append(append([]string{args[0]}, "--plan", path, "--yes"), g.InText(args[1:]...)...)
			if code := g.Run(args...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), tc.says) || len(g.Cluster.Acted) > 0 {
				t.Errorf("exit code %d, did %v, want %q:\n%s", code, g.Changes(), tc.says, &g.Err)
			}
		})
	}
}

// An interrupted run is resumed by the same command; after any other run it is not.
func TestAnInterruptedPlanIsResumedUnlessAnotherRunFollowed(t *testing.T) {
	tests := map[string]struct {
		digest string
		want   int
	}{
		"by the run that was killed":     {digest: "its own", want: exit.ExitWaiting},
		"after a run of another plan":    {digest: "sha256:other", want: exit.ExitConflict},
		"after a run that had no plan":   {want: exit.ExitConflict},
		"while it is unknown who did it": {digest: "-", want: exit.ExitConflict},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			grow(g)
			path := g.Planned("reconcile", "sample")
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", commandstest.ErrNoAnswer)
			args := []string{"reconcile", "sample", "--yes", "--plan", path}
			if code := g.Run(args...); code == exit.ExitDone || len(g.Cluster.Acted) == 0 {
				t.Fatalf("exit code %d, did %v", code, g.Changes())
			}
			g.Cluster.Refuse, g.Objects = nil, []client.Object{lastRun(t, path, tc.digest)}
			if code := g.Run(args...); code != tc.want {
				t.Errorf("exit code %d, want %d:\n%s%s", code, tc.want, &g.Out, &g.Err)
			}
			want, got := actionsIn(t, path), g.Changes()
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); (diff == "") != (tc.want == exit.ExitWaiting) {
				t.Errorf("planned (-), done (+) in both:\n%s", diff)
			}
		})
	}
}

// lastRun is the Lease as the last run left it.
func lastRun(t *testing.T, path, digest string) *coordinationv1.Lease {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: live.LeaseName("sample"), Annotations: map[string]string{}}}
	switch digest {
	case "its own":
		approved, err := apply.ReadPlan(path)
		if err != nil {
			t.Fatal(err)
		}
		lease.Annotations[live.AnnotationPlan] = approved.Digest
	case "-":
		lease.Name = "another"
	case "":
	default:
		lease.Annotations[live.AnnotationPlan] = digest
	}
	return lease
}

func TestReconcileFromAPlanFileShowsThePlanAndPrompts(t *testing.T) {
	for answer, want := range map[string]int{"y\n": exit.ExitWaiting, "n\n": exit.ExitUnconfirmed} {
		g := commandstest.Up(t)
		grow(g)
		path := g.Planned("reconcile", "sample")
		g.Input = &answer
		if code := g.Run("reconcile", "sample", "--plan", path); code != want || !strings.Contains(g.Err.String(), "+ process groups ") {
			t.Errorf("%q: exit code %d, want %d\n%s", answer, code, want, &g.Err)
		}
	}
}
