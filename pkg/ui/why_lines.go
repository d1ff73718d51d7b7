package ui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
)

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
	return &whyPage{w: text, o: WhyOptions{Paint: Paint{Color: true}, ListOptions: ListOptions{Now: now}}, unbroken: true}, text
}
