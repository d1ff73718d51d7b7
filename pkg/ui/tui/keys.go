package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
)

// binding is a key and what it does. Dispatch, help, the key bar and the page about the dashboard
// use the same list.
type binding struct {
	keys []string
	// show is the name of the key in help.
	show string
	does string
	// section is its section in help.
	section string
	do      func(m model) (model, tea.Cmd)
	// opposite is the key that does the opposite, which back does; empty for none.
	opposite string
	back     func(m model) (model, tea.Cmd)
	// hint is what it does in one word, for the key bar; empty if that omits it.
	hint string
	// when reports whether it does something in the current view and state; nil is always.
	when func(h here) bool
}

// ofCluster reports whether the key is about the displayed cluster.
func (b binding) ofCluster() bool {
	switch b.section {
	case sectionAct:
		return !slices.Contains([]string{"a", "ctrl-x"}, b.show)
	case sectionTime:
		return b.show != "ctrl-r"
	case sectionLook:
		return !slices.Contains([]string{"enter", "i", "Y", "/", "c", "o", "v"}, b.show)
	}
	return false
}

// here is what keys apply to: the view, and what is selected in it.
type here struct {
	model
	row   row
	any   bool
	group inspect.GroupView
	// isGroup and isNode report whether a process group and a node of the cluster are selected.
	isGroup, isNode bool
	node            inspect.NodeView
}

// here returns what keys apply to, from the page of the view.
func (m model) here(s clusterView, p page) here {
	h := here{model: m}
	h.row, h.any = p.at(m.cursors[m.view].at)
	id, node := h.row.group, h.row.node
	if n := len(m.panes); n > 0 && m.panes[n-1].group != "" {
		id = m.panes[n-1].group
	}
	if h.group, h.isGroup = s.group(id); h.isGroup {
		node = h.group.Node
	}
	h.node, h.isNode = s.nodeNamed(node)
	return h
}

// in returns the binding with its place in the key bar.
func (b binding) in(hint string, when func(h here) bool) binding {
	b.hint, b.when = hint, when
	return b
}

// The sections of help, in order.
const (
	sectionViews = "Views"
	sectionMove  = "Move"
	sectionLook  = "Inspect"
	sectionTime  = "Time"
	sectionAct   = "Actions"
	sectionEnd   = "Dashboard"
)

func sections() []string {
	return []string{sectionViews, sectionMove, sectionLook, sectionTime, sectionAct, sectionEnd}
}

func bindings() []binding {
	key := func(show, does string, do func(m model) (model, tea.Cmd), keys ...string) binding {
		return binding{keys: keys, show: show, does: does, section: sectionEnd, do: do}
	}
	return slices.Concat(viewBindings(), moveBindings(), lookBindings(), timeBindings(), actBindings(), []binding{
		key("esc", "go back: pane, filter, history, all clusters", model.goBack, "esc").in("back", here.canGoBack),
		key("ctrl-z", "suspend the dashboard; fg resumes it", model.suspend, "ctrl+z"),
		key("?", "show this help", func(m model) (model, tea.Cmd) { return m.open(pane{kind: paneHelp}), nil }, "?", "h", "f1").in("help", nil),
		key("q", "quit; ctrl-c also quits while text is typed", func(m model) (model, tea.Cmd) { return m, tea.Quit }, "q", "ctrl+c").in("quit", nil),
	})
}

func viewBindings() []binding {
	var list []binding
	for i, v := range views() {
		key := fmt.Sprint((i + 1) % 10)
		list = append(list, binding{keys: []string{key}, show: key, does: v.title, section: sectionViews, do: func(m model) (model, tea.Cmd) { return m.to(i), nil }})
	}
	next := binding{keys: []string{"tab"}, show: "tab", does: "the next cluster", section: sectionViews, do: model.nextCluster}
	all := binding{keys: []string{"f"}, show: "f", does: "all clusters", section: sectionViews, do: model.toFleet}
	return append(list, next.in("cluster", func(h here) bool { return len(h.ring()) > 1 && h.showsTable() }), all.in("clusters", func(h here) bool { return h.o.Fleet != nil && !h.inFleet() }))
}

func moveBindings() []binding {
	by := func(show, does string, n func(m model) int, keys ...string) binding {
		return binding{keys: keys, show: show, does: does, section: sectionMove, do: func(m model) (model, tea.Cmd) { return m.move(n(m)), nil }}
	}
	pair := func(show, does string, step func(m model, by int) model, forth, back string) binding {
		by := func(n int) func(m model) (model, tea.Cmd) {
			return func(m model) (model, tea.Cmd) { return step(m, n), nil }
		}
		return binding{keys: []string{forth}, show: show, does: does, section: sectionMove, do: by(1), opposite: back, back: by(-1)}
	}
	always := func(n int) func(model) int { return func(model) int { return n } }
	jump := binding{keys: []string{":"}, show: ":", does: "go to a view, cluster or group by name", section: sectionMove, do: func(m model) (model, tea.Cmd) { return m.typing(promptJump), nil }}
	return []binding{
		by("j ↓", "down", always(1), "j", "down"),
		by("k ↑", "up", always(-1), "k", "up"),
		by("space pgdn", "a page down", func(m model) int { return m.bodyHeight() - 1 }, "pgdown", " ", "ctrl+f"),
		by("b pgup", "a page up", func(m model) int { return 1 - m.bodyHeight() }, "pgup", "b", "ctrl+b"),
		by("G end", "to the end", always(1<<20), "G", "end"),
		by("g home", "to the beginning", always(-1<<20), "g", "home"),
		pair("→ ←", "sideways in long lines of logs or YAML", model.sideways, "right", "left").in("sideways", here.showsOutput),
		pair("n N", "the next match in logs or YAML, the one before", model.toMatch, "n", "N").in("matches", here.searches),
		jump.in("go", here.showsTable),
	}
}

func lookBindings() []binding {
	key := func(key, does string, do func(m model) model) binding {
		return binding{keys: []string{key}, show: key, does: does, section: sectionLook, do: func(m model) (model, tea.Cmd) { return do(m), nil }}
	}
	shell := binding{keys: []string{"s"}, show: "s", does: "a shell in the pod; requires --allow-actions", section: sectionLook, do: model.openShell}
	onGroup := func(kind paneKind) func(m model) model { return func(m model) model { return m.openAboutGroup(kind) } }
	return []binding{
		key("enter", "details of the selected row", model.openRow).in("more", func(h here) bool { return h.showsTable() && h.any }),
		key("w", "why: what blocks the group, or the cluster", model.openWhy).in("why", func(h here) bool { return !h.shows(paneWhy) }),
		key("W", "why: what blocks the cluster", func(m model) model { return m.open(pane{kind: paneWhy}) }),
		key("e", "events of the process group", onGroup(paneEvents)).in("events", func(h here) bool { return h.isGroup && !h.shows(paneEvents) }),
		key("d", "what a pass would do about the process group", onGroup(paneDiff)).in("plan", func(h here) bool { return h.isGroup && !h.shows(paneDiff) }),
		key("y", "YAML of the objects, or of the cluster", model.openYAML).in("YAML", func(h here) bool { return h.o.Reads != nil && !h.shows(paneOutput) }),
		key("l", "logs of the pod, followed", model.openLogs).in("logs", func(h here) bool {
			return h.o.Reads != nil && h.isGroup && h.group.PodPhase != "" && !h.shows(paneOutput)
		}),
		shell.in("shell", func(h here) bool {
			return h.acts() && !h.o.Passes && h.o.Reads != nil && h.isGroup && h.group.PodPhase != ""
		}),
		{keys: []string{"i"}, show: "i", does: "copy the ID, through the terminal", section: sectionLook, do: model.copyID},
		{keys: []string{"Y"}, show: "Y", does: "copy the suggested command, as i does", section: sectionLook, do: model.copyCommand},
		key("/", "only matching rows; or search logs and YAML", func(m model) model { return m.typing(promptFilter) }).in("filter", here.showsTable),
		key("c", "only rows with problems, or unknown", func(m model) model { m.choice.problem = !m.choice.problem; return m }).in("problems", here.showsTable),
		key("o", "order rows by the next column", model.nextColumn).in("order", here.showsTable),
		key("v", "reverse the order of rows", model.reverseOrder).in("reverse", func(h here) bool { return h.showsTable() && h.sorts[h.view].column != "" }),
		{keys: []string{"m"}, show: "m", does: "show or hide the map of process groups", section: sectionLook, do: model.toggleMap},
		key("z", "group process groups by zone, by class, or not", func(m model) model { m.choice.by = (m.choice.by + 1) % groupings; return m }).in("zones", func(h here) bool { return h.showsTable() && h.view == viewGroups }),
	}
}

func timeBindings() []binding {
	key := func(show, does string, do func(m model) (model, tea.Cmd), keys ...string) binding {
		return binding{keys: keys, show: show, does: does, section: sectionTime, do: do}
	}
	step := func(by int) func(m model) (model, tea.Cmd) {
		return func(m model) (model, tea.Cmd) { return m.step(by), nil }
	}
	return []binding{
		key("p", "pause/resume display; ages still advance", func(m model) (model, tea.Cmd) { return m.pause(), nil }, "p"),
		key("[", "previous snapshot", step(-1), "[").in("earlier", here.showsTable),
		key("]", "next snapshot, up to live data", step(1), "]").in("later", func(h here) bool { return h.showsTable() && h.back >= 0 }),
		key("ctrl-r", "refresh now", model.refresh, "ctrl+r", "f5"),
	}
}

// actBindings returns the keys that change something. They are capital letters, which nothing
// that only shows something is, other than G, N, W and Y.
func actBindings() []binding {
	on := func(key, verb, does, hint string, subject func(m model) []string, when func(h here) bool) binding {
		return binding{
			keys: []string{key}, show: key, does: does, section: sectionAct, hint: hint, when: func(h here) bool { return h.acts() && when(h) },
			do: func(m model) (model, tea.Cmd) { return m.propose(verb, subject(m)), nil },
		}
	}
	backup := func(key, does, change string, verb func(h here) string) binding {
		return binding{
			keys: []string{key}, show: key, does: does, section: sectionAct, hint: change, when: func(h here) bool { return h.acts() && verb(h) != "" },
			do: func(m model) (model, tea.Cmd) {
				s := m.clusterView()
				h := m.here(s, m.page(s))
				return m.propose(phrase.Or(verb(h), change), oneOrNone(h.row.backup)), nil
			},
		}
	}
	group := func(m model) []string { return oneOrNone(m.chosenGroup()) }
	node := func(m model) []string { return oneOrNone(m.chosenNode()) }
	cluster := func(model) []string { return []string{} }
	return []binding{
		on("R", "replace", "replace the process group", "replace", group, here.canReplace),
		on("K", "keep", "revert the replacement of the process group", "keep", group, here.canKeep),
		on("X", "exclude", "exclude the process group", "exclude", group, here.canExclude),
		on("I", "include", "include the process group", "include", group, here.canInclude),
		on("T", "restart", "restart the process group's processes", "restart", group, func(h here) bool { return h.isGroup }),
		on("C", "cordon", "cordon the node", "cordon", node, here.canCordon),
		on("U", "uncordon", "uncordon the node", "uncordon", node, here.canUncordon),
		on("D", "drain", "drain the node: evict or replace its groups", "drain", node, func(h here) bool { return h.isNode }),
		on("M", "change coordinators", "move the coordinator to another group", "move", group, func(h here) bool { return h.isGroup && ptr.Deref(h.group.Coordinator, false) }),
		backup("B", "pause or resume all backup agents", "pause or resume", here.pausing),
		backup("S", "stop the backup, or start it again", "stop or start", here.stopping),
		on("P", "reconcile", "run a pass", "pass", cluster, func(here) bool { return true }),
		{keys: []string{"ctrl+x"}, show: "ctrl-x", does: "stop the running action", section: sectionAct, hint: "stop", when: here.busy, do: func(m model) (model, tea.Cmd) { return m.stopWork(), nil }},
		{keys: []string{"a"}, show: "a", does: "return to the action or question", section: sectionAct, hint: "action", when: func(h here) bool { return h.work != nil && !h.shows(paneWork) || len(h.questions) > 0 }, do: func(m model) (model, tea.Cmd) { return m.returnToWork(), nil }},
	}
}

// showsTable reports whether a view is displayed, and no pane over it.
func (m model) showsTable() bool { return len(m.panes) == 0 }

// searches reports whether the open text has a search, whose matches are shown.
func (m model) searches() bool {
	return m.showsOutput() && m.output.search != "" && !m.output.pattern().absent
}

// showsOutput reports whether logs or YAML are displayed.
func (m model) showsOutput() bool { return m.shows(paneOutput) }

// canGoBack reports whether esc does something.
func (h here) canGoBack() bool {
	return len(h.panes) > 0 || h.choice.filter != "" || h.choice.problem || h.o.Fleet != nil && !h.inFleet() || h.o.Feed != nil && (h.back >= 0 || h.paused)
}

// acts reports whether keys may change something now.
func (m model) acts() bool { return m.o.Actions != nil && m.back < 0 && !m.paused && !m.busy() }

func (h here) canReplace() bool { return h.isGroup && h.group.RemovalSince == nil }

func (h here) canKeep() bool { return h.isGroup && h.group.RemovalSince != nil }

func (h here) canExclude() bool { return h.isGroup && h.group.Exclusion == inspect.NotExcluded }

func (h here) canInclude() bool { return h.isGroup && h.group.Exclusion.IsExcluded() }

// canCordon reports whether the node may be open for new pods.
func (h here) canCordon() bool { return h.isNode && !ptr.Deref(h.node.Unschedulable, false) }

// canUncordon reports whether the node is cordoned. A node that is not ready has taints as well, which uncordon leaves.
func (h here) canUncordon() bool { return h.isNode && ptr.Deref(h.node.Unschedulable, false) }

// pausing returns the action that pauses or resumes the selected backup; empty for none.
func (h here) pausing() string {
	switch v := h.backup(); {
	case v == nil || v.Desired == string(v1beta2.BackupStateStopped):
		return ""
	case v.Desired == string(v1beta2.BackupStatePaused):
		return "resume backups"
	default:
		return "pause backups"
	}
}

// stopping returns the action that stops or starts the selected backup; empty for none.
func (h here) stopping() string {
	switch v := h.backup(); {
	case v == nil:
		return ""
	case v.Desired == string(v1beta2.BackupStateStopped):
		return "start backup"
	default:
		return "stop backup"
	}
}

// backup returns the status of the selected backup; nil for none, and one that was not read.
func (h here) backup() *inspect.BackupStatusView {
	for _, b := range h.clusterView().backups().Backups {
		if b.Name == h.row.backup {
			return b.Status
		}
	}
	return nil
}

// bar returns the keys of some sections that do something here, as many as fit. The last two stay
// longest.
func (h here) bar(width int, sections ...string) line {
	var hints [][2]string
	for _, section := range sections {
		for _, b := range h.keys {
			if b.section != section || b.hint == "" || h.inFleet() && b.ofCluster() || b.when != nil && !b.when(h) {
				continue
			}
			hint := [2]string{b.show, b.hint}
			if b.show == "esc" {
				hints = slices.Insert(hints, 0, hint)
				continue
			}
			hints = append(hints, hint)
		}
	}
	return keysIn(hints, width)
}

// oneOrNone returns nil without a subject: an action that requires one then has none.
func oneOrNone(subject string) []string {
	if subject == "" {
		return nil
	}
	return []string{subject}
}

// Key is one key of the dashboard, as help shows it.
type Key struct {
	// Section is its section in help.
	Section string
	// Press is the name of the key, Does its effect.
	Press, Does string
}

// Keys returns all keys of the dashboard, in the order of its help.
func Keys() []Key {
	var keys []Key
	for _, section := range sections() {
		for _, b := range bindings() {
			if b.section == section {
				keys = append(keys, Key{Section: section, Press: b.show, Does: b.does})
			}
		}
	}
	return keys
}

// keyWidth is the column of keys in help.
const keyWidth = 12

// helpColumns are the sections of help beside each other, so that all keys are visible at once.
var helpColumns = [][]string{{sectionViews, sectionMove, sectionTime, sectionEnd}, {sectionLook, sectionAct}}

// help lists every key, from the list by which keys are dispatched, and the ages of all sources.
func (m model) help(s clusterView) []line {
	lines := m.keyHelp()
	lines = append(lines, m.columnHelp()...)
	lines = append(lines, heading("Symbols"))
	for _, sign := range [][2]string{
		{markGood, "healthy"},
		{markWarn, "needs attention, or resolves with time"},
		{markBad, "failed or blocked"},
		{phrase.UnknownCell, "unknown"},
		{phrase.Nothing, "none"},
		{"*", "in a plan: reevaluated after earlier stages"},
	} {
		lines = append(lines, line{styled(strong, "  "+fit(sign[0], keyWidth)), styled(plain, sign[1])})
	}
	for i, v := range s.snapshot().Sources {
		if i == 0 {
			lines = append(lines, heading("Ages of sources"))
		}
		lines = append(lines, line{styled(plain, "  "), s.source(v)})
	}
	return lines
}

// keyHelp lists the keys, in two columns where these fit.
func (m model) keyHelp() []line {
	if m.width < panes.Two {
		return m.columnOfHelp(sections())
	}
	return besides(m.width/len(helpColumns), m.columnOfHelp(helpColumns[0]), m.columnOfHelp(helpColumns[1]))
}

func (m model) columnOfHelp(sections []string) []line {
	var lines []line
	for _, section := range sections {
		lines = append(lines, m.sectionHelp(section)...)
	}
	return lines
}

// besides returns the lines of two columns beside each other.
func besides(width int, left, right []line) []line {
	lines := make([]line, max(len(left), len(right)))
	for i := range lines {
		if i < len(left) {
			lines[i] = slices.Clone(left[i])
		}
		if i < len(right) {
			blanks := strings.Repeat(" ", max(1, width-widthOf(lines[i].Text())))
			lines[i] = append(append(lines[i], styled(plain, blanks)), right[i]...)
		}
	}
	return lines
}

// sectionHelp lists the keys of a section.
func (m model) sectionHelp(section string) []line {
	head := heading(section)
	if section == sectionAct && m.o.Actions == nil {
		head = append(head, styled(warn, "  "+m.readOnly()))
	}
	lines := []line{head}
	for _, b := range m.keys {
		if b.section == section {
			lines = append(lines, line{styled(strong, "  "+fit(b.show, keyWidth)), styled(plain, b.does)})
		}
	}
	return lines
}

// columnHelp returns what the columns of the view mean.
func (m model) columnHelp() []line {
	lines, p := []line{heading("Columns of " + m.views[m.view].name)}, m.views[m.view].page(m.clusterView())
	for _, c := range slices.Concat(p.columns, slices.Concat(p.others...)) {
		if c.Meaning != "" {
			lines = append(lines, line{styled(strong, "  "+fit(c.Name, keyWidth)), styled(plain, " "+c.Meaning)})
		}
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}

// readOnly is the notice for an action key without actions.
func (m model) readOnly() string {
	if m.o.AllowFlag == "" {
		return "read-only"
	}
	return "read-only; " + m.o.AllowFlag + " enables actions"
}

// copyID copies the ID of the selected row.
func (m model) copyID() (model, tea.Cmd) {
	id := m.chosenGroup()
	if r, chosen := m.chosenRow(); id == "" && chosen {
		id = r.key
	}
	return m.copied(id)
}

// copyCommand copies the first command that the open pane suggests, or else the details of the selected row.
func (m model) copyCommand() (model, tea.Cmd) {
	s := m.clusterView()
	if n := len(m.panes); n > 0 {
		return m.copied(firstCommand(m.paneText(s, m.panes[n-1])))
	}
	p := m.page(s)
	if r, chosen := p.at(m.cursors[m.view].at); chosen {
		return m.copied(firstCommand(p.about(s, r)))
	}
	return m.copied("")
}

// firstCommand returns the first command to copy of a text; empty for none.
func firstCommand(lines []line) string {
	for _, l := range lines {
		if n := len(l); n > 0 && l[n-1].Tone == paint.Command {
			return strings.TrimSpace(l[n-1].Text)
		}
	}
	return ""
}

// copied copies a text through the terminal, and displays it, since not every terminal supports that.
func (m model) copied(text string) (model, tea.Cmd) {
	if text == "" {
		return m.notify(plain, "nothing to copy"), nil
	}
	out := m.o.Out
	return m.notify(good, "copied, if the terminal supports it: "+text), func() tea.Msg {
		termenv.NewOutput(out, termenv.WithProfile(termenv.Ascii)).Copy(text)
		return nil
	}
}
