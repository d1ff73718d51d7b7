package dashboard_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dashboard"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// pressed is what keys of a screen do to a cluster.
type pressed struct {
	*commandstest.Given
	*dashboard.ScreenActions
	lines []string
	// yes is what is answered to what passes ask.
	yes       bool
	questions []tui.Question
}

func atTheScreen(t *testing.T) *pressed {
	t.Helper()
	g := commandstest.Up(t)
	g.Cluster.Tick(time.Hour) // since the last recovery
	g.Out.Reset()
	g.Err.Reset()
	return &pressed{Given: g, ScreenActions: dashboard.NewScreenActions(g.Environment(), "fdb")}
}

func (k *pressed) propose(verb string, subjects ...string) tui.Proposal {
	k.T.Helper()
	p, err := k.Propose(k.T.Context(), tui.Ask{Verb: verb, Cluster: "sample", Subjects: subjects})
	if err != nil {
		k.T.Fatal(err)
	}
	return p
}

func (k *pressed) send(e tui.Entry) {
	if e.Question == nil {
		k.lines = append(k.lines, string(e.Pass))
		return
	}
	k.questions = append(k.questions, *e.Question)
	e.Question.Answer(k.yes)
}

// storage is a storage group that is no coordinator.
func (k *pressed) storage() string {
	k.T.Helper()
	for _, g := range k.Cluster.Resource.Status.ProcessGroups {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			return string(g.ProcessGroupID)
		}
	}
	k.T.Fatal("no storage group")
	return ""
}

func TestDashboardProposalsMatchTheCommands(t *testing.T) {
	tests := map[string]struct {
		verb    string
		subject func(k *pressed) []string
		given   func(k *pressed)
		confirm string
		line    string
		words   string
		refused string
	}{
		"replace": {verb: "replace", confirm: "y", line: "kubectl fdb replace sample STORAGE --wait -n fdb --context test"},
		"revert a replacement": {
			verb: "keep", confirm: "y", line: "kubectl fdb replace sample STORAGE --undo --include --wait -n fdb --context test",
			given: func(k *pressed) {
				k.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(k.storage())).MarkForRemoval(k.Cluster.Now())
			},
			words: `{"spec":{"cancelReplacementsForInstance":["STORAGE"]}}`,
		},
		"exclude": {verb: "exclude", confirm: "y", line: "kubectl fdb exclude sample STORAGE -n fdb --context test", words: "undo: kubectl fdb include sample STORAGE"},
		"include, which another one reverts": {
			verb: "include", line: "kubectl fdb include sample STORAGE -n fdb --context test",
			given: func(k *pressed) { k.Exclude("locality_instance_id:" + k.storage()); k.Cluster.Tick(time.Hour) },
		},
		"restart": {verb: "restart", confirm: "y", line: "kubectl fdb restart sample STORAGE --since="},
		"cordon moves nothing": {
			given: func(k *pressed) { commandstest.WithTaintRule(k.Given) }, verb: "cordon", subject: func(k *pressed) []string { return k.Cluster.Nodes[:1] }, line: "kubectl fdb cordon node-1 -c sample --evacuate=none -n fdb --context test",
			words: "undo: kubectl fdb uncordon node-1",
		},
		"uncordon": {
			verb: "uncordon", given: func(k *pressed) { k.Cluster.Cordoned = map[string]bool{k.Cluster.Nodes[0]: true} }, subject: func(k *pressed) []string { return k.Cluster.Nodes[:1] },
			line: "kubectl fdb uncordon node-1 -c sample -n fdb --context test",
		},
		"drain": {
			verb: "drain", subject: func(k *pressed) []string { return k.Cluster.Nodes[:1] }, confirm: "y",
			line: "kubectl fdb drain node-1 -c sample", words: "undo: kubectl fdb uncordon node-1",
		},
		"coordinators that match the spec": {
			verb: "change coordinators", subject: func(*pressed) []string { return nil }, confirm: "y",
			line: "kubectl fdb coordinators change sample --wait -n fdb --context test", refused: "nothing to do",
		},
		"reconcile with nothing to do": {
			verb: "reconcile", subject: func(*pressed) []string { return []string{} }, confirm: "y",
			line: "kubectl fdb reconcile sample -n fdb --context test", refused: "nothing to do",
		},
		"a group that is not there": {
			verb: "replace", subject: func(*pressed) []string { return []string{"storage-0"} }, refused: "cluster sample not found: storage-0",
		},
		"without the right": {
			verb: "replace", given: func(k *pressed) { k.Denied = []string{"create pods"} }, refused: "not permitted in namespace fdb: create pods",
			line: "kubectl fdb replace sample STORAGE --wait -n fdb --context test",
		},
		"beside an operator": {
			verb: "replace", confirm: "y", given: func(k *pressed) { k.Evaluated = commandstest.OperatorLives }, refused: "G-OPERATOR",
			line: "kubectl fdb replace sample STORAGE --wait -n fdb --context test",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := atTheScreen(t)
			if tc.given != nil {
				tc.given(k)
			}
			subjects := []string{k.storage()}
			if tc.subject != nil {
				subjects = tc.subject(k)
			}
			k.Cluster.Acted = nil
			p := k.propose(tc.verb, subjects...)
			if p.Confirm != tc.confirm || !strings.Contains(p.Refused, tc.refused) || (p.Refused == "") != (tc.refused == "") {
				t.Errorf("confirm %q, refused %q", p.Confirm, p.Refused)
			}
			line := strings.ReplaceAll(tc.line, "STORAGE", k.storage())
			if !strings.HasPrefix(p.CommandLine, line) {
				t.Errorf("the command is %s, want %s", p.CommandLine, line)
			}
			if words := strings.Join(p.Words, "\n"); !strings.Contains(words, strings.ReplaceAll(tc.words, "STORAGE", k.storage())) {
				t.Errorf("words: %s", words)
			}
			if len(k.Cluster.Acted) > 0 || k.Out.Len()+k.Err.Len() > 0 {
				t.Errorf("acted %d times, and printed %s%s", len(k.Cluster.Acted), &k.Out, &k.Err)
			}
		})
	}
}

func TestTheDashboardReplacesAProcessGroup(t *testing.T) {
	k := atTheScreen(t)
	k.yes = true
	id := k.storage()
	p := k.propose("replace", id)
	if err := k.CarryOut(t.Context(), p, k.send); err != nil {
		t.Fatalf("%v: %s", err, strings.Join(k.lines, "\n"))
	}
	if k.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)) != nil || k.Cluster.Locked() {
		t.Errorf("%s is still there, or the lock is", id)
	}
	last := k.lines[len(k.lines)-1]
	if !strings.Contains(last, `"kind":"ChangeResult"`) || !strings.Contains(last, `"reached":true`) {
		t.Errorf("the last line: %s", last)
	}
	for _, line := range k.lines {
		commandstest.Valid(t, "a line", []byte(line))
	}
	if k.Out.Len()+k.Err.Len() > 0 {
		t.Errorf("something was printed while the TUI is up: %s%s", &k.Out, &k.Err)
	}
	if len(k.questions) > 0 {
		t.Errorf("a prompt for what the forecast of the proposal had: %v", k.questions[0].Words)
	}
}

// The user reads the same plan and forecast before both, and is prompted as often.
func TestAKeyPromptsAsOftenAsItsCommand(t *testing.T) {
	for verb, subjects := range map[string]func(k *pressed) []string{
		"replace": func(k *pressed) []string { return []string{k.storage()} },
		"exclude": func(k *pressed) []string { return []string{k.storage()} },
		"restart": func(k *pressed) []string { return []string{k.storage()} },
		"drain":   func(k *pressed) []string { return []string{k.NodeOf(v1beta2.ProcessClassStorage)} },
		"change coordinators": func(k *pressed) []string {
			return []string{string(k.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)}
		},
	} {
		t.Run(verb, func(t *testing.T) {
			k, typed := atTheScreen(t), atTheScreen(t)
			k.yes, typed.Input = true, new(strings.Repeat("y\n", 5))
			p := k.propose(verb, subjects(k)...)
			if p.Refused != "" {
				t.Fatal(p.Refused)
			}
			typed.Run(strings.Fields(p.CommandLine)[2:]...)
			prompts := strings.Count(typed.Err.String(), "[y/N]")
			foresees := strings.Contains(typed.Err.String(), "Forecast: ")
			if err := k.CarryOut(t.Context(), p, k.send); err != nil {
				t.Error(err)
			}
			if got := 1 + len(k.questions); got != prompts || p.Plan.Foresees() != foresees {
				t.Errorf("%d prompts, forecast %t; the command has %d, forecast %t: %s", got, p.Plan.Foresees(), prompts, foresees, &typed.Err)
			}
			if len(k.Changes()) != len(typed.Changes()) {
				t.Errorf("did %v, the command %v", k.Changes(), typed.Changes())
			}
		})
	}
}

func TestDashboardActionsBeyondTheProposalRequireApproval(t *testing.T) {
	k := atTheScreen(t)
	other := k.Cluster.Resource.Status.ProcessGroups[0]
	k.MeddleAfter(1, func(*v1beta2.FoundationDBCluster) { k.Cluster.KillPod(other.PodName(k.Cluster.Resource)) })
	p := k.propose("replace", k.storage())
	k.Cluster.Acted = nil
	err := k.CarryOut(t.Context(), p, k.send)
	if err == nil || !strings.Contains(err.Error(), "declined") {
		t.Errorf("%v", err)
	}
	for _, a := range k.Cluster.Acted {
		if create, is := a.(plan.CreatePod); is && create.Group == other.ProcessGroupID {
			t.Errorf("%s, which was not approved", a.Describe())
		}
	}
	if k.Cluster.Locked() {
		t.Error("the lock is kept")
	}
	if len(k.questions) != 1 {
		t.Fatalf("%d questions", len(k.questions))
	}
	q := k.questions[0]
	if len(q.Words) != 1 || !strings.Contains(q.Words[0], "which is not in the approved plan") || q.Plan == nil || len(q.Plan.Items) == 0 {
		t.Errorf("the prompt has %q and the plan %+v", q.Words, q.Plan)
	}
}

// Actions with the same run ID would be one run in history, and undone together.
func TestEachActionOfADashboardIsARunOfItsOwn(t *testing.T) {
	k := atTheScreen(t)
	first, second := k.propose("restart", k.storage()), k.propose("restart", k.storage())
	if a, b := first.Plan.Metadata.RunID, second.Plan.Metadata.RunID; a == "" || a == b {
		t.Errorf("the runs %q and %q", a, b)
	}
}

func TestDashboardCarriesOutOnlyTheLastProposal(t *testing.T) {
	k := atTheScreen(t)
	first := k.propose("replace", k.storage())
	second := k.propose("restart", k.storage())
	k.Cluster.Acted = nil
	other := second
	other.Plan = &planned.PlanView{Digest: "another"}
	for name, p := range map[string]tui.Proposal{"an earlier one": first, "another plan": other, "no plan": {Ask: first.Ask}} {
		k.Proposed = &dashboard.Proposed{Proposal: second, At: k.Cluster.Now()}
		if err := k.CarryOut(t.Context(), p, k.send); err == nil || !strings.Contains(err.Error(), "not the last proposal") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(k.Cluster.Acted) > 0 {
		t.Errorf("%s", k.Cluster.Acted[0].Describe())
	}
	p := k.propose("exclude", k.storage())
	if err := k.CarryOut(t.Context(), p, k.send); err != nil {
		t.Error(err)
	}
	if err := k.CarryOut(t.Context(), p, k.send); err == nil {
		t.Error("one approval was good for two runs")
	}
}

// A command that another one reverts has no prompt, and still does no more than was shown.
func TestARevertWithoutAPromptIsBoundToTheShownProposal(t *testing.T) {
	tests := map[string]struct {
		moved func(k *pressed)
		says  string // empty where it is carried out
	}{
		"as it was":       {moved: func(*pressed) {}},
		"another spec":    {moved: func(k *pressed) { commandstest.Recompute(k.Cluster.Resource) }, says: "declined (nothing was changed)"},
		"another cluster": {moved: func(k *pressed) { commandstest.Remake(k.Cluster.Resource) }, says: "the approved resource was deleted and recreated under the same name"},
		"minutes later":   {moved: func(k *pressed) { k.Cluster.Tick(6 * time.Minute) }, says: "the proposal is 6m0s old and expired after 5m0s (nothing was changed)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := atTheScreen(t)
			k.Exclude("locality_instance_id:" + k.storage())
			k.Cluster.Tick(time.Hour)
			p := k.propose("include", k.storage())
			if p.Confirm != "" || p.Refused != "" {
				t.Fatalf("confirm %q, refused %q", p.Confirm, p.Refused)
			}
			k.Cluster.Acted = nil
			tc.moved(k)
			err := k.CarryOut(t.Context(), p, k.send)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
			if did := len(k.Changes()) > 0; did != (tc.says == "") {
				t.Errorf("did %v", k.Changes())
			}
		})
	}
}

func TestAKeyWithoutAPromptDoesNothingBeyondTheShownPlan(t *testing.T) {
	k := atTheScreen(t)
	k.Exclude("locality_instance_id:" + k.storage())
	k.Cluster.Tick(time.Hour)
	p := k.propose("include", k.storage())
	k.Cluster.Acted = nil
	seen := *k.Proposed.Plan
	seen.Items = nil // as if something else had been shown
	k.Proposed.Plan = &seen
	if err := k.CarryOut(t.Context(), p, k.send); err == nil || len(k.Changes()) > 0 {
		t.Errorf("%v, did %v", err, k.Changes())
	}
}

// To the Lease both are the same holder's, so that it keeps neither from acting.
func TestTwoPassesOfOneDashboardNeverActConcurrently(t *testing.T) {
	k := atTheScreen(t)
	p := k.propose("replace", k.storage())
	end, err := k.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.Cluster.Acted = nil
	ctx, leave := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- k.CarryOut(ctx, p, k.send) }()
	time.Sleep(50 * time.Millisecond)
	if len(k.Cluster.Acted) > 0 {
		t.Errorf("%s, while another pass runs", k.Cluster.Acted[0].Describe())
	}
	leave()
	if err := <-ran; err == nil || !strings.Contains(err.Error(), "stopped in the dashboard") || len(k.Cluster.Acted) > 0 {
		t.Errorf("%v", err)
	}
	end()
	if _, err := k.Turn(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestClosingTheDashboardStopsARunAndReleasesTheLease(t *testing.T) {
	k := atTheScreen(t)
	k.yes = true
	ctx, leave := context.WithCancel(t.Context())
	id := k.storage()
	p := k.propose("replace", id)
	err := k.CarryOut(ctx, p, func(e tui.Entry) {
		if strings.Contains(string(e.Pass), `"event":"acted"`) {
			leave()
		}
		k.send(e)
	})
	if err == nil || !strings.Contains(err.Error(), "stopped in the dashboard") || k.Cluster.Locked() {
		t.Errorf("%v, locked %t", err, k.Cluster.Locked())
	}
	env := k.Environment()
	k.Wait(env)
	if !strings.Contains(k.Err.String(), "replace "+id+" of sample ended: stopped in the dashboard; run again: kubectl fdb replace sample "+id) {
		t.Errorf("how it ended is not reported: %s", &k.Err)
	}
}

func TestDashboardPassesRequireApprovalAndPermissions(t *testing.T) {
	tests := map[string]struct {
		yes    bool
		denied []string
		want   string
	}{
		"agreed":        {yes: true},
		"declined":      {want: "declined"},
		"without right": {denied: []string{"watch pods"}, want: "not permitted in namespace fdb: watch pods"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := &pressed{Given: commandstest.NewGiven(t), yes: tc.yes}
			k.ScreenActions = dashboard.NewScreenActions(k.Environment(), "fdb")
			k.Denied = tc.denied
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r := &dashboard.ReconcilingFeed{Feed: untilDone{}, Actions: k.ScreenActions}
			send := func(e tui.Entry) {
				k.send(e)
				var line struct{ Event, Kind, Ending string }
				if json.Unmarshal(e.Pass, &line) == nil && (line.Ending == "settled" || line.Kind == "Error") {
					leave()
				}
			}
			r.Follow(ctx, "sample", send)
			k.Wait(k.Environment())
			if err := r.End(); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if k.Cluster.Resource.Status.Configured != tc.yes {
				t.Errorf("configured %t: %s", k.Cluster.Resource.Status.Configured, strings.Join(k.lines, "\n"))
			}
			if tc.yes && (len(k.questions) == 0 || k.questions[0].Plan == nil) {
				t.Error("no prompt")
			}
			for _, line := range k.lines {
				commandstest.Valid(t, "a line", []byte(line))
			}
		})
	}
}

// untilDone is a feed of nothing.
type untilDone struct{}

func (untilDone) Follow(ctx context.Context, _ string, _ func(tui.Entry)) { <-ctx.Done() }

func (untilDone) Refresh() {}

func TestEveryDashboardActionIsACommand(t *testing.T) {
	root := commands.NewRoot(commandstest.NewGiven(t).Environment())
	for verb := range dashboard.ScreenVerbs {
		command := verb
		if verb == "keep" {
			command = "replace" // --undo --include
		}
		words := strings.Fields(command)
		if command == "change coordinators" {
			words = []string{"coordinators", "change"}
		}
		if cmd, _, err := root.Find(words); err != nil || cmd.Name() != words[len(words)-1] {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if diff := cmp.Diff(9, len(dashboard.ScreenVerbs)); diff != "" {
		t.Error(diff)
	}
}
