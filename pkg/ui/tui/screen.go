package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
)

// The minimum size of the terminal.
const (
	minWidth  = 40
	minHeight = 15
)

const (
	// fullHeight is the height from which the header has all its lines.
	fullHeight = 24
	// tallHeight is the height from which graphs have two lines, on a terminal with room for two panes.
	tallHeight = 40
)

// View draws the dashboard: as many lines as the terminal has, none wider.
func (m model) View() string {
	if m.o.ASCII {
		return layout.ASCII(m.drawn())
	}
	return m.drawn()
}

func (m model) drawn() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	if m.width < minWidth || m.height < minHeight {
		return cut(fmt.Sprintf("needs %dx%d, has %dx%d; q quits", minWidth, minHeight, m.width, m.height), m.width)
	}
	s := m.clusterView()
	p := m.page(s)
	p.fill(s) // once: with many rows that is most of the work
	h := m.here(s, p)
	lines, height := append(m.header(s), m.body(s, p)...), m.height-1-m.actionLines()
	for len(lines) < height {
		lines = append(lines, "")
	}
	lines = lines[:height]
	if m.actionLines() > 0 {
		lines = append(lines, m.theme.Draw(h.actionBar(), m.width))
	}
	return strings.Join(append(lines, h.footer(p)), "\n")
}

// bodyHeight returns the number of lines of a page, or of a pane over it.
func (m model) bodyHeight() int {
	s := m.clusterView()
	return max(1, m.roomForPage(s)-len(m.mapLines(s)))
}

// roomForPage returns the number of lines between header and footer.
func (m model) roomForPage(s clusterView) int {
	const titleAndFooter = 2
	return m.height - len(m.headLines(s)) - titleAndFooter - m.actionLines()
}

// body returns the lines between header and footer: the open pane, or else the page below its map.
func (m model) body(s clusterView, p page) []string {
	var lines []string
	for _, l := range m.mapLines(s) {
		lines = append(lines, m.theme.Draw(l, m.width))
	}
	return append(lines, m.content(s, p)...)
}

// content returns the open pane, or else the page with the details of the selected row, beside it if there is room.
func (m model) content(s clusterView, p page) []string {
	if n := len(m.panes); n > 0 {
		return m.drawText(m.paneLines(s, m.panes[n-1]), m.panes[n-1])
	}
	height, l := m.bodyHeight(), panes.Of(m.width)
	r, chosen := p.at(m.cursors[m.view].at)
	if !chosen || l.Side == 0 {
		lines := m.drawPage(p, m.width)
		if room := height - len(lines); chosen && room >= minPreview {
			lines = append(append(lines, ""), m.drawPart(p.about(s, r), m.width, room-1)...)
		}
		return lines
	}
	under := height - m.titleLines()
	list := panes.Pane{Title: m.views[m.view].name, Width: m.listWidth()}
	if m.inFleet() {
		l.Third = 0
	}
	list.Lines = m.drawPage(p, list.Width)
	all := []panes.Pane{list, {Title: cells.Clean(r.key), Width: l.Side, Lines: m.drawPart(p.about(s, r), l.Side, under)}}
	if l.Third > 0 {
		all = append(all, panes.Pane{Title: "plan and events", Width: l.Third, Lines: m.drawPart(s.aside(r), l.Third, under)})
	}
	in := func(t tone) func(string) string {
		return func(text string) string { return m.theme.Paint(styled(t, text)) }
	}
	return panes.Join(height, in(faint), in(strong), all...)
}

// minPreview is the minimum number of lines for details below a table.
const minPreview = 5

// drawPart draws the beginning of a text beside or below a table, without the commands to copy:
// those need whole lines.
func (m model) drawPart(text []line, width, height int) []string {
	var lines []string
	for _, l := range text {
		if len(l) > 0 && (l[0].Tone == paint.Command || l[0].Tone == paint.CommandTitle) {
			continue
		}
		for _, part := range wrapped(l, width) {
			if len(lines) == height {
				lines[height-1] = m.theme.Draw(styledLine(faint, "  …"), width)
				return lines
			}
			lines = append(lines, m.theme.Draw(part, width))
		}
	}
	return lines
}

// drawText draws a text from the first line on that its pane shows, and from the column on that it is scrolled to.
func (m model) drawText(lines []line, p pane) []string {
	height, column := m.bodyHeight(), 0
	if p.kind == paneOutput {
		column = m.output.column()
	}
	top := min(max(0, p.top), max(0, len(lines)-height))
	var drawn []string
	for _, l := range lines[top:min(len(lines), top+height)] {
		drawn = append(drawn, m.theme.Draw(from(l, column), m.width))
	}
	return drawn
}

// from returns a line without the columns before one.
func from(l line, column int) line {
	if column == 0 {
		return l
	}
	var rest line
	for _, s := range l {
		width := widthOf(s.Text)
		if s.Text = cells.From(s.Text, column); s.Text != "" {
			rest = append(rest, s)
		}
		column = max(0, column-width)
	}
	return rest
}

// titleLines is the number of lines of the titles of panes.
func (m model) titleLines() int {
	if panes.Of(m.width).Side == 0 {
		return 0
	}
	return panes.TitleLines
}

// mostNotes returns the maximum number of notes below a table: most of the body is for rows.
func mostNotes(height int) int { return min(6, max(1, height/4)) }

// rowsOf returns how many rows of a page can be shown.
func (m model) rowsOf(p page) int {
	const titles = 1
	height := m.bodyHeight() - m.titleLines()
	return max(1, (height-titles-len(p.head(m.listWidth()))-min(len(p.notes), mostNotes(height)))/p.rowHeight())
}

// listWidth returns the width of the list of a view: in that of all clusters nothing is beside the details.
func (m model) listWidth() int {
	l := panes.Of(m.width)
	if m.inFleet() {
		return l.Whole()
	}
	return l.List
}

// drawPage draws a view: its summary, its table, its notes.
func (m model) drawPage(p page, width int) []string {
	var lines []string
	for _, l := range p.head(width) {
		lines = append(lines, m.theme.Draw(paint.Legible(l), width))
	}
	switch {
	case len(p.rows) > 0:
		lines = append(lines, m.drawRows(p, width)...)
	case p.empty != "":
		lines = append(lines, m.theme.Draw(styledLine(faint, "  "+p.empty), width))
	}
	if len(p.notes) == 0 {
		return lines
	}
	most := mostNotes(m.bodyHeight())
	for i, note := range p.notes {
		if i == most-1 && len(p.notes) > most {
			note = styledLine(faint, fmt.Sprintf("and %d more; enter shows the details of a row", len(p.notes)-i))
		}
		if i < most {
			lines = append(lines, m.theme.Draw(paint.AtWord(note, width), width))
		}
	}
	return lines
}

// drawRows draws the titles and the rows that fit.
func (m model) drawRows(p page, width int) []string {
	height, c := m.rowsOf(p), m.cursors[m.view]
	c = c.shown(len(p.rows), height)
	tables := p.layOutAll(width - markWidth)
	titles := make([]span, len(p.columns))
	for i, column := range p.columns {
		titles[i] = styled(strong, column.Name)
	}
	lines := []string{strings.Repeat(" ", markWidth) + tables[0].draw(m.theme, row{key: "titles", cells: titles}, width-markWidth)}
	for i := c.top; i < min(len(p.rows), c.top+height); i++ {
		if p.tall {
			above := row{titles: true, cells: p.rows[i].above}
			lines = append(lines, strings.Repeat(" ", markWidth)+tables[p.rows[i].list].draw(m.theme, above, width-markWidth))
		}
		if i == c.at && p.rows[i].key != "" {
			lines = append(lines, tables[p.rows[i].list].drawChosen(m.theme, p.rows[i], width))
			continue
		}
		lines = append(lines, strings.Repeat(" ", markWidth)+tables[p.rows[i].list].draw(m.theme, p.rows[i], width-markWidth))
	}
	return lines
}

// markWidth is the width of the column that marks the selected row, for terminals without colors.
const markWidth = 1

// footer returns the prompt, the notice, or the most important keys.
func (h here) footer(p page) string {
	m := h.model
	switch {
	case m.prompt.kind != promptNone:
		return m.theme.Draw(m.promptLine(), m.width)
	case m.notice.line != nil:
		return m.theme.Draw(m.notice.line, m.width)
	case m.decisionLine() != nil:
		return m.theme.Draw(append(m.scrolled(), m.decisionLine()...), m.width)
	default:
		return m.theme.Draw(h.hints(p), m.width)
	}
}

// hints returns the active filters, and the keys that show something here.
func (h here) hints(p page) line {
	m := h.model
	var l line
	if m.choice.filter != "" {
		l = append(l, styled(warn, "only "+m.choice.filter+"  "))
	}
	if m.choice.problem {
		l = append(l, styled(warn, "only problems  "))
	}
	if len(m.panes) > 0 {
		l = append(l, m.scrolled()...)
	} else {
		l = append(l, m.rowsSeen(p)...)
	}
	return append(l, h.bar(m.width-widthOf(l.Text()), sectionLook, sectionMove, sectionViews, sectionTime, sectionEnd)...)
}

// actionLines is the number of lines for the keys of actions: they are apart from all others.
func (m model) actionLines() int {
	if m.o.Actions == nil || m.height < fullHeight {
		return 0
	}
	return 1
}

// actionBar returns the keys of the actions that are possible here.
func (h here) actionBar() line {
	if h.prompt.kind != promptNone || h.decisionLine() != nil {
		return nil
	}
	keys := h.bar(h.width-len("actions: "), sectionAct)
	if len(keys) == 0 {
		return nil
	}
	return append(line{styled(warn, "actions: ")}, keys...)
}

// keysIn returns as many keys as fit. The last two, help and quit, are dropped last: help has
// the others.
func keysIn(hints [][2]string, width int) line {
	var l line
	for _, h := range hints {
		l = append(l, styled(strong, h[0]), styled(faint, " "+h[1]+"  "))
	}
	if widthOf(strings.TrimRight(l.Text(), " ")) > width && len(hints) > 2 {
		last := len(hints) - 2
		return keysIn(slices.Delete(slices.Clone(hints), last-1, last), width)
	}
	if n := len(l); n > 0 {
		l[n-1].Text = strings.TrimRight(l[n-1].Text, " ")
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

// scrolled returns which lines of a text are shown, if not all are, and which match of a search.
func (m model) scrolled() line {
	p := m.panes[len(m.panes)-1]
	lines := m.paneLines(m.clusterView(), p)
	all, height := len(lines), m.bodyHeight()
	var shown line
	if all > height {
		shown = line{styled(warn, fmt.Sprintf("lines %d-%d of %d  ", p.top+1, min(all, p.top+height), all))}
	}
	if p.kind == paneOutput && m.output.side > 0 {
		shown = append(shown, styled(warn, fmt.Sprintf("from column %d  ", m.output.column()+1)))
	}
	return slices.Concat(shown, m.found(lines))
}
