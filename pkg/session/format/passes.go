package format

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Passes prints what passes do and how they end, in a format of -o: a line of text or of JSON for each event, or only the
// result. What an observer runs is given to that instead.
type Passes struct {
	env    *session.Env
	format string
	// Progress shows on a terminal what passes do; nil where the text alone does.
	Progress *ui.Progress
}

// NewPasses returns what prints passes in a format of -o.
func NewPasses(env *session.Env, format string) *Passes { return &Passes{env: env, format: format} }

func (p *Passes) printsText() bool { return Flags{Format: p.format}.IsTable() }

// Events returns what prints the events of passes.
func (p *Passes) Events() func(reconcile.Event) {
	switch {
	case p.env.Observer != nil:
		return p.env.Observer.Event
	case p.format == "json":
		return ui.JSON(p.env.Out)
	case !p.printsText(), p.env.Global.Quiet:
		return func(reconcile.Event) {} // only the document or the line at the end is printed
	default:
		return ui.Text(p.env.Out, p.text())
	}
}

// EventsWithProgress returns what prints the events of a command that ends: on a terminal the progress shows what ends
// by itself, instead of lines.
func (p *Passes) EventsWithProgress() func(reconcile.Event) {
	o := p.text()
	if p.env.Observer != nil || p.env.Footer == nil || !p.printsText() || p.env.Global.Quiet || o.Verbose {
		return p.Events()
	}
	o.Live, p.Progress = true, ui.NewProgress(p.env.Footer, p.env.Clock)
	lines := ui.Text(p.env.Out, o)
	return func(e reconcile.Event) {
		lines(e)
		p.Progress.Report(e)
	}
}

// EventsOf returns what prints the events of passes over one of several resources.
func (p *Passes) EventsOf(resource inspect.Metadata, s *Sections) func(reconcile.Event) {
	switch {
	case p.format == "json":
		return ui.JSONOf(p.env.Out, resource)
	case resource.Site != "":
		return ui.Text(section{s, resource.Subject()}, p.text())
	}
	return ui.Text(section{s, resource.Cluster}, p.text())
}

// text is how events are printed in lines: with their time, unless on a terminal.
func (p *Passes) text() ui.TextOptions {
	o := ui.TextOptions{Paint: p.env.Paint(p.env.Out), Verbose: p.env.Global.Verbose > 0}
	if !p.env.IsTerminal(p.env.Out) {
		o.Clock = p.env.Clock.Now
	}
	return o
}

// Document prints a document among the events.
func (p *Passes) Document(document any) {
	if p.env.Observer != nil {
		p.env.Observer.Document(document)
	}
	if p.format == "json" {
		_ = ui.WriteJSON(p.env.Out, document) // SIGPIPE ends the process
	}
}

// Targets prints the targets whose progress has changed.
func (p *Passes) Targets(before, now []inspect.Target) {
	if p.env.Observer == nil {
		var at time.Time
		if !p.env.IsTerminal(p.env.Out) {
			at = p.env.Clock.Now()
		}
		ui.WriteProgress(p.env.Out, at, before, now)
		return
	}
	for _, t := range now {
		if !slices.Contains(before, t) {
			p.env.Observer.Progress(t)
		}
	}
}

// Proposed shows the plan that a prompt is about. The prompt of an observer shows it itself.
func (p *Passes) Proposed(v planned.PlanView) error {
	if p.env.Observer != nil {
		return nil
	}
	w := p.env.ErrOut
	return ui.WritePlan(w, v, ui.PlanOptions{Paint: p.env.Paint(w), Wide: p.env.Global.Verbose > 0})
}

// ProposedSites shows the plans of the sites of one database that a prompt is about.
func (p *Passes) ProposedSites(v planned.PlanListView) error {
	w := p.env.ErrOut
	return ui.WriteSitePlans(w, v, ui.PlanOptions{Paint: p.env.Paint(w), Wide: p.env.Global.Verbose > 0})
}

// Result prints the result as a document, or the names of what was changed.
func (p *Passes) Result(document any, names []string) error {
	return Flags{Format: p.format}.Print(p.env.Out, Printable{Document: document, Names: names, Stream: p.format == "json"})
}

// Line prints a line of text.
func (p *Passes) Line(text string, args ...any) { layout.Line(p.env.Out, text, args...) }

// Plan prints a plan; names are those of what it changes.
func Plan(env *session.Env, o Flags, v planned.PlanView, names []string) error {
	return o.Print(env.Out, Printable{Document: v, Names: names, Table: func(w io.Writer) error { return ui.WritePlan(w, v, o.plan(env, w)) }})
}

// SitePlans prints the plans of the sites of one database; names are those of what they change.
func SitePlans(env *session.Env, o Flags, v planned.PlanListView, names []string) error {
	return o.Print(env.Out, Printable{Document: v, Names: names, Table: func(w io.Writer) error { return ui.WriteSitePlans(w, v, o.plan(env, w)) }})
}

func (o Flags) plan(env *session.Env, w io.Writer) ui.PlanOptions {
	return ui.PlanOptions{Paint: env.Paint(w), Wide: o.Format == "wide" || env.Global.Verbose > 0, NoHeaders: o.NoHeaders}
}

// Pruned prints the resources that manifests do not have any more, with what their deletion would do.
func Pruned(env *session.Env, w io.Writer, all []planned.Pruned) {
	ui.WritePruned(w, all, ui.PlanOptions{Paint: env.Paint(w)})
}

// Sections are the output about several resources, with a header whenever the resource changes.
type Sections struct {
	w    io.Writer
	last string
}

// NewSections returns sections of an output.
func NewSections(w io.Writer) *Sections { return &Sections{w: w} }

// Width returns the width that text has to fit, in cells.
func (s *Sections) Width() int { return layout.Width(s.w) }

// section is the output about one resource.
type section struct {
	*Sections
	resource string
}

func (s section) Write(text []byte) (int, error) {
	if s.last != s.resource {
		s.last = s.resource
		if _, err := fmt.Fprintln(s.w, s.resource); err != nil {
			return 0, err
		}
	}
	return s.w.Write(text)
}
