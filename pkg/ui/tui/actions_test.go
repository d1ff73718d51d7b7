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

// acting are actions that note what they were asked for, and answer as they are told.
type acting struct {
	mu       sync.Mutex
	asked    []Ask
	carried  []Ask
	proposal Proposal
	err      error
}

func (a *acting) Propose(_ context.Context, ask Ask) (Proposal, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, ask)
	p := a.proposal
	p.Ask = ask
	return p, a.err
}

func (a *acting) CarryOut(_ context.Context, p Proposal, send func(Entry)) error {
	a.mu.Lock()
	a.carried = append(a.carried, p.Ask)
	a.mu.Unlock()
	for _, e := range running() {
		send(e)
	}
	return a.err
}

// playing is a screen with actions, whose messages from beside it come when waited for.
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

// until takes messages over until one of a kind came.
func (p *playing) until(last func(tea.Msg) bool) {
	p.t.Helper()
	for {
		select {
		case msg := <-p.msgs:
			p.m = after(p.m, msg)
			if last(msg) {
				return
			}
		case <-time.After(10 * time.Second):
			p.t.Fatal("nothing more is told")
		}
	}
}

// read is the screen after what is on it was there for a moment.
func (p *playing) read() { p.m = after(after(p.m, ticks{noon}), ticks{noon}) }

func isProposed(msg tea.Msg) bool { _, is := msg.(proposed); return is }
func isCarried(msg tea.Msg) bool  { _, is := msg.(carried); return is }

func TestAReplacementFromTheScreen(t *testing.T) {
	a := &acting{proposal: Proposal{Plan: planned(lost().Document), Words: []string{"1 process group is replaced; 3.0GiB move"}, Confirm: "sample", CommandLine: "kubectl fdb replace sample log-2 -n fdb --context prod"}}
	p := play(t, a)
	var story strings.Builder
	scene := func(name string) { story.WriteString("# " + name + "\n" + kept(p.m.View())) }
	p.m = pressed(p.m, "r")
	scene("working it out")
	p.until(isProposed)
	p.m = pressed(p.m, "y", "enter")
	scene("proposed, and what was typed before is no answer")
	p.read()
	p.m = pressed(p.m, "y", "enter")
	scene("y is not enough")
	if len(a.carried) > 0 {
		t.Fatal("it was carried out without what had to be typed")
	}
	p.m = pressed(p.m, "backspace", "sample", "enter")
	p.until(isCarried)
	scene("done")
	if diff := cmp.Diff([]Ask{{Verb: "replace", Cluster: "sample", Subjects: []string{"log-2"}}}, a.carried); diff != "" {
		t.Error(diff)
	}
	golden.RequireEqual(t, []byte(story.String()))
}

// The next beat may come a moment after a proposal did, and before anybody can have read it.
func TestWhatWasNotOnTheScreenForABeatIsNotAnswered(t *testing.T) {
	small, whole := tea.WindowSizeMsg{Width: leastWidth - 1, Height: leastHeight}, tea.WindowSizeMsg{Width: 100, Height: 40}
	tests := map[string]struct {
		msgs []tea.Msg
		want bool
	}{
		"at once":                             {},
		"after the beat that came next":       {msgs: []tea.Msg{ticks{noon}}},
		"after a whole beat":                  {msgs: []tea.Msg{ticks{noon}, ticks{noon}}, want: true},
		"after beats on a screen too small":   {msgs: []tea.Msg{small, ticks{noon}, ticks{noon}, whole}},
		"after beats with something above it": {msgs: []tea.Msg{keyMsg("?"), ticks{noon}, ticks{noon}, keyMsg("esc")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := play(t, &acting{proposal: Proposal{Plan: planned(lost().Document)}})
			p.m = pressed(p.m, "r")
			p.until(isProposed)
			for _, msg := range tc.msgs {
				p.m = after(p.m, msg)
			}
			p.m = pressed(p.m, "enter")
			if got := p.m.busy(); got != tc.want {
				t.Errorf("carried out: %t, want %t\n%s", got, tc.want, p.m.View())
			}
			answered := false
			m := after(shown(t, 100, 40, Options{}), told{Entry: Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?", Answer: func(bool) { answered = true }}}})
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

func TestWhatKeysAskFor(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want Ask
	}{
		"replace":                    {[]string{"r"}, Ask{"replace", "sample", []string{"log-2"}}},
		"exclude":                    {[]string{"x"}, Ask{"exclude", "sample", []string{"log-2"}}},
		"include":                    {[]string{"i"}, Ask{"include", "sample", []string{"log-2"}}},
		"restart":                    {[]string{"R"}, Ask{"restart", "sample", []string{"log-2"}}},
		"a pass":                     {[]string{"g"}, Ask{"reconcile", "sample", []string{}}},
		"the node of the group":      {[]string{"C"}, Ask{"cordon", "sample", []string{"node-3"}}},
		"a node of its view":         {[]string{"2", "j", "C"}, Ask{"cordon", "sample", []string{"node-4"}}},
		"the group of another view":  {[]string{"3", "r"}, Ask{"replace", "sample", []string{"storage-1"}}},
		"the group that is open":     {[]string{":", "storage-5", "enter", "R"}, Ask{"restart", "sample", []string{"storage-5"}}},
		"the group, not the row now": {[]string{":", "storage-5", "enter", "e", "x"}, Ask{"exclude", "sample", []string{"storage-5"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &acting{}
			p := play(t, a)
			p.m = pressed(p.m, tc.keys...)
			p.until(isProposed)
			if diff := cmp.Diff([]Ask{tc.want}, a.asked); diff != "" {
				t.Error(diff)
			}
			if len(a.carried) > 0 {
				t.Error("it was carried out unasked")
			}
		})
	}
}

// Without actions no key asks for anything, and each says which flag allows it.
func TestAScreenThatOnlyShowsDoesNothing(t *testing.T) {
	for _, key := range []string{"r", "x", "i", "R", "C", "g"} {
		m := pressed(shown(t, 100, 40, Options{}, entry(lost())), key)
		if m.work != nil || !strings.Contains(m.View(), "keys change nothing here; --allow-actions lets them act") {
			t.Errorf("%s: %s", key, m.View())
		}
	}
}

// What is approved has to be what is so: not how it was some time ago.
func TestNothingIsDoneFromAScreenThatIsNotNow(t *testing.T) {
	for name, keys := range map[string][]string{"paused": {"p", "r"}, "looking back": {"[", "r"}} {
		a := &acting{}
		m := pressed(shown(t, 100, 40, Options{Actions: a}, entry(well()), entry(lost())), keys...)
		if m.work != nil || !strings.Contains(m.View(), "this is not how it is now") {
			t.Errorf("%s: %s", name, m.View())
		}
	}
}

func TestARefusedProposalCannotBeCarriedOut(t *testing.T) {
	a := &acting{proposal: Proposal{Refused: "G-AVAIL: the database is unavailable"}}
	p := play(t, a)
	p.m = pressed(p.m, "r")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "y", "enter")
	if p.m.work.phase != deciding || !strings.Contains(p.m.View(), "✗ G-AVAIL: the database is unavailable") {
		t.Errorf("phase %d: %s", p.m.work.phase, p.m.View())
	}
	p.m = pressed(p.m, "esc")
	if p.m.work != nil || len(p.m.panes) > 0 {
		t.Error("esc does not leave it")
	}
}

func TestAnActionThatFailsSaysSo(t *testing.T) {
	a := &acting{err: errors.New("taking the Lease: somebody else has it")}
	p := play(t, a)
	p.m = pressed(p.m, "x")
	p.until(isProposed)
	if !strings.Contains(p.m.View(), "✗ taking the Lease: somebody else has it") {
		t.Error(p.m.View())
	}
}

func TestOneActionAtATime(t *testing.T) {
	a := &acting{}
	p := play(t, a)
	p.m = pressed(p.m, "x")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "enter", "esc", "x")
	if p.m.work.id != 1 || !strings.Contains(p.m.View(), "exclude log-2 still runs") {
		t.Errorf("work %d: %s", p.m.work.id, p.m.View())
	}
	p.until(isCarried)
	if !strings.Contains(p.m.View(), "✓ exclude log-2 is done") {
		t.Error(p.m.View())
	}
}

func TestAQuestionIsAnsweredOnTheScreen(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want []bool
	}{
		"yes":                           {[]string{"sample", "enter"}, []bool{true}},
		"no":                            {[]string{"n", "enter"}, []bool{false}},
		"something else is no answer":   {[]string{"y", "enter"}, nil},
		"esc leaves it for later":       {[]string{"esc", "2", "a", "sample", "enter"}, []bool{true}},
		"q is a letter while one types": {[]string{"q", "backspace", "n", "enter"}, []bool{false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []bool
			m := shown(t, 100, 40, Options{}, entry(lost()), Entry{At: noon, Cluster: "sample", Question: &Question{
				Text: "Delete sample-storage-3?", Words: []string{"its data is on no other process"}, Confirm: "sample", Answer: func(yes bool) { got = append(got, yes) },
			}})
			m = pressed(m, "sample", "enter") // too early to be meant for it
			m = after(after(m, ticks{noon}), ticks{noon})
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
				t.Errorf("it waits for an answer: %v", waits)
			}
		})
	}
}

// Nobody waits any more for the answer to a question of an action that has ended.
func TestAQuestionEndsWithWhoAsked(t *testing.T) {
	p := play(t, &acting{})
	p.m = pressed(p.m, "g")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "enter")
	p.m = after(p.m, told{Entry: Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?"}}, work: p.m.work.id})
	if !p.m.shows(paneQuestion) {
		t.Fatal("the question does not show")
	}
	p.until(isCarried)
	if len(p.m.questions) > 0 || p.m.shows(paneQuestion) {
		t.Error("the question stays")
	}
}

// A question that comes up must not be answered by what was meant for something else.
func TestAQuestionDoesNotComeBetweenWhatIsTyped(t *testing.T) {
	question := Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?"}}
	m := pressed(shown(t, 100, 40, Options{}, entry(lost())), "/", "sto")
	m = pressed(after(m, told{Entry: question}), "y", "enter")
	if len(m.questions) != 1 || m.choice.filter != "stoy" || !strings.Contains(m.View(), "! a question waits: Go on? (a shows it)") {
		t.Errorf("filter %q, %s", m.choice.filter, m.View())
	}
	p := play(t, &acting{proposal: Proposal{Confirm: "y"}})
	p.m = pressed(p.m, "r")
	p.until(isProposed)
	p.read()
	p.m = pressed(after(p.m, told{Entry: question}), "y", "enter")
	if len(p.m.questions) != 1 || p.m.work.phase == deciding {
		t.Errorf("%d questions, phase %d", len(p.m.questions), p.m.work.phase)
	}
}

// Who mistyped begins anew, and need not take it back letter by letter.
func TestAWrongAnswerIsForgotten(t *testing.T) {
	a := &acting{proposal: Proposal{Plan: planned(lost().Document), Confirm: "y"}}
	p := play(t, a)
	p.m = pressed(p.m, "r")
	p.until(isProposed)
	p.read()
	p.m = pressed(p.m, "z", "enter")
	if view := p.m.View(); !strings.HasSuffix(view, "z is no answer: type y to agree, or esc") {
		t.Error(view)
	}
	if p.m = pressed(p.m, "y", "enter"); !p.m.busy() {
		t.Errorf("y is no answer any more:\n%s", p.m.View())
	}
	for name, keys := range map[string][]string{"a wrong answer": {"z", "enter", "y", "enter"}, "an answer that was left": {"z", "esc", "a", "y", "enter"}} {
		m := after(shown(t, 100, 40, Options{}), told{Entry: Entry{At: noon, Cluster: "sample", Question: &Question{Text: "Go on?"}}})
		m = after(after(m, ticks{noon}), ticks{noon})
		if m = pressed(m, keys...); len(m.questions) > 0 {
			t.Errorf("%s: y is no answer any more:\n%s", name, m.View())
		}
	}
}

func TestWhatActsIsNotStoppedHalfDone(t *testing.T) {
	idle, acts := shown(t, 100, 40, Options{}), play(t, &acting{proposal: Proposal{Plan: planned(lost().Document)}})
	acts.m = pressed(acts.m, "r")
	acts.until(isProposed)
	acts.read()
	acts.m = pressed(acts.m, "enter")
	tests := map[string]struct {
		m    model
		want bool
	}{
		"a screen that only shows": {idle, true},
		"while an action runs":     {acts.m, false},
		"while passes run":         {shown(t, 100, 40, Options{Passes: true}), false},
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
