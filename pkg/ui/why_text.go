package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WhyOptions is how a report is printed.
type WhyOptions struct {
	ListOptions
}

// WriteWhy prints a report: one line that is enough to act on, then each chain from its
// summary to its root cause.
func WriteWhy(w io.Writer, v why.Report, o WhyOptions) error {
	p := &whyPage{w: w, o: o}
	p.report(v)
	return p.err
}

func (p *whyPage) report(v why.Report) {
	o := p.o
	p.headline(v)
	if v.Pause != nil && v.AsOf != nil {
		p.printf("%s %s\n", o.in(yellow, "paused:"), v.Pause.Text(*v.AsOf))
	}
	if v.Operation != nil {
		p.entry(o.in(yellow, "operation:")+" ", StatusOptions{Absolute: o.Absolute, Now: o.Now}.operation(*v.Operation))
	}
	if v.Rollout != nil {
		p.entry(o.in(yellow, "rollout:")+" ", inspect.RolloutText(*v.Rollout))
	}
	for _, c := range v.Items {
		p.chain(c)
	}
	if v.Outage != nil {
		p.outage(*v.Outage)
	}
}

// outage prints the cause once more at the end, where a terminal stops, and what to do about it.
func (p *whyPage) outage(v why.OutageView) {
	p.printf("\n")
	if len(v.WaitingStages) > 0 {
		p.entry("", phrase.Count(len(v.WaitingStages), "stage")+phrase.Either(len(v.WaitingStages), " waits", " wait")+" for the database: "+phrase.List(v.WaitingStages))
	}
	p.entry("", p.o.in(bold, "What to do:")+" "+p.o.in(red, v.Text()))
	for i, s := range v.Steps {
		label := fmt.Sprintf(" %d. ", i+1)
		p.entry(label, s.Message)
		p.entry(strings.Repeat(" ", len(label)), s.Command)
	}
}

// maxHeadline is how long the summary may be: the chain below has the whole text.
const maxHeadline = 240

// headline prints the summary and the first command, which gets a line of its own where both do
// not fit on one.
func (p *whyPage) headline(v why.Report) {
	text := layout.Clean(v.Metadata.Subject() + ": " + whyReportHeadline(v)) // a part of a secret is recognized as none
	line := p.o.in(colorOfWhy(v.State), layout.CutAtWord(text, maxHeadline))
	if len(v.Next) == 0 {
		p.entry("", line)
		return
	}
	next := "  " + p.o.in(bold, "next:") + " "
	if width := layout.Width(p.w); width == 0 || layout.Cells(line+next+v.Next[0]) <= width {
		p.printf("%s%s%s\n", line, next, v.Next[0])
		return
	}
	p.entry("", line)
	p.entry(next, v.Next[0])
}

// entry prints a text after its label.
func (p *whyPage) entry(label, text string) {
	if p.err != nil {
		return
	}
	width := layout.Width(p.w)
	if p.unbroken {
		width = 0
	}
	_, p.err = fmt.Fprintln(p.w, layout.Labeled(label, text, width))
}

// whyReportHeadline returns the summary without the name that precedes it.
func whyReportHeadline(v why.Report) string {
	if v.AsOf != nil && len(v.Items) > 0 && slices.Equal(v.Items[0].Subjects, []string{v.Metadata.Cluster}) {
		return v.Items[0].Predicate(*v.AsOf)
	}
	return v.Summary
}

type whyPage struct {
	w   io.Writer
	o   WhyOptions
	err error
	// unbroken is true where the reader breaks lines that are too long.
	unbroken bool
}

func (p *whyPage) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = layout.Fprintf(p.w, format, args...)
	}
}

func (p *whyPage) chain(c why.Chain) {
	p.printf("\n")
	p.causes(c)
	for _, command := range c.Next {
		p.entry(" "+p.o.in(bold, "next:")+" ", command)
	}
}

// causes prints a chain without what to do next.
func (p *whyPage) causes(c why.Chain) {
	p.entry("", fmt.Sprintf("%s  %s%s  %s", p.o.in(bold, phrase.Some(c.Subjects, inspect.MostNamed)), c.Summary, p.since(c.Since), p.o.in(colorOfWhy(c.State), string(c.State))))
	p.links(c.Reasons, " ")
}

// links prints reasons, and below each its own reasons.
func (p *whyPage) links(links []why.Link, indent string) {
	for _, l := range links {
		words := []string{}
		if l.Stage != "" {
			words = append(words, string(l.Stage)+":")
		}
		words = append(words, p.reason(l))
		p.entry(indent+"└ ", strings.Join(words, " "))
		p.links(l.Reasons, indent+"   ")
	}
}

// reason returns a reason and since when it holds. One that stands above already is not printed again.
func (p *whyPage) reason(l why.Link) string {
	switch {
	case !l.Repeated:
		return l.Text() + p.since(l.Since)
	case l.Subject != "":
		return l.Subject + ": see above"
	default:
		return "its pod: see above"
	}
}

// since returns for how long, or since when, after a clause.
func (p *whyPage) since(t *time.Time) string {
	switch {
	case t == nil:
		return ""
	case p.o.Absolute:
		return ", since " + p.o.time(t)
	default:
		return ", for " + p.o.time(t)
	}
}

func colorOfWhy(s why.State) string {
	switch s {
	case why.Ready:
		return green
	case why.Waiting:
		return yellow
	case why.Blocked, why.Unknown:
		return red
	}
	return ""
}

var whyColumns = []layout.Column{
	{Name: "SUBJECT", Min: 16},
	{Name: "STATE"},
	{Name: "STAGE", Drop: 3},
	{Name: "GATE", Drop: 2},
	{Name: "HAVE", Drop: 4, Below: true},
	{Name: "NEED", Drop: 4, Below: true},
	{Name: "SINCE", Drop: 1},
	{Name: "BLOCKED-BY", Below: true},
	{Name: "HINT", Below: true},
}

// WriteWhyTable prints a row per chain.
func WriteWhyTable(w io.Writer, v why.Report, o ListOptions) error {
	t := o.table(whyColumns)
	for _, c := range v.Items {
		t.Rows = append(t.Rows, whyChainRow(c, o))
	}
	return t.Write(w)
}

// whyChainRow follows the first reasons: the stage, the gate, and the root cause.
func whyChainRow(c why.Chain, o ListOptions) []string {
	var stage, gate, have, need, root string
	if at := slices.IndexFunc(c.Reasons, func(l why.Link) bool { return l.Stage != "" }); at >= 0 {
		stage = string(c.Reasons[at].Stage)
	}
	for links := c.Reasons; len(links) > 0; links = links[0].Reasons {
		l := links[0]
		root = l.Text()
		if l.Coordinator != "" {
			root += " at " + l.Coordinator
		}
		if gate == "" && l.Gate != "" {
			gate, have, need = string(l.Gate), l.Have, l.Need
		}
	}
	hint := ""
	if len(c.Next) > 0 {
		hint = c.Next[0]
	}
	since := phrase.Nothing
	if c.Since != nil {
		since = o.time(c.Since)
	}
	return []string{phrase.Some(c.Subjects, inspect.MostNamed), string(c.State), phrase.Or(stage, phrase.Nothing), phrase.Or(gate, phrase.Nothing), phrase.Or(have, phrase.Nothing), phrase.Or(need, phrase.Nothing), since, phrase.Or(root, phrase.Nothing), phrase.Or(hint, phrase.Nothing)}
}

// WriteWhyList prints the report of each cluster, with a line between two.
func WriteWhyList(w io.Writer, l why.ReportList, o WhyOptions) error {
	for i, r := range l.Items {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := WriteWhy(w, r, o); err != nil {
			return err
		}
	}
	return nil
}

// WriteWhyListTable prints a row per chain of each cluster, and one for each that has none.
func WriteWhyListTable(w io.Writer, l why.ReportList, o ListOptions) error {
	t := o.table(slices.Concat([]layout.Column{{Name: "CLUSTER", Min: 16}}, whyColumns))
	for _, r := range l.Items {
		name := r.Metadata.Subject()
		if len(r.Items) == 0 {
			t.Rows = append(t.Rows, append([]string{name}, whyChainRow(why.Chain{Subjects: []string{"cluster"}, State: r.State, Reasons: []why.Link{{Message: r.Summary}}}, o)...))
		}
		for _, c := range r.Items {
			t.Rows = append(t.Rows, append([]string{name}, whyChainRow(c, o)...))
		}
	}
	return t.Write(w)
}

// TonedText is a part of a line that a command prints, for the dashboard.
type TonedText struct {
	Tone list.Tone
	Text string
}

// tones are those of colors.
var tones = map[string]list.Tone{bold: list.Strong, faint: list.Faint, red: list.Bad, green: list.Good, yellow: list.Warn}

// widthOnly is text for a width, with its styles.
type widthOnly struct {
	strings.Builder
	width int
}

// Width is the one that text has to fit, in cells.
func (w *widthOnly) Width() int { return w.width }

// lines returns what was written.
func (w *widthOnly) lines() [][]TonedText {
	var all [][]TonedText
	for line := range strings.Lines(w.String()) {
		var pieces []TonedText
		for _, p := range layout.Pieces(strings.TrimSuffix(line, "\n")) {
			pieces = append(pieces, TonedText{tones[p.SGR], p.Text})
		}
		all = append(all, pieces)
	}
	return all
}

// WhyLines returns a report as WriteWhy prints it on a terminal of a width, with each text on one line.
func WhyLines(v why.Report, now time.Time, width int) [][]TonedText {
	p, text := whyLines(now, width)
	p.report(v)
	return text.lines()
}

// WhyCauses returns the chains of a report as WriteWhy prints them, without what to do next.
func WhyCauses(v why.Report, now time.Time) [][]TonedText {
	p, text := whyLines(now, 0)
	for _, c := range v.Items {
		p.causes(c)
	}
	return text.lines()
}

func whyLines(now time.Time, width int) (*whyPage, *widthOnly) {
	text := &widthOnly{width: width}
	return &whyPage{w: text, o: WhyOptions{ListOptions: ListOptions{Paint: Paint{Color: true}, Now: now}}, unbroken: true}, text
}
