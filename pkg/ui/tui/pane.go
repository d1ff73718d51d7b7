package tui

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// pane is a text that is open over a view. Every drawing recreates it from the current
// frame.
type pane struct {
	kind paneKind
	// row is its row, group its process group; empty for none.
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
	paneOutput
)

// open opens a pane on top. It replaces one of the same kind.
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
	if m.inFleet() {
		return m.openCluster(viewGroups)
	}
	r, chosen := m.chosenRow()
	if !chosen {
		return m.notify(plain, "nothing to select here")
	}
	return m.open(pane{kind: paneRow, row: r.key, group: r.group})
}

// openAboutGroup opens a pane about a process group.
func (m model) openAboutGroup(kind paneKind) model {
	group := m.chosenGroup()
	if group == "" {
		return m.notify(plain, "select a process group first")
	}
	return m.open(pane{kind: kind, group: group})
}

func (m model) openWhy() model { return m.open(pane{kind: paneWhy, group: m.chosenGroup()}) }

// paneLines returns the text of a pane, wrapped to the width unless it is scrolled sideways.
func (m model) paneLines(s clusterView, p pane) []line {
	var lines []line
	for _, l := range m.paneText(s, p) {
		if p.kind == paneOutput && m.output.side > 0 {
			lines = append(lines, l)
			continue
		}
		lines = append(lines, wrapped(l, m.width)...)
	}
	search := m.output.pattern()
	if p.kind != paneOutput || search.expression == nil || search.absent {
		return lines
	}
	for i, l := range lines {
		lines[i] = search.marked(l)
	}
	return lines
}

func (m model) paneText(s clusterView, p pane) []line {
	switch p.kind {
	case paneRow:
		return m.rowText(s, p)
	case paneWhy:
		head := heading("Why " + p.group + " is in this state")
		if p.group == "" {
			head = heading("What blocks " + m.name())
		}
		return append(s.whyLines(p.group, m.width, head), commandLines(s.o.fdb("why", s.cluster(), p.group))...)
	case paneEvents:
		return s.eventsOf(p.group)
	case paneDiff:
		return append(s.planOf(p.group), commandLines(s.o.fdb("plan", s.cluster()))...)
	case paneHelp:
		return m.help(s)
	case paneWork:
		return m.workText(s)
	case paneQuestion:
		return m.questionText()
	case paneOutput:
		return m.outputText()
	}
	return nil
}

// rowText returns the details of a row of the view, or that the row no longer exists.
func (m model) rowText(s clusterView, p pane) []line {
	page := m.views[m.view].page(s)
	if i := page.has(p.row); i >= 0 {
		return page.about(s, page.rows[i])
	}
	return []line{styledLine(warn, markWarn+" "+p.row+" no longer exists"), styledLine(faint, "  esc goes back; [ shows the previous snapshot")}
}

// pattern is what a user searches for. The zero pattern is in every text.
type pattern struct {
	expression *regexp.Regexp
	// absent selects texts without it.
	absent bool
}

// patternOf returns the pattern of a regular expression, in which only a capital letter makes case
// count. A text that is none, such as one that is still being typed, stands for itself.
func patternOf(text string) pattern {
	if text == "" {
		return pattern{}
	}
	flags := ""
	if !strings.ContainsFunc(text, unicode.IsUpper) {
		flags = "(?i)"
	}
	expression, err := regexp.Compile(flags + text)
	if err != nil {
		expression = regexp.MustCompile(flags + regexp.QuoteMeta(text))
	}
	return pattern{expression: expression}
}

// filterOf returns the pattern of a filter of rows, whose "!" at the beginning selects those without it.
func filterOf(text string) pattern {
	text, absent := strings.CutPrefix(text, "!")
	p := patternOf(text)
	p.absent = absent && text != ""
	return p
}

// selects reports whether any of some texts has the pattern, or none of them where that is to be absent.
func (p pattern) selects(texts ...string) bool {
	if p.expression == nil {
		return true
	}
	return slices.ContainsFunc(texts, p.expression.MatchString) != p.absent
}

// marked returns a line with what matches highlighted.
func (p pattern) marked(l line) line {
	var all line
	for _, s := range l {
		at := 0
		for _, match := range p.expression.FindAllStringIndex(s.Text, -1) {
			if match[0] == match[1] {
				continue
			}
			all = append(all, span{Text: s.Text[at:match[0]], Tone: s.Tone}, span{Text: s.Text[match[0]:match[1]], Tone: paint.Found})
			at = match[1]
		}
		all = append(all, span{Text: s.Text[at:], Tone: s.Tone})
	}
	return all
}
