package ui

import (
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// PlanTotal is a part of the first line of a plan.
type PlanTotal struct {
	// Sign is that of what the part counts; empty for what is neither added nor removed.
	Sign plan.Sign
	Text string
	// Bad is true for what keeps passes from completing the plan.
	Bad bool
}

// PlanTotals returns the totals of a plan: of all passes with a forecast, else of the next pass. There are none for a plan
// that changes nothing.
func PlanTotals(v planned.PlanView) []PlanTotal {
	if v.Work() == 0 && len(v.Holds) == 0 && len(v.Refused()) == 0 {
		return nil
	}
	t := v.Totals()
	parts := counted(t)
	if len(parts) == 0 && t.Actions > 0 {
		parts = []PlanTotal{{Text: phrase.Count(t.Actions, "action")}}
	}
	switch {
	case v.Foresees():
		parts = append(parts, forecastTotal(v.Forecast))
	case len(parts) > 0:
		parts = append(parts, PlanTotal{Text: "in the next pass"})
	}
	return append(parts, obstacles(v)...)
}

// counted returns the totals that are not 0.
func counted(t planned.ForecastTotals) (parts []PlanTotal) {
	add := func(sign plan.Sign, n int, noun string) {
		if n > 0 {
			parts = append(parts, PlanTotal{Sign: sign, Text: strings.TrimSpace(string(sign) + " " + phrase.Count(n, noun))})
		}
	}
	add(plan.Adds, t.PodsCreated, "pod")
	add(plan.Removes, t.PodsDeleted, "pod")
	add(plan.Alters, t.ProcessesRestarted, "restart")
	add("", t.Recoveries, "recovery")
	if t.MovedBytes > 0 {
		parts = append(parts, PlanTotal{Text: phrase.Bytes(t.MovedBytes) + " to move"})
	}
	return parts
}

// forecastTotal returns how long all passes take, or how they end instead.
func forecastTotal(f *planned.Forecast) PlanTotal {
	about := "~" + inSeconds(f.Seconds)
	switch f.End {
	case planned.ForecastComplete:
		if f.Begins {
			return PlanTotal{Text: "begun in " + about}
		}
		return PlanTotal{Text: about}
	case planned.ForecastBlocked, planned.ForecastFailed:
		return PlanTotal{Text: string(f.End) + " after " + about, Bad: true}
	case planned.ForecastWaiting, planned.ForecastUnfinished, planned.ForecastUnavailable:
	}
	return PlanTotal{Text: "not complete after " + about, Bad: true}
}

// obstacles returns what requires a user before passes can complete the plan.
func obstacles(v planned.PlanView) (parts []PlanTotal) {
	if len(v.Refused()) > 0 {
		parts = append(parts, PlanTotal{Text: "no pass may start", Bad: true})
	}
	blocked := 0
	for _, h := range v.Holds {
		if h.ManualIntervention {
			blocked++
		}
	}
	if blocked > 0 {
		parts = append(parts, PlanTotal{Text: strconv.Itoa(blocked) + " blocked", Bad: true})
	}
	return parts
}

// totals prints the first line of a plan.
func (o PlanOptions) totals(w io.Writer, v planned.PlanView) { o.parts(w, PlanTotals(v)) }

func (o PlanOptions) parts(w io.Writer, totals []PlanTotal) {
	var parts []string
	for _, part := range totals {
		color := o.signColor(part.Sign)
		if part.Bad {
			color = red
		}
		parts = append(parts, o.in(color, part.Text))
	}
	if len(parts) > 0 {
		layout.Entry(w, "", strings.Join(parts, "  "))
	}
}

func (o PlanOptions) signColor(s plan.Sign) string {
	switch s {
	case plan.Adds:
		return green
	case plan.Removes:
		return red
	case plan.Alters:
		return yellow
	default:
		return bold
	}
}
