package tui

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
)

var sgr = regexp.MustCompile(`^\x1b\[[0-9;]*m`)

// acting are actions that record their calls and return fixed results.
type acting struct {
	mu         sync.Mutex
	requested  []Ask
	carriedOut []Ask
	proposal   Proposal
	err        error
}

func (a *acting) Propose(_ context.Context, ask Ask) (Proposal, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requested = append(a.requested, ask)
	p := a.proposal
	p.Ask = ask
	return p, a.err
}

func (a *acting) CarryOut(_ context.Context, p Proposal, send func(Entry)) error {
	a.mu.Lock()
	a.carriedOut = append(a.carriedOut, p.Ask)
	a.mu.Unlock()
	for _, e := range running() {
		send(e)
	}
	return a.err
}

// playing is a dashboard with actions, whose background messages arrive in until.
type playing struct {
	t    *testing.T
	m    model
	msgs chan tea.Msg
}

func play(t *testing.T, a *acting) *playing {
	t.Helper()
	p := &playing{t: t, msgs: make(chan tea.Msg, 100)}
	p.m = shown(t, 100, 40, Options{Actions: a}, entry(lost()))
	p.m.out.send = func(msg tea.Msg) { p.msgs <- msg }
	return p
}

// until applies messages until one of a kind arrived.
func (p *playing) until(last func(tea.Msg) bool) {
	p.t.Helper()
	for {
		select {
		case msg := <-p.msgs:
			p.m = after(p.m, msg)
			if last(msg) {
				return
			}
		case <-time.After(10 * time.Minute):
			p.t.Fatal("no further message")
		}
	}
}

// read displays the current view for a moment.
func (p *playing) read() { p.m = after(after(p.m, tickMsg{noon}), tickMsg{noon}) }

func isProposed(msg tea.Msg) bool { _, is := msg.(proposalMsg); return is }
func isFinished(msg tea.Msg) bool { _, is := msg.(actionMsg); return is }

func TestTheDashboardReplacesAProcessGroup(t *testing.T) {
	a := &acting{proposal: Proposal{Plan: plannedFrom(lost().Document), Words: []string{"1 process group is replaced; 3.0GiB move"}, Confirm: "sample", CommandLine: "kubectl fdb replace sample log-2 -n fdb --context prod"}}
	p := play(t, a)
	var story strings.Builder
	scene := func(name string) { story.WriteString("# " + name + "\n" + kept(p.m.View())) }
	p.m = pressed(p.m, "R")
	scene("preparing the plan")
	p.until(isProposed)
	p.m = pressed(p.m, "y", "enter")
	scene("proposed, and earlier input is no answer")
	p.read()
	p.m = pressed(p.m, "y", "enter")
	scene("y is not enough")
	if len(a.carriedOut) > 0 {
		t.Fatal("it was carried out without its confirmation")
	}
	p.m = pressed(p.m, "backspace", "sample", "enter")
	p.until(isFinished)
	scene("done")
	if diff := cmp.Diff([]Ask{{Verb: "replace", Cluster: "sample", Subjects: []string{"log-2"}}}, a.carriedOut); diff != "" {
		t.Error(diff)
	}
	golden.RequireEqual(t, []byte(story.String()))
}

// The next tick may come right after a proposal, before a user can have read it.
func TestPromptsIgnoreAnswersBeforeTheyWereVisibleForATick(t *testing.T) {
	small, whole := tea.WindowSizeMsg{Width: minWidth - 1, Height: minHeight}, tea.WindowSizeMsg{Width: 100, Height: 40}
	tests := map[string]struct {
		msgs []tea.Msg
		want bool
	}{
		"at once":                          {},
		"after the next tick":              {msgs: []tea.Msg{tickMsg{noon}}},
		"after a whole tick":               {msgs: []tea.Msg{tickMsg{noon}, tickMsg{noon}}, want: true},
		"after ticks on a small terminal":  {msgs: []tea.Msg{small, tickMsg{noon}, tickMsg{noon}, whole}},
		"after ticks with a pane above it": {msgs: []tea.Msg{keyMsg("?"), tickMsg{noon}, tickMsg{noon}, keyMsg("esc")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := play(t, &acting{proposal: Proposal{Plan: plannedFrom(lost().Document)}})
			p.m = pressed(p.m, "R")
			p.until(isProposed)
			for _, msg := range tc.msgs {
				p.m = after(p.m, msg)
			}
			p.m = pressed(p.m, "enter")
			if got := p.m.busy(); got != tc.want {
				t.Errorf("carried out: %t, want %t\n%s", got, tc.want, p.m.View())
			}
			answered := false
			m := after(shown(t, 100, 40, Options{}), entryMsg{Entry: Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?", Answer: func(bool) { answered = true }}}})
			for _, msg := range tc.msgs {
				m = after(m, msg)
			}
			m = pressed(m, "y", "enter")
			if got := len(m.questions) == 0; got != tc.want || answered {
				t.Errorf("question answered: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestActionKeysProposeTheMatchingCommand(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want Ask
	}{
		"replace":                    {[]string{"R"}, Ask{Verb: "replace", Cluster: "sample", Subjects: []string{"log-2"}}},
		"revert a replacement":       {[]string{"K"}, Ask{Verb: "keep", Cluster: "sample", Subjects: []string{"log-2"}}},
		"exclude":                    {[]string{"X"}, Ask{Verb: "exclude", Cluster: "sample", Subjects: []string{"log-2"}}},
		"include":                    {[]string{"I"}, Ask{Verb: "include", Cluster: "sample", Subjects: []string{"log-2"}}},
		"restart":                    {[]string{"T"}, Ask{Verb: "restart", Cluster: "sample", Subjects: []string{"log-2"}}},
		"a pass":                     {[]string{"P"}, Ask{Verb: "reconcile", Cluster: "sample", Subjects: []string{}}},
		"the node of the group":      {[]string{"C"}, Ask{Verb: "cordon", Cluster: "sample", Subjects: []string{"node-3"}}},
		"draining its node":          {[]string{"D"}, Ask{Verb: "drain", Cluster: "sample", Subjects: []string{"node-3"}}},
		"uncordoning a node":         {[]string{"2", "U"}, Ask{Verb: "uncordon", Cluster: "sample", Subjects: []string{"node-3"}}},
		"moving a coordinator":       {[]string{"4", "j", "M"}, Ask{Verb: "change coordinators", Cluster: "sample", Subjects: []string{"log-2"}}},
		"pausing backups":            {[]string{"9", "B"}, Ask{Verb: "pause backups", Cluster: "sample", Subjects: []string{"nightly"}}},
		"stopping a backup":          {[]string{"9", "S"}, Ask{Verb: "stop backup", Cluster: "sample", Subjects: []string{"nightly"}}},
		"a node of its view":         {[]string{"2", "j", "C"}, Ask{Verb: "cordon", Cluster: "sample", Subjects: []string{"node-4"}}},
		"the group of another view":  {[]string{"3", "R"}, Ask{Verb: "replace", Cluster: "sample", Subjects: []string{"storage-1"}}},
		"the group that is open":     {[]string{":", "storage-5", "enter", "T"}, Ask{Verb: "restart", Cluster: "sample", Subjects: []string{"storage-5"}}},
		"the group, not the row now": {[]string{":", "storage-5", "enter", "e", "X"}, Ask{Verb: "exclude", Cluster: "sample", Subjects: []string{"storage-5"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &acting{}
			p := play(t, a)
			p.m = pressed(p.m, tc.keys...)
			p.until(isProposed)
			if diff := cmp.Diff([]Ask{tc.want}, a.requested); diff != "" {
				t.Error(diff)
			}
			if len(a.carriedOut) > 0 {
				t.Error("it was carried out without approval")
			}
		})
	}
}

// Without actions no key acts, and each shows the flag that enables it.
func TestTheReadOnlyDashboardRefusesActionKeysAndNamesTheFlag(t *testing.T) {
	for _, key := range []string{"R", "K", "X", "I", "T", "C", "U", "D", "M", "B", "S", "P"} {
		m := pressed(shown(t, 100, 40, Options{}, entry(lost())), key)
		if m.work != nil || !strings.Contains(m.View(), "read-only; --allow-actions enables actions") {
			t.Errorf("%s: %s", key, m.View())
		}
	}
}

// An approval has to be about live data.
func TestDashboardActionsRequireLiveData(t *testing.T) {
	for name, keys := range map[string][]string{"paused": {"p", "R"}, "history": {"[", "R"}} {
		a := &acting{}
		m := pressed(shown(t, 100, 40, Options{Actions: a}, entry(well()), entry(lost())), keys...)
		if m.work != nil || !strings.Contains(m.View(), "this is not live data") {
			t.Errorf("%s: %s", name, m.View())
		}
	}
}

func TestARefusedProposalCannotBeCarriedOut(t *testing.T) {
	a := &acting{proposal: Proposal{Refused: "G-AVAIL: the database is unavailable"}}
	p := play(t, a)
	p.m = pressed(p.m, "R")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "y", "enter")
	if p.m.work.phase != deciding || !strings.Contains(p.m.View(), "✗ G-AVAIL: the database is unavailable") {
		t.Errorf("phase %d: %s", p.m.work.phase, p.m.View())
	}
	p.m = pressed(p.m, "esc")
	if p.m.work != nil || len(p.m.panes) > 0 {
		t.Error("esc does not cancel it")
	}
}

func TestTheDashboardShowsTheErrorOfAFailedAction(t *testing.T) {
	a := &acting{err: errors.New("take the Lease: another run holds it")}
	p := play(t, a)
	p.m = pressed(p.m, "X")
	p.until(isProposed)
	if !strings.Contains(p.m.View(), "✗ take the Lease: another run holds it") {
		t.Error(p.m.View())
	}
}

func TestDashboardRunsOneActionAtATime(t *testing.T) {
	a := &acting{}
	p := play(t, a)
	p.m = pressed(p.m, "X")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "enter", "esc", "X")
	if p.m.work.id != 1 || !strings.Contains(p.m.View(), "exclude log-2 is still running") {
		t.Errorf("work %d: %s", p.m.work.id, p.m.View())
	}
	p.until(isFinished)
	if !strings.Contains(p.m.View(), "✓ exclude log-2 is done") {
		t.Error(p.m.View())
	}
}

func TestADashboardPromptAcceptsOnlyTheConfirmationOrNo(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want []bool
	}{
		"yes":                        {[]string{"sample", "enter"}, []bool{true}},
		"no":                         {[]string{"n", "enter"}, []bool{false}},
		"other input is no answer":   {[]string{"y", "enter"}, nil},
		"esc postpones it":           {[]string{"esc", "2", "a", "sample", "enter"}, []bool{true}},
		"q is a letter of an answer": {[]string{"q", "backspace", "n", "enter"}, []bool{false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []bool
			m := shown(t, 100, 40, Options{}, entry(lost()), Entry{At: noon, Cluster: "sample", Question: &Question{
				Text: "Delete sample-storage-3?", Words: []string{"its data is on no other process"}, Confirm: "sample", Answer: func(yes bool) { got = append(got, yes) },
			}})
			m = pressed(m, "sample", "enter") // too early to be an answer to it
			m = after(after(m, tickMsg{noon}), tickMsg{noon})
			for _, k := range tc.keys {
				next, cmd := m.Update(keyMsg(k))
				m = next.(model)
				if cmd != nil {
					cmd()
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if waits := len(m.questions) > 0; waits != (tc.want == nil) {
				t.Errorf("a question is open: %v", waits)
			}
		})
	}
}

// A question ends with its action.
func TestADashboardPromptClosesWhenItsActionFinishes(t *testing.T) {
	p := play(t, &acting{})
	p.m = pressed(p.m, "P")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "enter")
	p.m = after(p.m, entryMsg{Entry: Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?"}}, work: p.m.work.id})
	if !p.m.shows(paneQuestion) {
		t.Fatal("the question does not show")
	}
	p.until(isFinished)
	if len(p.m.questions) > 0 || p.m.shows(paneQuestion) {
		t.Error("the question stays")
	}
}

// Input for something else must not answer a new question.
func TestAPromptDoesNotTakeKeysTypedForAnotherInput(t *testing.T) {
	question := Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?"}}
	m := pressed(shown(t, 100, 40, Options{}, entry(lost())), "/", "sto")
	m = pressed(after(m, entryMsg{Entry: question}), "y", "enter")
	if len(m.questions) != 1 || m.choice.filter != "stoy" || !strings.Contains(m.View(), "! answer required (press a): Go on?") {
		t.Errorf("filter %q, %s", m.choice.filter, m.View())
	}
	p := play(t, &acting{proposal: Proposal{Confirm: "y"}})
	p.m = pressed(p.m, "R")
	p.until(isProposed)
	p.read()
	p.m = pressed(after(p.m, entryMsg{Entry: question}), "y", "enter")
	if len(p.m.questions) != 1 || p.m.work.phase == deciding {
		t.Errorf("%d questions, phase %d", len(p.m.questions), p.m.work.phase)
	}
}

// A wrong answer is cleared, and need not be deleted letter by letter.
func TestAWrongPromptAnswerIsCleared(t *testing.T) {
	a := &acting{proposal: Proposal{Plan: plannedFrom(lost().Document), Confirm: "y"}}
	p := play(t, a)
	p.m = pressed(p.m, "R")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "z", "enter")
	if view := p.m.View(); !strings.HasSuffix(view, "z is not a valid answer: type y to confirm, or esc") {
		t.Error(view)
	}
	if p.m = pressed(p.m, "y", "enter"); !p.m.busy() {
		t.Errorf("y is no longer accepted:\n%s", p.m.View())
	}
	for name, keys := range map[string][]string{"a wrong answer": {"z", "enter", "y", "enter"}, "an answer that was left": {"z", "esc", "a", "y", "enter"}} {
		m := after(shown(t, 100, 40, Options{}), entryMsg{Entry: Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?"}}})
		m = after(after(m, tickMsg{noon}), tickMsg{noon})
		if m = pressed(m, keys...); len(m.questions) > 0 {
			t.Errorf("%s: y is no longer accepted:\n%s", name, m.View())
		}
	}
}

func TestCtrlZDoesNotSuspendTheDashboardDuringActions(t *testing.T) {
	idle, acts := shown(t, 100, 40, Options{}), play(t, &acting{proposal: Proposal{Plan: plannedFrom(lost().Document)}})
	acts.m = pressed(acts.m, "R")
	acts.until(isProposed)
	acts.read()
	acts.m = pressed(acts.m, "enter")
	tests := map[string]struct {
		m    model
		want bool
	}{
		"a read-only dashboard": {idle, true},
		"while an action runs":  {acts.m, false},
		"while passes run":      {shown(t, 100, 40, Options{Passes: true}), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			next, cmd := tc.m.Update(tea.KeyMsg{Type: tea.KeyCtrlZ})
			suspends := false
			if cmd != nil {
				_, suspends = cmd().(tea.SuspendMsg)
			}
			if suspends != tc.want || strings.Contains(next.View(), "half done") == tc.want {
				t.Errorf("suspends: %t, want %t\n%s", suspends, tc.want, next.View())
			}
		})
	}
}

func TestADashboardProposalSqueezesWideTables(t *testing.T) {
	m := shown(t, 80, 24, Options{})
	m.work = &work{phase: deciding, proposal: Proposal{Words: []string{"NODE" + strings.Repeat(" ", 30) + "GROUP" + strings.Repeat(" ", 50) + "FITS"}}}
	if text := m.workText(m.clusterView())[1].Text(); text != "  NODE  GROUP  FITS" {
		t.Errorf("%q", text)
	}
}
