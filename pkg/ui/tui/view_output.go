package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// output is a text that is read from the cluster: YAML, or the log of a pod.
type output struct {
	id    int
	title string
	lines []string
	// follows is true while the last lines are displayed.
	follows bool
	// search is what the user searches for; empty for nothing.
	search string
	// at is the line, as it is drawn, of the match that n and N start from.
	at int
	// side is 0 while long lines are wrapped. Else they are cut, and begin side-1 steps to the right.
	side int
	// over is true once nothing more follows, failure why that is.
	over    bool
	failure string
	cancel  context.CancelFunc
}

// maxOutput is the maximum number of lines that are kept.
const maxOutput = 1000

// Messages of an output, and of a shell that ended.
type (
	outputMsg struct {
		id    int
		lines []string
		over  bool
		err   error
	}
	shellMsg struct{ err error }
)

func (o output) end() {
	if o.cancel != nil {
		o.cancel()
	}
}

// read opens a pane with what a task reads.
func (m model) read(title string, task func(ctx context.Context, send func([]string)) error) model {
	m.output.end()
	m.output = output{id: m.output.id + 1, title: title}
	id := m.output.id
	m.output.cancel = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		err := task(ctx, func(lines []string) { send(outputMsg{id: id, lines: lines}) })
		send(outputMsg{id: id, over: true, err: err})
	})
	return m.open(pane{kind: paneOutput})
}

// printed applies what was read.
func (m model) printed(msg outputMsg) model {
	if msg.id != m.output.id {
		return m
	}
	lines := slices.Concat(m.output.lines, msg.lines)
	m.output.lines = lines[max(0, len(lines)-maxOutput):]
	m.output.over = msg.over
	if msg.err != nil {
		m.output.failure = msg.err.Error()
	}
	if n := len(m.panes); n > 0 && m.shows(paneOutput) && m.output.follows {
		m.panes = slices.Clone(m.panes)
		m.panes[n-1].top = 1 << 20
	}
	return m
}

func (m model) outputText() []line {
	lines := []line{heading(m.output.title)}
	for _, text := range m.output.selected() {
		lines = append(lines, styledLine(plain, text))
	}
	switch {
	case m.output.failure != "":
		lines = append(lines, styledLine(bad, markBad+" "+m.output.failure))
	case !m.output.over && len(m.output.lines) == 0:
		lines = append(lines, styledLine(faint, "  reading"))
	}
	return lines
}

// pattern is what is searched for.
func (o output) pattern() pattern { return filterOf(o.search) }

// selected returns the lines without those that a search with "!" leaves out.
func (o output) selected() []string {
	p := o.pattern()
	if !p.absent {
		return o.lines
	}
	return slices.DeleteFunc(slices.Clone(o.lines), func(text string) bool { return !p.selects(text) })
}

// sideStep is the number of columns that a key scrolls sideways.
const sideStep = 20

// column is the first column that is shown.
func (o output) column() int { return max(0, o.side-1) * sideStep }

// sideways scrolls long lines: to the right they are no longer wrapped, and at their beginning they are wrapped again.
func (m model) sideways(by int) model {
	if !m.showsOutput() {
		return m
	}
	widest := 0
	for _, text := range m.output.selected() {
		widest = max(widest, widthOf(text))
	}
	steps := (max(0, widest-m.width) + sideStep - 1) / sideStep
	m.output.side = min(max(0, m.output.side+by), 1+steps)
	return m
}

// withSide returns the output scrolled sideways to a match that would not be visible.
func (o output) withSide(match line, width int) output {
	at := 0
	for _, s := range match {
		if s.Tone == paint.Found {
			break
		}
		at += widthOf(s.Text)
	}
	if o.side > 0 && (at < o.column() || at >= o.column()+width-sideStep/2) {
		o.side = 1 + at/sideStep
	}
	return o
}

// matches returns the lines of the open output, as they are drawn, that match the search.
func (m model) matches() []int {
	return matchesIn(m.paneLines(m.clusterView(), m.panes[len(m.panes)-1]))
}

// found returns at which match of how many the pane is.
func (m model) found(lines []line) line {
	if !m.shows(paneOutput) || m.output.search == "" {
		return nil
	}
	if m.output.pattern().absent {
		return line{styled(warn, phrase.Count(len(m.output.lines)-len(m.output.selected()), "line")+" left out  ")}
	}
	all := matchesIn(lines)
	text := phrase.Count(len(all), "match") + "  "
	if at, is := slices.BinarySearch(all, m.output.at); is {
		text = fmt.Sprintf("match %d of %d  ", at+1, len(all))
	}
	return line{styled(warn, text)}
}

func matchesIn(lines []line) []int {
	var all []int
	for i, l := range lines {
		if slices.ContainsFunc(l, func(s span) bool { return s.Tone == paint.Found }) {
			all = append(all, i)
		}
	}
	return all
}

// searched goes to the first match from the line on that was the first when the user began to type, or back to that.
func (m model) searched(text string) model {
	m.output.search, m.output.follows, m.output.at = text, false, m.prompt.from-1
	m.panes = slices.Clone(m.panes)
	m.panes[len(m.panes)-1].top = m.prompt.from
	if text == "" || m.output.pattern().absent {
		return m
	}
	return m.toMatch(1)
}

// toMatch goes to the next match, or with -1 to the one before; after the last comes the first.
func (m model) toMatch(by int) model {
	if !m.shows(paneOutput) || m.output.search == "" {
		return m.notify(plain, "/ in logs or YAML searches first")
	}
	all := m.matches()
	if len(all) == 0 {
		return m.notify(warn, "nothing matches "+m.output.search)
	}
	next, is := slices.BinarySearch(all, m.output.at)
	switch {
	case by < 0:
		next--
	case is:
		next++
	}
	m.output.at, m.output.follows = all[(next+len(all))%len(all)], false
	m.output = m.output.withSide(m.paneLines(m.clusterView(), m.panes[len(m.panes)-1])[m.output.at], m.width)
	m.panes = slices.Clone(m.panes)
	m.panes[len(m.panes)-1].top = m.output.at - m.bodyHeight()/3
	return m
}

// openYAML shows the objects of the selected row as YAML, or the cluster.
func (m model) openYAML() model {
	if m.o.Reads == nil {
		return m.notify(plain, "a recording has no YAML")
	}
	reads, o := m.o.Reads, m.selected()
	title := "YAML of " + m.name()
	if o.Name != "" {
		title = "YAML of " + o.Name + " in " + m.name()
	}
	return m.read(title, func(ctx context.Context, send func([]string)) error {
		text, err := reads.YAML(ctx, o)
		if err == nil {
			send(strings.Split(strings.TrimRight(text, "\n"), "\n"))
		}
		return err
	})
}

// selected returns the object of the selected row; the cluster for none.
func (m model) selected() entries.Object {
	r, _ := m.chosenRow()
	o := entries.Object{Cluster: m.name()}
	switch group := m.chosenGroup(); {
	case group != "":
		o.Kind, o.Name = entries.OfGroup, group
	case r.node != "":
		o.Kind, o.Name = entries.OfNode, r.node
	case r.backup != "":
		o.Kind, o.Name = entries.OfBackup, r.backup
	case r.restore != "":
		o.Kind, o.Name = entries.OfRestore, r.restore
	}
	return o
}

// openLogs follows the log of the selected pod.
func (m model) openLogs() model {
	pod := m.clusterView().podOf(m.chosenGroup())
	switch {
	case m.o.Reads == nil:
		return m.notify(plain, "a recording has no logs")
	case pod == "":
		return m.notify(plain, "select a process group with a pod first")
	}
	reads, cluster := m.o.Reads, m.name()
	m = m.read("Logs of "+pod, func(ctx context.Context, send func([]string)) error { return reads.Logs(ctx, cluster, pod, send) })
	m.output.follows = true
	return m
}

// openShell leaves the terminal to a shell in the selected pod, until that ends.
func (m model) openShell() (model, tea.Cmd) {
	pod := m.clusterView().podOf(m.chosenGroup())
	switch {
	case m.o.Actions == nil:
		return m.notify(warn, m.readOnly()), nil
	case m.o.Reads == nil || pod == "":
		return m.notify(plain, "select a process group with a pod first"), nil
	case m.busy() || m.o.Passes:
		return m.notify(warn, "cannot open a shell: running actions and passes have no display meanwhile"), nil
	}
	return m, tea.ExecProcess(m.o.Reads.Shell(m.name(), pod), func(err error) tea.Msg { return shellMsg{err} })
}

func (m model) shellEnded(msg shellMsg) model {
	if msg.err != nil {
		return m.notify(warn, "the shell ended: "+msg.err.Error())
	}
	return m.notify(plain, "the shell ended")
}
