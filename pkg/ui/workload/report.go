package workload

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteReport prints what makes a database slow: one line that is enough to act on, then each cause
// with its threshold and its command.
func WriteReport(w io.Writer, r workload.Report) error {
	p := page{w: w}
	p.entry("", r.Metadata.Namespace+"/"+r.Metadata.Cluster+": "+r.Summary)
	for _, c := range r.Items {
		p.entry("", "")
		p.entry("", fmt.Sprintf("%s  %s  %s", phrase.Some(c.Subjects, inspect.MostNamed), c.Code, c.Effect))
		p.entry(" └ ", c.Summary)
		p.entry(" └ ", fmt.Sprintf("threshold %s: %s", c.Threshold.Unit.Text(c.Threshold.Value), c.Threshold.Source))
		p.entry(" next: ", c.Next)
	}
	if len(r.Items) == 0 {
		p.sections(r)
	}
	p.unknown(r)
	return p.err
}

// WriteReportTable prints a row per cause.
func WriteReportTable(w io.Writer, r workload.Report, o ui.ListOptions) error {
	o.Wide = true
	return writeCauses(w, r.Items, o)
}

type page struct {
	w   io.Writer
	err error
}

func (p *page) entry(label, text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, layout.Labeled(label, text, layout.Width(p.w)))
	}
}

// sections prints the figures, as the evidence that nothing slows the database.
func (p *page) sections(r workload.Report) {
	if r.State == workload.StateUnknown {
		for _, next := range r.Next {
			p.entry("  next: ", next)
		}
		return
	}
	p.entry("", "")
	for _, s := range Sections(r.Load) {
		p.entry(fmt.Sprintf(" %-14s", s.Name+":"), s.Text)
	}
}

func (p *page) unknown(r workload.Report) {
	for i, u := range r.Unknown {
		if i == 0 {
			p.entry("", "")
		}
		p.entry(" ? ", u.Text())
	}
}

// Kinds returns the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{
		{Name: "PerformanceReport", PrintedBy: "why --performance", Document: workload.Report{}},
		{Name: "ProcessLoadList", PrintedBy: "top processes", Document: workload.ProcessList{}},
		{Name: "Workload", PrintedBy: "top", Document: workload.View{}},
	}
}
