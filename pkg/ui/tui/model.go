package tui

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// beat is how often ages are counted anew.
const beat = time.Second

// What the screen is told beside keys and sizes.
type (
	told  struct{ Entry }
	ticks struct{ now time.Time }
)

// model is the screen.
type model struct {
	o     Options
	out   *outlet
	theme theme
	views []view

	width, height int
	now           time.Time
	cluster       int
	tapes         map[string]tape
	view          int
	chosen        int
}

func newModel(o Options, out *outlet) model {
	return model{o: o, out: out, theme: newTheme(o.Color), views: views(), now: o.Now(), tapes: map[string]tape{}}
}

// Init starts the clock and the feed.
func (m model) Init() tea.Cmd {
	if m.o.Feed != nil {
		name := m.o.Clusters[m.cluster]
		m.out.run(func(ctx context.Context, send func(tea.Msg)) {
			m.o.Feed.Follow(ctx, name, func(e Entry) { send(told{e}) })
		})
	}
	return m.tick()
}

func (m model) tick() tea.Cmd {
	return tea.Tick(beat, func(time.Time) tea.Msg { return ticks{m.o.Now()} })
}

// Update takes a message over.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case ticks:
		m.now = msg.now
		return m, m.tick()
	case told:
		m.tapes[msg.Cluster] = m.tapes[msg.Cluster].add(msg.Entry)
	case tea.KeyMsg:
		switch msg.String() {
		case "q", "ctrl+c":
			return m, tea.Quit
		}
	}
	return m, nil
}

// View draws the screen.
func (m model) View() string {
	if m.width == 0 {
		return ""
	}
	s := sight{state: m.tapes[m.o.Clusters[m.cluster]].last, now: m.now, width: m.width}
	p := m.views[m.view].make(s)
	lines := []string{m.theme.draw(sayLine(strong, s.look().Status.Summary), m.width)}
	l := lay(p.columns, p.rows, m.width)
	for i, r := range p.rows {
		lines = append(lines, m.theme.drawRow(l, p.columns, r, m.width, i == m.chosen))
	}
	if len(lines) > m.height {
		lines = lines[:m.height]
	}
	return strings.Join(lines, "\n")
}
