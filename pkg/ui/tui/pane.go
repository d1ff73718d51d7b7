package tui

// pane is a text that is open over a view. It is made anew from what is known with every
// look.
type pane struct {
	kind paneKind
	// row is the row that it is about, group the process group; empty for none.
	row   string
	group string
	// top is the first line that is shown.
	top int
}

type paneKind int

const (
	paneRow paneKind = iota
	paneWhy
	paneEvents
	paneDiff
	paneHelp
	paneWork
	paneQuestion
)

// open opens a text over what is shown. One of the same kind gives way.
func (m model) open(p pane) model {
	var panes []pane
	for _, other := range m.panes {
		if other.kind != p.kind {
			panes = append(panes, other)
		}
	}
	m.panes = append(panes, p)
	return m
}

// shows reports whether a kind of pane is on top.
func (m model) shows(kind paneKind) bool {
	n := len(m.panes)
	return n > 0 && m.panes[n-1].kind == kind
}

func (m model) openRow() model {
	if len(m.panes) > 0 {
		return m
	}
	r, chosen := m.chosenRow()
	if !chosen {
		return m.say(plain, "there is nothing to choose here")
	}
	return m.open(pane{kind: paneRow, row: r.key, group: r.group})
}

// openAboutGroup opens what is about a process group only.
func (m model) openAboutGroup(kind paneKind) model {
	group := m.chosenGroup()
	if group == "" {
		return m.say(plain, "choose a process group first")
	}
	return m.open(pane{kind: kind, group: group})
}

func (m model) openWhy() model { return m.open(pane{kind: paneWhy, group: m.chosenGroup()}) }

// paneLines is the text of a pane, fitted to the screen.
func (m model) paneLines(s sight, p pane) []line {
	var lines []line
	for _, l := range m.paneText(s, p) {
		lines = append(lines, wrapped(l, m.width)...)
	}
	return lines
}

func (m model) paneText(s sight, p pane) []line {
	switch p.kind {
	case paneRow:
		return m.rowText(s, p)
	case paneWhy:
		head := heading("Why " + p.group + " is as it is")
		if p.group == "" {
			head = heading("What is in the way of " + m.name())
		}
		return append(s.whyOf(p.group, head), commandLines(s.o.fdb("why", s.cluster(), p.group))...)
	case paneEvents:
		return s.eventsOf(p.group)
	case paneDiff:
		return append(s.planOf(p.group), commandLines(s.o.fdb("plan", s.cluster()))...)
	case paneHelp:
		return m.help()
	case paneWork:
		return m.workText(s)
	case paneQuestion:
		return m.questionText()
	}
	return nil
}

// rowText is all about a row of the view; when that has gone, it says so.
func (m model) rowText(s sight, p pane) []line {
	page := m.views[m.view].page(s)
	if i := page.has(p.row); i >= 0 {
		return page.about(s, page.rows[i])
	}
	return []line{sayLine(warn, markWarn+" "+p.row+" is not there any more"), sayLine(faint, "  esc goes back; [ shows what was seen before")}
}
