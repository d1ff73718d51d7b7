package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// tickInterval is how often displayed ages are updated.
const tickInterval = time.Second

// Messages of the dashboard beside keys and sizes.
type (
	startMsg struct{}
	tickMsg  struct{ now time.Time }
	fleetMsg struct{ list fleet.List }
	entryMsg struct {
		Entry
		// work is the action that sent it; 0 for the feed.
		work int
	}
)

// model is the dashboard. Update returns another value; they share only the histories and what was drawn.
type model struct {
	o     Options
	out   *taskRunner
	theme theme
	views []view
	keys  []binding

	width, height int
	now           time.Time

	cluster   int
	histories map[string]history
	recording *entries.Recording
	opened    *openedFrame
	unfollow  context.CancelFunc

	drawnMap *drawnMap
	courses  *drawnCourses

	view    int
	cursors []cursor
	sorts   []sorting
	fleet   fleet.List
	choice  choice
	panes   []pane
	prompt  prompt
	notice  notice

	playback
	work     *work
	lastWork int
	output   output
	// questions are unanswered, in the order of arrival.
	questions []pendingQuestion
}

// notice is a line that is shown for noticeLasts.
type notice struct {
	line  line
	until time.Time
}

// noticeLasts is how long a notice is shown.
const noticeLasts = 6 * time.Second

func newModel(o Options, out *taskRunner) model {
	if len(o.Clusters) == 0 {
		o.Clusters = clustersOf(o.Replay)
	}
	all := append(views(), fleetView)
	m := model{
		o: o, out: out, theme: paint.New(o.Color), views: all, keys: bindings(), now: o.Now(),
		histories: map[string]history{}, recording: &entries.Recording{}, opened: &openedFrame{}, drawnMap: &drawnMap{}, courses: &drawnCourses{}, cursors: make([]cursor, len(all)), sorts: make([]sorting, len(all)), playback: playback{back: -1},
	}
	if o.Fleet != nil {
		m.view = len(all) - 1
	}
	m.o.Replay = nil // the histories have it
	return m.load(o.Replay)
}

// Init starts the clock and the feed.
func (m model) Init() tea.Cmd {
	return tea.Batch(m.tick(), func() tea.Msg { return startMsg{} })
}

func (m model) tick() tea.Cmd {
	return tea.Tick(tickInterval, func(time.Time) tea.Msg { return tickMsg{m.o.Now()} })
}

// Update applies a message. It reads and writes nothing itself.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case startMsg:
		m = m.follow()
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		m, cmd = m.advance(msg.now).countTick(), m.tick()
	case outputMsg:
		m = m.printed(msg)
	case shellMsg:
		m = m.shellEnded(msg)
	case fleetMsg:
		m.fleet = msg.list
	case entryMsg:
		m = m.receive(msg)
	case proposalMsg:
		m = m.proposalReady(msg)
	case actionMsg:
		m = m.actionFinished(msg)
	case tea.KeyMsg:
		m, cmd = m.typed(msg)
	}
	return m.clamped(), cmd
}

// name returns the name of the displayed cluster.
func (m model) name() string {
	if m.cluster >= len(m.o.Clusters) {
		return ""
	}
	return m.o.Clusters[m.cluster]
}

func (m model) history() history { return m.histories[m.name()] }

// follow subscribes to the displayed cluster, or to the list of clusters, and to nothing else.
func (m model) follow() model {
	if m.unfollow != nil {
		m.unfollow()
	}
	if m.inFleet() {
		source := m.o.Fleet
		m.unfollow = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
			source.FollowAll(ctx, func(l fleet.List) { send(fleetMsg{l}) })
		})
		return m
	}
	if m.o.Feed == nil {
		return m
	}
	name, feed := m.name(), m.o.Feed
	m.unfollow = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		feed.Follow(ctx, name, func(e Entry) { send(entryMsg{Entry: e}) })
	})
	return m
}

// receive applies an entry.
func (m model) receive(e entryMsg) model {
	t, removed := m.histories[e.Cluster].add(e.Entry, m.recording).trimmed()
	m.histories[e.Cluster] = t
	if e.Cluster == m.name() && m.back >= 0 {
		m.back = max(0, m.back-removed)
	}
	if e.Question != nil {
		m.questions = append(slices.Clip(m.questions), pendingQuestion{Question: *e.Question, cluster: e.Cluster, work: e.work})
		if m.prompt.kind == promptNone && !m.shows(paneWork) || m.busy() {
			m = m.open(pane{kind: paneQuestion})
		}
	}
	return m
}

// typed handles keys one by one: Bubble Tea combines keys in quick succession. Pasted text is
// ignored outside of a prompt.
func (m model) typed(keys tea.KeyMsg) (model, tea.Cmd) {
	if keys.Paste && m.prompt.kind == promptNone {
		return m, nil
	}
	if keys.Type != tea.KeyRunes {
		return m.press(keys)
	}
	var cmds []tea.Cmd
	for i, r := range keys.Runes {
		if i > 0 { // the last is clamped with everything else
			m = m.clamped()
		}
		var cmd tea.Cmd
		m, cmd = m.press(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: keys.Alt})
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// press handles a key: first as input of an open prompt, then by its binding.
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
		if b.opposite == key.String() {
			return b.back(m)
		}
		if slices.Contains(b.keys, key.String()) {
			if m.inFleet() && b.ofCluster() {
				return m.notify(plain, "enter opens a cluster first"), nil
			}
			return b.do(m)
		}
	}
	return m, nil
}

// notify shows a notice.
func (m model) notify(t tone, text string) model {
	m.notice = notice{styledLine(t, text), m.now.Add(noticeLasts)}
	return m
}

// to switches to a view.
func (m model) to(view int) model {
	if m.inFleet() {
		return m.openCluster(view)
	}
	m.view, m.panes = view, nil
	return m
}

// nextCluster switches to the next cluster.
func (m model) nextCluster() (model, tea.Cmd) {
	ring := m.ring()
	if len(ring) < 2 {
		return m.notify(plain, "no other cluster to show"), nil
	}
	return m.toCluster(ring[(slices.Index(ring, m.cluster)+1)%len(ring)]), nil
}

// ring returns the clusters that can be switched through, by their index: the displayed one, and those that were not deleted.
func (m model) ring() []int {
	var ring []int
	for i, key := range m.o.Clusters {
		listed := m.fleet.AsOf == nil || slices.ContainsFunc(m.fleet.Clusters, func(c fleet.Cluster) bool { return c.Key(m.o.Namespace) == key })
		if listed || i == m.cluster {
			ring = append(ring, i)
		}
	}
	return ring
}

func (m model) toCluster(i int) model {
	if m.inFleet() {
		m.view = viewGroups
	}
	list := m.cursors[len(m.views)-1]
	m.cluster, m.panes, m.cursors = i, nil, make([]cursor, len(m.views))
	m.cursors[len(m.views)-1] = list
	m.playback = m.rewound()
	return m.follow()
}

func (m model) refresh() (model, tea.Cmd) {
	if m.o.Feed == nil {
		return m.notify(plain, "a recording cannot be refreshed"), nil
	}
	feed := m.o.Feed
	return m.notify(plain, "refreshing"), func() tea.Msg { feed.Refresh(); return nil }
}

// goBack closes or resets one thing at a time.
func (m model) goBack() (model, tea.Cmd) {
	switch {
	case len(m.panes) > 0:
		if m.shows(paneOutput) {
			m.output.end()
		}
		m.panes = m.panes[:len(m.panes)-1]
	case m.choice.filter != "":
		m.choice.filter = ""
	case m.choice.problem:
		m.choice.problem = false
	case m.o.Feed != nil && (m.back >= 0 || m.paused):
		m.playback = m.rewound()
	case m.o.Fleet != nil && !m.inFleet():
		return m.toFleet()
	}
	return m, nil
}
