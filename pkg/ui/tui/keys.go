package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// binding is a key and what it does. Dispatch and help use the same list, so that help is
// complete and correct.
type binding struct {
	keys []string
	// show is the name of the key in help.
	show string
	does string
	// section is its section in help.
	section string
	do      func(m model) (model, tea.Cmd)
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
	return slices.Concat(viewBindings(), moveBindings(), lookBindings(), timeBindings(), actBindings(), []binding{
		{[]string{"?", "h", "f1"}, "?", "show this help", sectionEnd, func(m model) (model, tea.Cmd) { return m.open(pane{kind: paneHelp}), nil }},
		{[]string{"esc"}, "esc", "go back: close the pane, clear the filter, return to live data", sectionEnd, model.goBack},
		{[]string{"ctrl+z"}, "ctrl-z", "suspend the dashboard; fg resumes it", sectionEnd, model.suspend},
		{[]string{"q", "ctrl+c"}, "q", "quit; ctrl-c also quits while text is typed", sectionEnd, func(m model) (model, tea.Cmd) { return m, tea.Quit }},
	})
}

func viewBindings() []binding {
	var list []binding
	for i, v := range views() {
		key := fmt.Sprint(i + 1)
		list = append(list, binding{[]string{key}, key, v.title, sectionViews, func(m model) (model, tea.Cmd) { return m.to(i), nil }})
	}
	return append(list, binding{[]string{"tab", "n"}, "n tab", "the next cluster of the namespace", sectionViews, model.nextCluster})
}

func moveBindings() []binding {
	by := func(show, does string, n func(m model) int, keys ...string) binding {
		return binding{keys, show, does, sectionMove, func(m model) (model, tea.Cmd) { return m.move(n(m)), nil }}
	}
	always := func(n int) func(model) int { return func(model) int { return n } }
	return []binding{
		by("j ↓", "down", always(1), "j", "down"),
		by("k ↑", "up", always(-1), "k", "up"),
		by("space pgdn", "a page down", func(m model) int { return m.bodyHeight() - 1 }, "pgdown", " ", "ctrl+f"),
		by("b pgup", "a page up", func(m model) int { return 1 - m.bodyHeight() }, "pgup", "b", "ctrl+b"),
		by("G end", "to the end", always(1<<20), "G", "end"),
		by("home", "to the beginning", always(-1<<20), "home"),
		{[]string{":"}, ":", "go to a view, a cluster or a process group by name", sectionMove, func(m model) (model, tea.Cmd) { return m.typing(promptJump), nil }},
	}
}

func lookBindings() []binding {
	onGroup := func(kind paneKind) func(m model) (model, tea.Cmd) {
		return func(m model) (model, tea.Cmd) { return m.openAboutGroup(kind), nil }
	}
	return []binding{
		{[]string{"enter"}, "enter", "details of the selected row", sectionLook, func(m model) (model, tea.Cmd) { return m.openRow(), nil }},
		{[]string{"w"}, "w", "why: what blocks the process group, or the cluster", sectionLook, func(m model) (model, tea.Cmd) { return m.openWhy(), nil }},
		{[]string{"e"}, "e", "events of the process group", sectionLook, onGroup(paneEvents)},
		{[]string{"d"}, "d", "what a pass would do about the process group", sectionLook, onGroup(paneDiff)},
		{[]string{"y"}, "y", "copy the ID, through the terminal", sectionLook, model.copyID},
		{[]string{"/"}, "/", "only rows that contain a text", sectionLook, func(m model) (model, tea.Cmd) { return m.typing(promptFilter), nil }},
		{[]string{"c"}, "c", "only rows with problems", sectionLook, func(m model) (model, tea.Cmd) { m.choice.trouble = !m.choice.trouble; return m, nil }},
		{[]string{"s"}, "s", "sort process groups by problems, ID, class, node, uptime", sectionLook, func(m model) (model, tea.Cmd) {
			m.choice.order = (m.choice.order + 1) % orders
			return m.notify(plain, "sorted by "+orderNames[m.choice.order]), nil
		}},
		{[]string{"z"}, "z", "group process groups by zone, by class, or not", sectionLook, func(m model) (model, tea.Cmd) {
			m.choice.by = (m.choice.by + 1) % groupings
			return m, nil
		}},
	}
}

func timeBindings() []binding {
	return []binding{
		{[]string{"p"}, "p", "pause/resume display; ages still advance", sectionTime, func(m model) (model, tea.Cmd) { return m.pause(), nil }},
		{[]string{"["}, "[", "previous snapshot", sectionTime, func(m model) (model, tea.Cmd) { return m.step(-1), nil }},
		{[]string{"]"}, "]", "next snapshot, up to live data", sectionTime, func(m model) (model, tea.Cmd) { return m.step(1), nil }},
		{[]string{"ctrl+r", "f5"}, "ctrl-r", "refresh now", sectionTime, model.refresh},
	}
}

func actBindings() []binding {
	on := func(key, verb, does string, subject func(m model) []string) binding {
		return binding{[]string{key}, key, does, sectionAct, func(m model) (model, tea.Cmd) { return m.propose(verb, subject(m)), nil }}
	}
	group := func(m model) []string { return oneOrNone(m.chosenGroup()) }
	return []binding{
		on("r", "replace", "replace the process group", group),
		on("u", "keep", "revert the replacement of the process group", group),
		on("x", "exclude", "exclude the process group", group),
		on("i", "include", "include the process group", group),
		on("R", "restart", "restart the process group's processes", group),
		on("C", "cordon", "cordon the node", func(m model) []string { return oneOrNone(m.chosenNode()) }),
		on("g", "reconcile", "run a pass", func(model) []string { return []string{} }),
		{[]string{"ctrl+x"}, "ctrl-x", "stop the running action", sectionAct, func(m model) (model, tea.Cmd) { return m.stopWork(), nil }},
		{[]string{"a"}, "a", "return to the action or question", sectionAct, func(m model) (model, tea.Cmd) { return m.returnToWork(), nil }},
	}
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

// help lists every key, from the list by which keys are dispatched.
func (m model) help() []line {
	var lines []line
	for _, section := range sections() {
		head := heading(section)
		if section == sectionAct && m.o.Actions == nil {
			head = append(head, styled(warn, "  "+m.readOnly()))
		}
		lines = append(lines, head)
		for _, b := range m.keys {
			if b.section == section {
				lines = append(lines, line{styled(strong, "  "+fit(b.show, keyWidth)), styled(plain, b.does)})
			}
		}
	}
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
	return lines
}

// readOnly is the notice for an action key without actions.
func (m model) readOnly() string {
	if m.o.AllowFlag == "" {
		return "read-only"
	}
	return "read-only; " + m.o.AllowFlag + " enables actions"
}

// copyID copies the ID of the selected row through the terminal, and displays it, since not
// every terminal supports that.
func (m model) copyID() (model, tea.Cmd) {
	id := m.chosenGroup()
	if r, chosen := m.chosenRow(); id == "" && chosen {
		id = r.key
	}
	if id == "" {
		return m.notify(plain, "nothing to copy"), nil
	}
	out := m.o.Out
	return m.notify(good, "copied, if the terminal supports it: "+id), func() tea.Msg {
		termenv.NewOutput(out, termenv.WithProfile(termenv.Ascii)).Copy(id)
		return nil
	}
}
