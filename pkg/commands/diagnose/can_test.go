package diagnose_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// keeping is a cluster whose spec keeps one process group from being replaced.
func keeping(t *testing.T) *commandstest.Given {
	t.Helper()
	return keep(commandstest.Healthy(t))
}

func keep(g *commandstest.Given) *commandstest.Given {
	g.Cluster.Resource.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{v1beta2.ProcessGroupID(g.Named("OTHER"))}
	return g
}

// nameless is a cluster in which a process group has neither a pod nor an address.
func nameless(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Healthy(t)
	group := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Named("OTHER")))
	group.Addresses = nil
	g.Cluster.Resource.Spec.AutomationOptions.UseLocalitiesForExclusion = new(false)
	delete(g.Cluster.Pods, group.PodName(g.Cluster.Resource))
	return g
}

// untried is a cluster whose API server makes no dry run.
func untried(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Healthy(t)
	g.Connect = func() (session.Session, error) {
		return withoutDryRuns{commandstest.Simulated{Cluster: g.Cluster, G: g}}, nil
	}
	return g
}

type withoutDryRuns struct{ session.Session }

func (s withoutDryRuns) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	err := s.Session.Observe(ctx, into, facets)
	into.Successors = plan.SuccessorFacts{Read: true, Unknown: map[v1beta2.ProcessClass]string{v1beta2.ProcessClassStorage: "a dump is read-only"}}
	return err
}

// pinned is a cluster whose image has the tag of the version that it runs.
func pinned(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Healthy(t)
	g.Cluster.Resource.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{Tag: "7.3.79"}}
	return g
}

func TestPlanNamesTheTagThatContradictsTheVersion(t *testing.T) {
	g := pinned(t)
	g.Cluster.Resource.Spec.Version = "7.3.80"
	says := "blocked: CheckClientCompatibility: invalid spec: spec.mainContainer.imageConfigs[0].tag"
	if code := g.Run("plan", "sample"); code != exit.ExitNo || !strings.Contains(g.Out.String(), says) || strings.Contains(g.Out.String(), "- process groups") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestCanExitCodesMatchTheAnswer(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T) *commandstest.Given
		args  []string
		want  int
		says  string // on stdout
	}{
		"delete a pod":                                               {given: commandstest.Healthy, args: []string{"delete", "sample", "POD"}, want: exit.ExitDone, says: "may be deleted now\n"},
		"delete a pod of the only cluster":                           {given: commandstest.Healthy, args: []string{"delete", "POD"}, want: exit.ExitDone, says: "next: kubectl delete pod sample-storage-"},
		"delete beside a pod that does not start":                    {given: unscheduled, args: []string{"delete", "sample", "OTHER"}, want: exit.ExitNo, says: "no: G-REPL: are all other fault domains up? storage-"},
		"delete what is not there":                                   {given: commandstest.Healthy, args: []string{"delete", "sample", "pod/other"}, want: exit.ExitUsage},
		"delete nothing":                                             {given: commandstest.Healthy, args: []string{"delete"}, want: exit.ExitUsage},
		"delete, without an answer":                                  {given: withoutAnswer, args: []string{"delete", "sample", "POD"}, want: exit.ExitUnreachable, says: "unknown: no answer from the database: timed out\n"},
		"replace a group":                                            {given: commandstest.Healthy, args: []string{"replace", "sample", "OTHER"}, want: exit.ExitDone, says: "may start to drain now\n"},
		"replace a group by its ID alone":                            {given: commandstest.Healthy, args: []string{"replace", "OTHER"}, want: exit.ExitDone, says: "may start to drain now\n"},
		"replace a group that the spec keeps":                        {given: keeping, args: []string{"replace", "sample", "OTHER"}, want: exit.ExitNo, says: "no: OTHER: does replace mark the process group for removal?"},
		"replace a group that nothing keeps":                         {given: keeping, args: []string{"replace", "sample", "POD"}, want: exit.ExitDone, says: "may start to drain now\n"},
		"replace a group that never had an address":                  {given: nameless, args: []string{"replace", "sample", "OTHER"}, want: exit.ExitNo, says: "never had an address to exclude"},
		"replace without an answer about the successor":              {given: untried, args: []string{"replace", "sample", "OTHER"}, want: exit.ExitUnreachable, says: "unknown: G-ADMISSION"},
		"replace a kept group without an answer about the successor": {given: func(t *testing.T) *commandstest.Given { t.Helper(); return keep(untried(t)) }, args: []string{"replace", "sample", "OTHER"}, want: exit.ExitNo, says: "no: OTHER"},
		"replace too many":                                           {given: commandstest.Healthy, args: []string{"replace", "sample", "OTHER", "POD"}, want: exit.ExitNo, says: "no: G-BUDGET"},
		"restart a stable cluster":                                   {given: commandstest.Healthy, args: []string{"restart", "sample", "--class", "storage"}, want: exit.ExitDone, says: "yes: the processes of 3 process groups may be restarted now\n"},
		"restart a group":                                            {given: commandstest.Healthy, args: []string{"restart", "sample", "POD"}, want: exit.ExitDone, says: "yes: the processes of 1 process group may be restarted now\n"},
		"restart what has pods with labels":                          {given: commandstest.Healthy, args: []string{"restart", "sample", "-l", "foundationdb.org/fdb-process-class=log"}, want: exit.ExitDone, says: "yes: the processes of 3 process groups may be restarted now\n"},
		"delete what is on a node":                                   {given: commandstest.Healthy, args: []string{"delete", "sample", "--class", "storage", "--node", "node-1,node-2,node-3,node-4,node-5"}, want: exit.ExitNo, says: "no: G-REPL: are the pods in one fault domain?"},
		"delete what is on no node":                                  {given: commandstest.Healthy, args: []string{"delete", "sample", "--node", "nowhere"}, want: exit.ExitUsage},
		"replace a named group of a class":                           {given: commandstest.Healthy, args: []string{"replace", "sample", "--process-group", "OTHER", "--class", "storage"}, want: exit.ExitDone, says: "may start to drain now\n"},
		"restart a young cluster":                                    {given: commandstest.Up, args: []string{"restart", "sample"}, want: exit.ExitNo, says: "no: G-RECOVERY"},
		"restart a class that is not there":                          {given: commandstest.Healthy, args: []string{"restart", "sample", "--class", "proxy"}, want: exit.ExitUsage},
		"restart a class that does not exist":                        {given: commandstest.Healthy, args: []string{"restart", "sample", "--class", "x"}, want: exit.ExitUsage},
		"reconcile":                                                  {given: commandstest.Up, args: []string{"reconcile", "sample"}, want: exit.ExitDone, says: "yes: a reconcile pass may change sample now\n"},
		"reconcile without rights": {given: func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.Up(t)
			g.Denied = []string{"create pods/exec"}
			return g
		}, args: []string{"reconcile", "sample"}, want: exit.ExitNo, says: "not granted in namespace fdb: create pods/exec"},
		"reconcile beside an operator": {given: func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.Up(t)
			g.Evaluated = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
			return g
		}, args: []string{"reconcile", "sample"}, want: exit.ExitNo, says: "no: G-OPERATOR"},
		"reconcile a cluster whose database does not report":        {given: withoutAnswer, args: []string{"reconcile", "sample"}, want: exit.ExitDone, says: "note: lock state unknown: the database is unavailable"},
		"upgrade to a patch release":                                {given: commandstest.Healthy, args: []string{"upgrade", "sample", "--to", "7.3.80"}, want: exit.ExitDone, says: "yes: sample may be upgraded from 7.3.79 to 7.3.80 now\n"},
		"upgrade with an image that a tag keeps at the old version": {given: pinned, args: []string{"upgrade", "sample", "--to", "7.3.80"}, want: exit.ExitNo, says: "spec.mainContainer.imageConfigs[0].tag"},
		"upgrade to an older version":                               {given: commandstest.Healthy, args: []string{"upgrade", "sample", "--to", "7.1.0"}, want: exit.ExitNo, says: "cannot be downgraded from 7.3.79 to 7.1.0"},
		"upgrade to what it runs":                                   {given: commandstest.Healthy, args: []string{"upgrade", "sample", "--to", "7.3.79"}, want: exit.ExitDone, says: "note: the cluster already runs 7.3.79, the version in its spec\n"},
		"upgrade to no version":                                     {given: commandstest.Healthy, args: []string{"upgrade", "sample", "--to", "new"}, want: exit.ExitUsage},
		"upgrade to nothing":                                        {given: commandstest.Healthy, args: []string{"upgrade", "sample"}, want: exit.ExitUsage},
		"nothing":                                                   {given: commandstest.Healthy, want: exit.ExitUsage},
		"something else":                                            {given: commandstest.Healthy, args: []string{"dance"}, want: exit.ExitUsage},
		"one field":                                                 {given: commandstest.Healthy, args: []string{"restart", "sample", "-o", "jsonpath={.answer}"}, want: exit.ExitDone, says: "yes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := tc.given(t)
			args := []string{"can"}
			for _, arg := range tc.args {
				args = append(args, g.Named(arg))
			}
			if got := g.Run(args...); got != tc.want || !strings.Contains(g.Out.String(), strings.ReplaceAll(tc.says, "OTHER", g.Named("OTHER"))) {
				t.Errorf("exit code %d, want %d, and %q on stdout\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

func TestCanRestartPrintsEveryGate(t *testing.T) {
	g := commandstest.Healthy(t)
	g.Run("can", "restart", "sample", "--class", "storage", "-o", "wide")
	golden.RequireEqual(t, g.Out.Bytes())
	if g.Run("can", "restart", "sample", "--class", "storage", "-v", "1"); strings.Count(g.Out.String(), "   yes   ") != 9 {
		t.Errorf("-v prints %s", &g.Out)
	}
}

func TestCanCountsTheChecksThatPassed(t *testing.T) {
	g := commandstest.Healthy(t)
	g.Run("can", "restart", "sample", "--class", "storage")
	if want := "yes: the processes of 3 process groups may be restarted now\n9 checks passed; -o wide lists them\n"; !strings.HasPrefix(g.Out.String(), want) || strings.Contains(g.Out.String(), "G-") {
		t.Errorf("nothing refuses: %s", &g.Out)
	}
	g = commandstest.Up(t)
	g.Run("can", "restart", "sample", "--class", "storage")
	if out := g.Out.String(); !strings.Contains(out, "\nG-UPTIME     no  ") || strings.Contains(out, "   yes   ") || !strings.Contains(out, " passed; -o wide lists them\n") {
		t.Errorf("a gate refuses: %s", out)
	}
}

func TestARefusalIncludesTheNextCommand(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("can", "restart", "sample", "-o", "json")
	var v lists.CanReport
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	last := v.Items[len(v.Items)-1]
	if v.Answer != lists.AnswerNo || v.Next[0] != "kubectl fdb why sample -n fdb --context test" || last.Need != "at least 10m0s" || last.Have == "" {
		t.Errorf("%+v", v)
	}
}
