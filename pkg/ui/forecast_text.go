package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// maxForecastWaits is how many waits are printed, the longest ones.
const maxForecastWaits = 3

// forecast prints what all passes will do; nothing for a plan without a forecast.
func (o PlanOptions) forecast(w io.Writer, f *planned.Forecast) error {
	if f == nil {
		return nil
	}
	fmt.Fprintln(w)
	layout.Entry(w, o.in(bold, "Forecast:")+" ", forecastSentence(f))
	if f.Unavailable != nil {
		return nil
	}
	if len(f.Phases) > 0 {
		if err := o.phases(f).Write(w); err != nil {
			return err
		}
	}
	for _, line := range forecastLines(f) {
		layout.Entry(w, o.in(faint, line[0]+":")+" ", line[1])
	}
	return nil
}

// ForecastLines returns a forecast as lines of a prompt; none for a plan without a forecast.
func ForecastLines(f *planned.Forecast) []string {
	if f == nil {
		return nil
	}
	lines := []string{"Forecast: " + forecastSentence(f)}
	if f.Unavailable != nil {
		return lines
	}
	for _, p := range f.Phases {
		line := fmt.Sprintf("after %s %s: %s", span(p), p.Stage, p.Summary)
		if p.Actions > 1 || len(p.Groups) > 1 {
			line = fmt.Sprintf("after %s %s: %d %s %s", span(p), p.Stage, p.Actions, p.Kind, shortened(phrase.List(p.Groups)))
		}
		if p.Impact != plan.NoImpact {
			line += " (" + string(p.Impact) + ")"
		}
		lines = append(lines, line)
	}
	for _, l := range forecastLines(f) {
		lines = append(lines, l[0]+": "+l[1])
	}
	return lines
}

func (o PlanOptions) phases(f *planned.Forecast) Table {
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "AFTER"},
		{Name: "STAGE", Drop: 1},
		{Name: "ACTION"},
		{Name: "COUNT"},
		{Name: "PROCESS GROUPS", Min: 20, Below: true},
		{Name: "IMPACT"},
	}}
	for _, p := range f.Phases {
		t.Rows = append(t.Rows, []string{span(p), string(p.Stage), p.Kind, strconv.Itoa(p.Actions), phrase.Or(shortened(phrase.List(p.Groups)), phrase.Nothing), string(p.Impact)})
	}
	return t
}

// simulations prints how the passes end while things fail, and the story of the worst simulation.
func (o PlanOptions) simulations(w io.Writer, s *planned.Simulations) {
	if s == nil {
		return
	}
	fmt.Fprintln(w)
	title := o.in(bold, "Simulations:") + " "
	if s.Unavailable != nil {
		layout.Entry(w, title, "unavailable: "+noForecastWords(s.Unavailable))
		return
	}
	layout.Entry(w, title, phrase.CountOf(s.Complete, len(s.Runs), "simulation")+" complete while processes, pods and nodes fail")
	if s.Complete > 0 {
		layout.Entry(w, o.in(faint, "duration:")+" ", fmt.Sprintf("50%% within %s, 95%% within %s", inSeconds(s.MedianSeconds), inSeconds(s.SlowSeconds)))
	}
	layout.Entry(w, o.in(faint, "database:")+" ", fmt.Sprintf("commits pause for at most %s; at least %s of all data on processes that answer",
		inSeconds(s.MostPausedSeconds), phrase.Count(s.FewestCopies, "copy")))
	if worst := s.Run(s.Worst); worst != nil {
		layout.Entry(w, o.in(faint, "worst:")+" ", fmt.Sprintf("seed %d, %s after %s", worst.Seed, worst.End, inSeconds(worst.Seconds)))
		for _, e := range worst.Story {
			layout.Entry(w, "  "+inSeconds(e.Seconds)+"  ", inspect.OneLine(e.What))
		}
	}
}

// span returns when the actions of a phase run.
func span(p planned.ForecastPhase) string {
	from, to := inSeconds(p.FromSeconds), inSeconds(p.ToSeconds)
	if from == to {
		return from
	}
	return from + ".." + to
}

func inSeconds(s float64) string {
	return phrase.Duration(time.Duration(s * float64(time.Second)))
}

func forecastSentence(f *planned.Forecast) string {
	size := fmt.Sprintf("in %s with %s", phrase.Count(f.Passes, "pass"), phrase.Count(f.Totals.Actions, "action"))
	switch f.End {
	case planned.ForecastComplete:
		text := fmt.Sprintf("complete after about %s, %s", inSeconds(f.Seconds), size)
		if f.Begins {
			return fmt.Sprintf("begun after about %s, %s; later passes complete it, forecast by --wait", inSeconds(f.Seconds), size)
		}
		if f.HousekeepingSeconds > 0 {
			text += fmt.Sprintf("; housekeeping about %s later", inSeconds(f.HousekeepingSeconds))
		}
		return text
	case planned.ForecastBlocked:
		if f.Totals.Actions == 0 { // a pass is only repeated to see whether time alone resolves it
			return "blocked before any action: manual intervention is required"
		}
		return fmt.Sprintf("blocked %s: manual intervention is required", endOf(f, size))
	case planned.ForecastWaiting:
		return fmt.Sprintf("not complete %s: it waits for something that does not happen by itself", endOf(f, size))
	case planned.ForecastUnfinished:
		return fmt.Sprintf("not complete after %s, %s", inSeconds(f.Seconds), size)
	case planned.ForecastFailed:
		return fmt.Sprintf("an action fails after about %s, %s", inSeconds(f.Seconds), size)
	case planned.ForecastUnavailable:
		return "unavailable: " + noForecastWords(f.Unavailable)
	}
	return string(f.End)
}

// endOf returns when, and with how much done, a forecast that does not complete ends.
func endOf(f *planned.Forecast, size string) string {
	if f.Seconds <= 0 {
		return size
	}
	return "after about " + inSeconds(f.Seconds) + ", " + size
}

// noForecastReasons are why there is no forecast, by code.
var noForecastReasons = map[string]string{
	"database-unknown":     "the database status cannot be read",
	"database-unavailable": "the database is unavailable",
	"state":                "the cluster state cannot be simulated",
	"facts-missing":        "part of the cluster state cannot be read",
	"too-slow":             "it takes too long to compute",
}

func noForecastWords(n *planned.NoForecast) string {
	words := phrase.Or(noForecastReasons[n.Code], n.Code)
	if n.Detail == "" {
		return words
	}
	return words + " (" + inspect.OneLine(n.Detail) + ")"
}

// forecastLines are the totals as pairs of a label and a text.
func forecastLines(f *planned.Forecast) [][2]string {
	t := f.Totals
	lines := [][2]string{{"pods", podWords(t)}}
	if t.ProcessesRestarted > 0 {
		lines = append(lines, [2]string{"restarts", restartWords(t)})
	}
	if effect := effectWords(t); effect != "" {
		lines = append(lines, [2]string{"database", effect})
	}
	if loss := nodeLossWords(f.Phases); loss != "" {
		lines = append(lines, [2]string{"if a node is lost", loss})
	}
	for _, wait := range f.Waits[:min(len(f.Waits), maxForecastWaits)] {
		lines = append(lines, [2]string{"waiting", fmt.Sprintf("%s in %s for: %s", inSeconds(wait.Seconds), wait.Stage, inspect.OneLine(wait.Reason))})
	}
	return append(lines, [2]string{"assumed", fmt.Sprintf("nothing else fails; pods start within %s; data moves at %s/s",
		inSeconds(f.Assumed.PodStartSeconds), phrase.Bytes(f.Assumed.MoveBytesPerSecond))})
}

// nodeLossWords returns what the loss of one more node would do in the phases that change processes
// or data; empty without such phases.
func nodeLossWords(phases []planned.ForecastPhase) string {
	during := map[planned.NodeLoss][]string{}
	for _, p := range phases {
		loss := p.IfNodeIsLost()
		during[loss] = append(during[loss], fmt.Sprintf("%s (%s)", p.Stage, p.Kind))
	}
	var words []string
	if in := during[planned.NodeLossPauses]; len(in) > 0 {
		words = append(words, fmt.Sprintf("during %s some data is unavailable until the node or another copy is back", phrase.List(in)))
	}
	if in := during[planned.NodeLossAlreadyPaused]; len(in) > 0 {
		words = append(words, fmt.Sprintf("%s %s some data anyway, until the restarted processes are back", phrase.List(in), phrase.Either(len(in), "interrupts", "interrupt")))
	}
	if in := during[planned.NodeLossTolerated]; len(in) > 0 && len(words) == 0 {
		return "all data stays available in each phase"
	} else if len(in) > 0 {
		words = append(words, "all data stays available in all other phases")
	}
	return strings.Join(words, "; ")
}

func podWords(t planned.ForecastTotals) string {
	if t.PodsCreated+t.PodsDeleted == 0 {
		return fmt.Sprintf("%d, none created or deleted", t.PodsNow)
	}
	return fmt.Sprintf("%d now, %d at the peak, %d at the end; %d created, %d deleted", t.PodsNow, t.PodsAtPeak, t.PodsAtEnd, t.PodsCreated, t.PodsDeleted)
}

func restartWords(t planned.ForecastTotals) string {
	if t.MostAtOnce == t.ProcessesRestarted {
		return phrase.Count(t.ProcessesRestarted, "process") + phrase.Either(t.ProcessesRestarted, "", ", all at once")
	}
	return fmt.Sprintf("%s, up to %d at once", phrase.Count(t.ProcessesRestarted, "process"), t.MostAtOnce)
}

func effectWords(t planned.ForecastTotals) string {
	var words []string
	if t.Recoveries > 0 {
		words = append(words, fmt.Sprintf("%s, commits pause for about %s in all", phrase.Count(t.Recoveries, "recovery"), inSeconds(max(t.PausedSeconds, 1))))
	}
	if t.MovedBytes > 0 {
		words = append(words, phrase.Bytes(t.MovedBytes)+" of data move")
	}
	return strings.Join(words, "; ")
}
