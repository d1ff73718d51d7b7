package tui

import (
	"fmt"
	"slices"
	"strings"
)

// The minimum size of the terminal.
const (
	leastWidth  = 80
	leastHeight = 24
)

// View draws the dashboard: as many lines as the terminal has, none wider.
func (m model) View() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	if m.width < leastWidth || m.height < leastHeight {
		return m.tooSmall()
	}
	s := m.clusterView()
	var p page // computed once: with many rows that is most of the work
	if len(m.panes) == 0 {
		p = m.page(s)
	}
	lines := append(m.header(s), m.body(s, p)...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:m.height-1], m.footer(p)), "\n")
}

func (m model) tooSmall() string {
	texts := []string{
		fmt.Sprintf("The dashboard needs %dx%d,", leastWidth, leastHeight), fmt.Sprintf("this terminal has %dx%d.", m.width, m.height), "q quits.",
	}
	for i, text := range texts {
		texts[i] = cut(text, m.width)
	}
	return strings.Join(texts[:min(len(texts), max(1, m.height))], "\n")
}

// bodyHeight returns the number of lines between header and footer.
func (m model) bodyHeight() int {
	const titleAndFooter = 2
	return max(1, m.height-len(m.headLines(m.clusterView()))-titleAndFooter)
}

// body returns the lines between header and footer: the open pane, or else the page.
func (m model) body(s clusterView, p page) []string {
	if n := len(m.panes); n > 0 {
		return m.drawText(m.paneLines(s, m.panes[n-1]), m.panes[n-1].top)
	}
	lines := m.drawPage(p)
	return append(lines, m.preview(s, p, m.bodyHeight()-len(lines))...)
}

// leastPreview is the minimum number of lines for a preview.
const leastPreview = 4

// preview returns the beginning of the details of the selected row, if there is room below the
// table: it saves a key, and shows what a narrow column truncates.
func (m model) preview(s clusterView, p page, room int) []string {
	at := m.cursors[m.view].at
	if room < leastPreview || at >= len(p.rows) || p.rows[at].key == "" {
		return nil
	}
	lines := []string{""}
	for _, l := range p.about(s, p.rows[at]) {
		for _, part := range wrapped(l, m.width) {
			lines = append(lines, m.theme.draw(part, m.width))
		}
	}
	if len(lines) > room {
		lines = append(lines[:room-1], m.theme.draw(styledLine(faint, "  …"), m.width))
	}
	return lines
}

// drawText draws a text from a line on.
func (m model) drawText(lines []line, top int) []string {
	height := m.bodyHeight()
	top = min(max(0, top), max(0, len(lines)-height))
	var drawn []string
	for _, l := range lines[top:min(len(lines), top+height)] {
		drawn = append(drawn, m.theme.draw(l, m.width))
	}
	return drawn
}

// mostNotes is the maximum number of notes below a table.
const mostNotes = 6

// rowsOf returns how many rows of a page can be shown.
func (m model) rowsOf(p page) int {
	return max(1, m.bodyHeight()-2-min(len(p.notes), mostNotes))
}

// drawPage draws a view: its summary, its table, its notes.
func (m model) drawPage(p page) []string {
	lines := []string{m.theme.draw(p.summary, m.width)}
	switch {
	case len(p.rows) > 0:
		lines = append(lines, m.drawRows(p)...)
	case p.empty != "":
		lines = append(lines, m.theme.draw(styledLine(faint, "  "+p.empty), m.width))
	}
	for i, note := range p.notes {
		if i == mostNotes-1 && len(p.notes) > mostNotes {
			note = styledLine(faint, fmt.Sprintf("and %d more; enter shows the details of a row", len(p.notes)-i))
		}
		if i < mostNotes {
			lines = append(lines, m.theme.draw(note, m.width))
		}
	}
	return lines
}

// drawRows draws the titles and the rows that fit.
func (m model) drawRows(p page) []string {
	height, c := m.rowsOf(p), m.cursors[m.view]
	c = c.shown(len(p.rows), height)
	l := layOut(p.columns, p.rows, m.width-markWidth)
	titles := make([]span, len(p.columns))
	for i, column := range p.columns {
		titles[i] = span{column.title, strong}
	}
	lines := []string{strings.Repeat(" ", markWidth) + m.theme.drawRow(l, p.columns, row{key: "titles", cells: titles}, m.width-markWidth)}
	for i := c.top; i < min(len(p.rows), c.top+height); i++ {
		mark, draw := strings.Repeat(" ", markWidth), m.theme.drawRow
		if i == c.at && p.rows[i].key != "" {
			mark, draw = m.theme.paintChosen(span{markChosen, strong}), m.theme.drawChosen
		}
		lines = append(lines, mark+draw(l, p.columns, p.rows[i], m.width-markWidth))
	}
	return lines
}

// markWidth is the width of the column that marks the selected row, for terminals without colors.
const markWidth = 1

// footer returns the prompt, the notice, or the most important keys.
func (m model) footer(p page) string {
	switch {
	case m.prompt.kind != promptNone:
		return m.theme.draw(m.promptLine(), m.width)
	case m.notice.line != nil:
		return m.theme.draw(m.notice.line, m.width)
	case m.decisionLine() != nil:
		return m.theme.draw(append(m.scrolled(), m.decisionLine()...), m.width)
	default:
		return m.theme.draw(m.hints(p), m.width)
	}
}

// hints returns the active filters and the keys that apply here.
func (m model) hints(p page) line {
	var l line
	if m.choice.filter != "" {
		l = append(l, styled(warn, "only "+m.choice.filter+"  "))
	}
	if m.choice.trouble {
		l = append(l, styled(warn, "only problems  "))
	}
	hints := [][2]string{{"enter", "more"}, {"w", "why"}, {"e", "events"}, {"d", "plan"}, {"/", "filter"}, {":", "go"}, {"[ ]", "time"}, {"?", "help"}, {"q", "quit"}}
	if len(m.panes) > 0 {
		l = append(l, m.scrolled()...)
		hints = [][2]string{{"esc", "back"}, {"↑ ↓", "scroll"}, {"w", "why"}, {"e", "events"}, {"d", "plan"}, {"y", "copy ID"}, {"?", "help"}, {"q", "quit"}}
	} else {
		l = append(l, m.rowsSeen(p)...)
		if m.o.Actions != nil {
			hints = slices.Insert(hints, len(hints)-2, [][2]string{{"r", "replace"}, {"x", "exclude"}, {"R", "restart"}, {"g", "pass"}}...)
		}
	}
	return append(l, keysIn(hints, m.width-widthOf(l.text()))...)
}

// keysIn returns as many keys as fit. The last two, help and quit, are dropped last: help has
// the others.
func keysIn(hints [][2]string, width int) line {
	var l line
	for _, h := range hints {
		l = append(l, styled(strong, h[0]), styled(faint, " "+h[1]+"  "))
	}
	if widthOf(strings.TrimRight(l.text(), " ")) > width && len(hints) > 2 {
		last := len(hints) - 2
		return keysIn(slices.Delete(slices.Clone(hints), last-1, last), width)
	}
	if n := len(l); n > 0 {
		l[n-1].text = strings.TrimRight(l[n-1].text, " ")
	}
	return l
}

// rowsSeen returns which rows of a view are shown, if not all are.
func (m model) rowsSeen(p page) line {
	all, height := len(p.rows), m.rowsOf(p)
	if all <= height {
		return nil
	}
	top := m.cursors[m.view].shown(all, height).top
	return line{styled(warn, fmt.Sprintf("rows %d-%d of %d  ", top+1, min(all, top+height), all))}
}

// scrolled returns which lines of a text are shown, if not all are.
func (m model) scrolled() line {
	p := m.panes[len(m.panes)-1]
	all, height := len(m.paneLines(m.clusterView(), p)), m.bodyHeight()
	if all <= height {
		return nil
	}
	return line{styled(warn, fmt.Sprintf("lines %d-%d of %d  ", p.top+1, min(all, p.top+height), all))}
}
