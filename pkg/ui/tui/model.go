package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// beat is how often ages are counted anew.
const beat = time.Second

// What the screen is told beside keys and sizes.
type (
	begun struct{}
	ticks struct{ now time.Time }
	told  struct {
		Entry
		// work is the action that told it; 0 for the feed.
		work int
	}
)

// model is the screen. Update returns another value; only tapes are shared between them.
type model struct {
	o     Options
	out   *outlet
	theme theme
	views []view
	keys  []binding

	width, height int
	now           time.Time

	cluster  int
	tapes    map[string]tape
	unfollow context.CancelFunc

	view    int
	cursors []cursor
	choice  choice
	panes   []pane
	prompt  prompt
	notice  notice

	playback
	work     *work
	lastWork int
	// questions wait for an answer, the first one first.
	questions []asking
}

// notice is a line that is shown for a while.
type notice struct {
	line  line
	until time.Time
}

// noticeLasts is how long a notice can be read.
const noticeLasts = 6 * time.Second

func newModel(o Options, out *outlet) model {
	if len(o.Clusters) == 0 {
		o.Clusters = clustersOf(o.Replay)
	}
	m := model{
		o: o, out: out, theme: newTheme(o.Color), views: views(), keys: bindings(), now: o.Now(),
		tapes: map[string]tape{}, cursors: make([]cursor, len(views())), playback: playback{back: -1},
	}
	return m.load(o.Replay)
}

// Init starts the clock and the feed.
func (m model) Init() tea.Cmd {
	return tea.Batch(m.tick(), func() tea.Msg { return begun{} })
}

func (m model) tick() tea.Cmd {
	return tea.Tick(beat, func(time.Time) tea.Msg { return ticks{m.o.Now()} })
}

// Update takes a message over. It reads and writes nothing itself.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case begun:
		m = m.follow()
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case ticks:
		m, cmd = m.beats(msg.now).readied(), m.tick()
	case told:
		m = m.hear(msg)
	case proposed:
		m = m.hasProposal(msg)
	case carried:
		m = m.hasCarried(msg)
	case tea.KeyMsg:
		m, cmd = m.typed(msg)
	}
	return m.settled(), cmd
}

// name is the cluster that is shown.
func (m model) name() string {
	if m.cluster >= len(m.o.Clusters) {
		return ""
	}
	return m.o.Clusters[m.cluster]
}

func (m model) tape() tape { return m.tapes[m.name()] }

// follow has the feed tell of the cluster that is shown, and of no other.
func (m model) follow() model {
	if m.unfollow != nil {
		m.unfollow()
	}
	if m.o.Feed == nil {
		return m
	}
	name, feed := m.name(), m.o.Feed
	m.unfollow = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		feed.Follow(ctx, name, func(e Entry) { send(told{Entry: e}) })
	})
	return m
}

// hear takes an entry over.
func (m model) hear(e told) model {
	t, gone := m.tapes[e.Cluster].add(e.Entry).trimmed()
	m.tapes[e.Cluster] = t
	if e.Cluster == m.name() && m.back >= 0 {
		m.back = max(0, m.back-gone)
	}
	if e.Question != nil {
		m.questions = append(slices.Clip(m.questions), asking{Question: *e.Question, cluster: e.Cluster, work: e.work})
		if m.prompt.kind == promptNone && !m.shows(paneWork) || m.busy() {
			m = m.open(pane{kind: paneQuestion})
		}
	}
	return m
}

// typed takes keys one by one: what comes quickly is told at once. What is pasted is text,
// and of no use where no text is wanted.
func (m model) typed(keys tea.KeyMsg) (model, tea.Cmd) {
	if keys.Paste && m.prompt.kind == promptNone {
		return m, nil
	}
	if keys.Type != tea.KeyRunes {
		return m.press(keys)
	}
	var cmds []tea.Cmd
	for i, r := range keys.Runes {
		if i > 0 { // the last is settled with everything else
			m = m.settled()
		}
		var cmd tea.Cmd
		m, cmd = m.press(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: keys.Alt})
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// press does what a key is for: first for what is typed, then for what the key does
// everywhere.
func (m model) press(key tea.KeyMsg) (model, tea.Cmd) {
	if key.String() == "ctrl+c" {
		return m, tea.Quit
	}
	m.notice = notice{}
	if m.prompt.kind != promptNone {
		return m.typeIn(key), nil
	}
	if next, cmd, taken := m.answer(key); taken {
		return next, cmd
	}
	for _, b := range m.keys {
		if slices.Contains(b.keys, key.String()) {
			return b.do(m)
		}
	}
	return m, nil
}

// say shows a notice.
func (m model) say(t tone, text string) model {
	m.notice = notice{sayLine(t, text), m.now.Add(noticeLasts)}
	return m
}

// to shows a view.
func (m model) to(view int) model {
	m.view, m.panes = view, nil
	return m
}

// nextCluster shows the next cluster of the namespace.
func (m model) nextCluster() (model, tea.Cmd) {
	if len(m.o.Clusters) < 2 {
		return m.say(plain, "there is no other cluster to show"), nil
	}
	return m.toCluster((m.cluster + 1) % len(m.o.Clusters)), nil
}

func (m model) toCluster(i int) model {
	m.cluster, m.panes, m.cursors = i, nil, make([]cursor, len(m.views))
	m.playback = m.rewound(m.o.Feed == nil)
	return m.follow()
}

func (m model) refresh() (model, tea.Cmd) {
	if m.o.Feed == nil {
		return m.say(plain, "a recording cannot be looked at again"), nil
	}
	feed := m.o.Feed
	return m.say(plain, "looking again"), func() tea.Msg { feed.Refresh(); return nil }
}

// goBack closes what is open, one thing at a time.
func (m model) goBack() (model, tea.Cmd) {
	switch {
	case len(m.panes) > 0:
		m.panes = m.panes[:len(m.panes)-1]
	case m.choice.filter != "":
		m.choice.filter = ""
	case m.choice.trouble:
		m.choice.trouble = false
	case m.o.Feed != nil && (m.back >= 0 || m.paused):
		m.playback = m.rewound(false)
	}
	return m, nil
}
