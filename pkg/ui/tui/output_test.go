package tui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// reading are reads that record what was requested and return fixed texts.
type reading struct {
	requested []entries.Object
	lines     []string
	err       error
}

func (r *reading) YAML(_ context.Context, o entries.Object) (string, error) {
	r.requested = append(r.requested, o)
	return "kind: Pod\nmetadata:\n  name: \x1b[2Jx\n", r.err
}

func (r *reading) Logs(ctx context.Context, _, _ string, send func([]string)) error {
	send(r.lines)
	if r.err == nil {
		<-ctx.Done()
	}
	return r.err
}

func (r *reading) Shell(cluster, pod string) *exec.Cmd { return exec.Command("true", cluster, pod) }

// reads is a dashboard with reads, whose messages arrive in until.
func reads(t *testing.T, r *reading, keys ...string) *playing {
	t.Helper()
	p := &playing{t: t, msgs: make(chan tea.Msg, 100)}
	p.m = shown(t, 100, 40, Options{Reads: r}, entry(lost()))
	p.m.out.send = func(msg tea.Msg) { p.msgs <- msg }
	p.m = pressed(p.m, keys...)
	return p
}

func TestTheTitleOfYAMLNamesWhatIsShown(t *testing.T) {
	for key, want := range map[string]string{"1": "YAML of log-2 in sample", "6": "YAML of sample"} {
		p := reads(t, &reading{}, key, "y")
		if view := p.m.View(); !strings.Contains(view, "\n"+want+"\n") && !strings.Contains(view, want+" ") {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
}

func TestTheYAMLPaneShowsTheSelectedRow(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want entries.Object
	}{
		"a process group": {nil, entries.Object{Cluster: "sample", Kind: entries.OfGroup, Name: "log-2"}},
		"a node":          {[]string{"2"}, entries.Object{Cluster: "sample", Kind: entries.OfNode, Name: "node-3"}},
		"a backup":        {[]string{"9"}, entries.Object{Cluster: "sample", Kind: entries.OfBackup, Name: "nightly"}},
		"a restore":       {[]string{"9", "G"}, entries.Object{Cluster: "sample", Kind: entries.OfRestore, Name: "again"}},
		"the cluster":     {[]string{"6"}, entries.Object{Cluster: "sample"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &reading{}
			p := reads(t, r, append(tc.keys, "y")...)
			p.until(func(msg tea.Msg) bool { o, is := msg.(outputMsg); return is && o.over })
			if diff := cmp.Diff([]entries.Object{tc.want}, r.requested); diff != "" {
				t.Error(diff)
			}
			if view := p.m.View(); !strings.Contains(view, "kind: Pod") || strings.Contains(view, "\x1b") {
				t.Error(view)
			}
		})
	}
}

func TestDashboardLogsFollowTheEndUntilScrolled(t *testing.T) {
	r := &reading{lines: strings.Split(strings.Repeat("line\n", 99)+"the end", "\n")}
	p := reads(t, r, "l")
	p.until(func(msg tea.Msg) bool { _, is := msg.(outputMsg); return is })
	if view := p.m.View(); !strings.Contains(view, "the end") {
		t.Errorf("the last line is not shown:\n%s", view)
	}
	p.m = after(pressed(p.m, "k", "k"), outputMsg{id: p.m.output.id, lines: []string{"even later"}})
	if view := p.m.View(); strings.Contains(view, "even later") {
		t.Errorf("a user who scrolls is taken away:\n%s", view)
	}
	if view := pressed(p.m, "G").View(); !strings.Contains(view, "even later") {
		t.Errorf("G does not go to the end:\n%s", view)
	}
}

func TestSearchingALogGoesToItsMatches(t *testing.T) {
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i)
	}
	for _, i := range []int{20, 60, 95} {
		lines[i] = fmt.Sprintf("Error %d: disk", i)
	}
	tests := map[string]struct {
		keys      []string
		has, note string
	}{
		"from what is visible on":           {[]string{"/", "err.r", "enter"}, "Error 95", "match 3 of 3"},
		"after the last comes the first":    {[]string{"/", "err", "enter", "n"}, "Error 20", "match 1 of 3"},
		"and the next":                      {[]string{"/", "err", "enter", "n", "n"}, "Error 60", "match 2 of 3"},
		"and the one before":                {[]string{"/", "err", "enter", "n", "n", "N"}, "Error 20", "match 1 of 3"},
		"while it is typed":                 {[]string{"g", "/", "err"}, "Error 20", ""},
		"a capital letter makes case count": {[]string{"/", "ERR", "enter", "n"}, "line 99", "nothing matches ERR"},
		"what is no expression is text":     {[]string{"/", "err(", "enter", "n"}, "line 99", "nothing matches err("},
		"without a search":                  {[]string{"n"}, "line 99", "searches first"},
		"esc clears it":                     {[]string{"/", "err", "esc", "n"}, "Error 95", "searches first"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := reads(t, &reading{lines: lines}, "l")
			p.until(func(msg tea.Msg) bool { _, is := msg.(outputMsg); return is })
			view := pressed(p.m, tc.keys...).View()
			if !strings.Contains(view, tc.has) || !strings.Contains(view, tc.note) {
				t.Errorf("no %q, or no %q:\n%s", tc.has, tc.note, view)
			}
			if other := "Error 60"; tc.has == "Error 20" && strings.Contains(view, other) {
				t.Errorf("%s is shown:\n%s", other, view)
			}
		})
	}
	p := reads(t, &reading{lines: lines}, "l")
	p.until(func(msg tea.Msg) bool { _, is := msg.(outputMsg); return is })
	p.m.theme = paint.New(true)
	if view := pressed(p.m, "/", "err", "enter").View(); !strings.Contains(view, "\x1b[7mErr\x1b[0mor 95") {
		t.Errorf("the match is not highlighted:\n%s", view)
	}
}

func TestASearchWithAnExclamationMarkLeavesLinesOut(t *testing.T) {
	p := reads(t, &reading{lines: []string{"started", "heartbeat 1", "Error: disk", "Heartbeat 2", "done"}}, "l")
	p.until(func(msg tea.Msg) bool { _, is := msg.(outputMsg); return is })
	view := pressed(p.m, "/", "!heart.*[12]", "enter").View()
	for text, want := range map[string]bool{"heartbeat 1": false, "Heartbeat 2": false, "started": true, "Error: disk": true, "2 lines left out": true} {
		if strings.Contains(view, text) != want {
			t.Errorf("%q is shown: %t, in\n%s", text, !want, view)
		}
	}
	if view := pressed(p.m, "/", "!heart", "esc").View(); !strings.Contains(view, "heartbeat 1") {
		t.Errorf("esc does not bring the lines back:\n%s", view)
	}
}

func TestLongLinesOfALogScrollSideways(t *testing.T) {
	long := "begin " + strings.Repeat("0123456789", 15) + " the end"
	tests := map[string]struct {
		keys        []string
		has, hasNot []string
	}{
		"wrapped at first":              {nil, []string{"begin", "the end"}, []string{"from column"}},
		"cut once scrolled":             {[]string{"right"}, []string{"begin", "from column 1 ", "…"}, []string{"the end"}},
		"a step to the right":           {[]string{"right", "right"}, []string{"from column 21 "}, []string{"begin", "the end"}},
		"not beyond the end":            {strings.Fields(strings.Repeat("right ", 50)), []string{"the end", "from column 81 "}, []string{"begin"}},
		"back":                          {[]string{"right", "right", "left"}, []string{"begin", "from column 1 "}, []string{"the end"}},
		"wrapped again":                 {[]string{"right", "left"}, []string{"begin", "the end"}, []string{"from column"}},
		"a match scrolls to its column": {[]string{"right", "/", "the end", "enter"}, []string{"the end", "from column 141 "}, []string{"begin"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := reads(t, &reading{lines: []string{long}}, "l")
			p.until(func(msg tea.Msg) bool { _, is := msg.(outputMsg); return is })
			view := pressed(p.m, tc.keys...).View()
			for _, text := range tc.has {
				if !strings.Contains(view, text) {
					t.Errorf("no %q:\n%s", text, view)
				}
			}
			for _, text := range tc.hasNot {
				if strings.Contains(view, text) {
					t.Errorf("%q:\n%s", text, view)
				}
			}
		})
	}
}

func TestAFilterOfRowsIsARegularExpression(t *testing.T) {
	tests := map[string]struct {
		filter string
		want   int
	}{
		"an expression":                     {"^log-[12]$", 2},
		"rows without it":                   {"!storage|log", 3},
		"no capital letter, no case":        {"missingprocesses", 2},
		"a capital letter makes case count": {"STORAGE", 0},
		"what is no expression is text":     {"(", 3},
		"rows without nothing":              {"!", 12},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := pressed(shown(t, 120, 40, Options{}, entry(lost())), "/", tc.filter, "enter")
			if got := m.page(m.clusterView()).items(); got != tc.want {
				t.Errorf("%d rows, want %d", got, tc.want)
			}
		})
	}
}

func TestClosingALogPaneStopsFollowingTheLog(t *testing.T) {
	p := reads(t, &reading{lines: []string{"one"}}, "l")
	p.until(func(msg tea.Msg) bool { _, is := msg.(outputMsg); return is })
	p.m = pressed(p.m, "esc")
	select {
	case msg := <-p.msgs:
		if o, is := msg.(outputMsg); !is || !o.over {
			t.Errorf("%T", msg)
		}
	case <-time.After(10 * time.Minute):
		t.Error("the log is still followed")
	}
}

func TestTheDashboardShowsTheErrorOfAFailedLogRead(t *testing.T) {
	p := reads(t, &reading{err: errors.New("pods/log is forbidden")}, "l")
	p.until(func(msg tea.Msg) bool { o, is := msg.(outputMsg); return is && o.over })
	if view := p.m.View(); !strings.Contains(view, "✗ pods/log is forbidden") {
		t.Error(view)
	}
}

// A shell can change everything, so it needs the flag of the actions.
func TestOpeningAShellRequiresAllowActions(t *testing.T) {
	tests := map[string]struct {
		o    Options
		want bool
	}{
		"read-only":             {Options{Reads: &reading{}}, false},
		"with actions":          {Options{Reads: &reading{}, Actions: &acting{}}, true},
		"while passes run here": {Options{Reads: &reading{}, Actions: &acting{}, Passes: true}, false},
		"a recording":           {Options{Actions: &acting{}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, cmd := shown(t, 100, 40, tc.o, entry(lost())).openShell()
			if (cmd != nil) != tc.want {
				t.Errorf("a shell starts: %t", cmd != nil)
			}
		})
	}
}
