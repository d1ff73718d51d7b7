package diagnose_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/diagnose"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestWaitExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string // on stdout or stderr
	}{
		"everything holds":                {args: []string{"sample", "--for=available,healthy,reconciled", "--for", "exclusions=none,lock-free,version=7.3.79,tolerance=1,no-condition=PodFailing"}, want: exit.ExitDone, says: "version=7.3.79            yes"},
		"the only cluster":                {args: []string{"--for=available"}, want: exit.ExitDone, says: ""},
		"its name":                        {args: []string{"--for=available", "-o", "name"}, want: exit.ExitDone, says: "foundationdbcluster/sample\n"},
		"a removed group":                 {args: []string{"--for=pg=storage-1:removed"}, want: exit.ExitDone, says: "pg=storage-1:removed"},
		"a database that does not report": {given: commandstest.UnresponsiveSession, args: []string{"--for=available", "--timeout", "1m"}, want: exit.ExitWaiting, says: "error: timed out after 1m0s: available: no answer from the database: timed out"},
		"the result of it":                {given: commandstest.UnresponsiveSession, args: []string{"--for=available", "--timeout", "1m"}, want: exit.ExitWaiting, says: "available   ?     -       no answer"},
		"nothing to wait for":             {want: exit.ExitUsage, says: "one or more of available, healthy"},
		"no such condition":               {args: []string{"--for=happy"}, want: exit.ExitUsage, says: `unknown condition "happy"`},
		"a value too many":                {args: []string{"--for=healthy=true"}, want: exit.ExitUsage, says: `must be healthy, not "healthy=true"`},
		"a value too few":                 {args: []string{"--for=tolerance"}, want: exit.ExitUsage, says: "must be tolerance=ZONES"},
		"no number":                       {args: []string{"--for=tolerance=all"}, want: exit.ExitUsage},
		"no zone at all":                  {args: []string{"--for=tolerance=0"}, want: exit.ExitUsage},
		"more than ever":                  {args: []string{"--for=tolerance=2"}, want: exit.ExitUsage, says: "tolerance=2 can never be met"},
		"some exclusions":                 {args: []string{"--for=exclusions=some"}, want: exit.ExitUsage},
		"an ID misspelled":                {args: []string{"--for=pg=storge-1:removed"}, want: exit.ExitUsage, says: `unknown process class "storge"`},
		"a group that is not excluded":    {args: []string{"--for=pg=STORAGE:safe", "--timeout", "1m"}, want: exit.ExitWaiting, says: "STORAGE:safe: 1 of 1 is not safe to remove"},
		"a group that is not there":       {args: []string{"--for=pg=storage-1:safe"}, want: exit.ExitUsage, says: "process group storage-1 not found"},
		"no exclusion is safe":            {args: []string{"--for=exclusions=safe"}, want: exit.ExitDone, says: "exclusions=safe   yes"},
		"a condition of restores":         {args: []string{"--for=done"}, want: exit.ExitUsage, says: `unknown condition "done"`},
		"a condition of clusters":         {args: []string{"fdbrestore/again", "--for=healthy"}, want: exit.ExitUsage, says: `unknown condition "healthy": must be one of done`},
		"a restore without a name":        {args: []string{"fdbrestore/", "--for=done"}, want: exit.ExitUsage, says: "must be NAME or fdbrestore/NAME"},
		"a backup of the cluster of -c":   {args: []string{"fdbbackup/nightly", "-c", "sample", "--for=reconciled"}, want: exit.ExitUsage, says: "conflicts with cluster sample"},
		"another fate":                    {args: []string{"--for=pg=storage-1:happy"}, want: exit.ExitUsage},
		"no such trouble":                 {args: []string{"--for=no-condition=Sadness"}, want: exit.ExitUsage},
		"half a version":                  {args: []string{"--for=version=7.3"}, want: exit.ExitUsage},
		"a hectic interval":               {args: []string{"--for=available", "--interval", "10ms"}, want: exit.ExitUsage},
		"more stable than long":           {args: []string{"--for=available", "--stable", "1m", "--timeout", "1m"}, want: exit.ExitUsage, says: "must not exceed"},
		"an unknown cluster":              {args: []string{"other", "--for=available"}, want: exit.ExitUsage},
		"an unknown output":               {args: []string{"--for=available", "-o", "xml"}, want: exit.ExitUsage},
		"no pods/exec is named at once": {
			given: func(g *commandstest.Given) { g.Denied = []string{"create pods/exec"} }, args: []string{"--for=available"}, want: exit.ExitForbidden, says: "create pods/exec",
		},
		"no Lease to read is named at once": {
			given: func(g *commandstest.Given) { g.Denied = []string{"get leases.coordination.k8s.io"} }, args: []string{"--for=lock-free"}, want: exit.ExitForbidden, says: "get leases",
		},
		"no Lease to read matters to locks alone": {
			given: func(g *commandstest.Given) { g.Denied = []string{"get leases.coordination.k8s.io"} }, args: []string{"--for=available"}, want: exit.ExitDone,
		},
		"no API server": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) { return nil, commandstest.ErrNoAnswer }
		}, args: []string{"--for=available"}, want: exit.ExitUnreachable},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := &commandstest.Given{T: t, Cluster: healthy.Cluster, Env: map[string]string{}, Clock: &commandstest.ClusterClock{Cluster: healthy.Cluster}}
			if tc.given != nil {
				tc.given(g)
			}
			storage := string(g.GroupOf(v1beta2.ProcessClassStorage).ProcessGroupID)
			args := []string{"wait"}
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "STORAGE", storage))
			}
			got, says := g.Run(args...), strings.ReplaceAll(tc.says, "STORAGE", storage)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tc.want, says, &g.Out, &g.Err)
			}
		})
	}
}

// moody is a cluster with different observations: each is one of its moods, the last forever.
type moody struct {
	commandstest.Simulated
	moods []error // nil is a good look
	look  *int
}

func (m moody) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.ClusterResource != 0 {
		mood := m.moods[min(*m.look, len(m.moods)-1)]
		*m.look++
		if mood != nil {
			return mood
		}
	}
	return m.Simulated.Observe(ctx, into, facets)
}

func moods(moods ...error) func(*commandstest.Given) {
	return func(g *commandstest.Given) {
		look := 0
		g.Connect = func() (session.Session, error) {
			return moody{commandstest.Simulated{Cluster: g.Cluster, G: g}, moods, &look}, nil
		}
	}
}

func TestWaitContinuesThroughATemporaryAPIServerOutage(t *testing.T) {
	g := commandstest.Up(t)
	moods(nil, commandstest.ErrNoAnswer, commandstest.ErrNoAnswer, nil)(g)
	if code := g.Run("wait", "--for=available", "--stable", "20s", "--timeout", "10m", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	var v waiting.WaitView
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	held := v.AsOf.Sub(*v.Conditions[0].Since)
	if !v.Met || held < 20*time.Second || v.WaitedSeconds < held.Seconds()+2 {
		t.Errorf("met %v; held for %s, waited %v s", v.Met, held, v.WaitedSeconds)
	}
	if output := strings.Count(g.Err.String(), "waiting: available: "+commandstest.ErrNoAnswer.Error()); output != 1 {
		t.Errorf("the reason was printed %d times, want once: %s", output, &g.Err)
	}
}

func TestAWaitEndsAtOnceIfTheFirstReadFails(t *testing.T) {
	g := commandstest.Up(t)
	moods(commandstest.ErrNoAnswer)(g)
	if code := g.Run("wait", "--for=available"); code != exit.ExitUnreachable || g.Out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestAWaitWithoutItsPermissionsDoesNotConnect(t *testing.T) {
	g := commandstest.Up(t)
	g.Denied = []string{"list pods"}
	g.Connect = func() (session.Session, error) {
		t.Error("connected all the same")
		return nil, commandstest.ErrNoAnswer
	}
	if code := g.Run("wait", "--for=available"); code != exit.ExitForbidden {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestCompletionListsWaitConditions(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("__complete", "wait", "sample", "--for", "")
	for _, want := range []string{"available\n", "exclusions=none\n", "exclusions=safe\n", "no-condition=PodFailing\n", "version=7.3.79\n", ":removed\n"} {
		if !strings.Contains(g.Out.String(), want) {
			t.Errorf("%q is not offered: %s", want, &g.Out)
		}
	}
	if strings.Contains(g.Out.String(), "no-condition=Ready") {
		t.Errorf("offers what can never be: %s", &g.Out)
	}
}

func TestWaitHelpListsAllConditions(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Run("wait", "--help")
	var missing []string
	for _, of := range []*session.ResourceKind{nil, session.BackupKind, session.RestoreKind} {
		for _, kind := range diagnose.WaitKinds(of) {
			if !strings.Contains(g.Out.String(), kind.Form) {
				missing = append(missing, kind.Form)
			}
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Error(diff)
	}
}
