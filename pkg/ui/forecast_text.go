package ui

import (
	"fmt"
	"io"
	"slices"
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

// maxBriefWaits is how many waits of a forecast that completes are printed.
const maxBriefWaits = 2

// forecast prints what all passes will do; nothing for a plan without a forecast.
func (o PlanOptions) forecast(w io.Writer, f *planned.Forecast) error {
	if f == nil {
		return nil
	}
	layout.Entry(w, o.in(bold, "Forecast:")+" ", ForecastSentence(f))
	if f.Unavailable != nil {
		return nil
	}
	if t := o.phases(f); len(t.Rows) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	if others := otherPhases(f); others != "" && !o.Wide {
		layout.Entry(w, o.in(faint, "no impact:")+" ", others)
	}
	for _, line := range ForecastFacts(f) {
		layout.Entry(w, o.in(faint, line[0]+":")+" ", line[1])
	}
	return nil
}

// phases returns a row per kind of action that has an impact or changes pods; with Wide one for each stage and kind, with
// all process groups.
func (o PlanOptions) phases(f *planned.Forecast) Table {
	if o.Wide {
		return o.allPhases(f)
	}
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{{Name: "AFTER"}, {Name: "CHANGE"}, {Name: "OBJECTS", Min: 16}, {Name: "IMPACT", Optional: true}}}
	for _, p := range f.Phases {
		if p.Matters() {
			t.Rows = append(t.Rows, []string{PhaseSpan(p), o.signed(plan.ChangeOf(p.Kind, nil)), PhaseObjects(p), o.impact(p.Impact)})
		}
	}
	return t
}

func (o PlanOptions) allPhases(f *planned.Forecast) Table {
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "AFTER"}, {Name: "STAGE", Drop: 1}, {Name: "ACTION"}, {Name: "COUNT"}, {Name: "PROCESS GROUPS", Min: 20, Below: true}, {Name: "IMPACT"},
	}}
	for _, p := range f.Phases {
		c := plan.ChangeOf(p.Kind, nil)
		action := o.in(o.signColor(c.Sign), string(c.Sign)) + " " + p.Kind
		t.Rows = append(t.Rows, []string{PhaseSpan(p), string(p.Stage), action, strconv.Itoa(p.Actions), phrase.Or(phrase.List(p.Groups), phrase.Nothing), string(p.Impact)})
	}
	return t
}

// maxOtherPhases is how many changes without an impact are named.
const maxOtherPhases = 4

// otherPhases names the changes that have no row of their own.
func otherPhases(f *planned.Forecast) string {
	var names []string
	for _, p := range f.Phases {
		if of := plan.ChangeOf(p.Kind, nil).Of; !p.Matters() && !slices.Contains(names, of) {
			names = append(names, of)
		}
	}
	return phrase.Some(names, maxOtherPhases)
}

// PhaseObjects describes what the actions of a phase are about in few words.
func PhaseObjects(p planned.ForecastPhase) string {
	switch {
	case len(p.Commands) > 0:
		return phrase.List(p.Commands)
	case len(p.Groups) == 1:
		return string(p.Groups[0])
	case len(p.Groups) > 1:
		return phrase.Count(len(p.Groups), "process group")
	case p.Actions > 1:
		return strconv.Itoa(p.Actions) + " times"
	default:
		return ""
	}
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

// PhaseSpan returns when the actions of a phase run.
func PhaseSpan(p planned.ForecastPhase) string {
	from, to := inSeconds(p.FromSeconds), inSeconds(p.ToSeconds)
	if from == to {
		return from
	}
	return from + ".." + to
}

func inSeconds(s float64) string {
	return phrase.Duration(time.Duration(s * float64(time.Second)))
}

// precision is the part of a forecast time that "about" covers: what ends within it afterwards is not printed.
const precision = 20

// ForecastSentence returns how a forecast ends.
func ForecastSentence(f *planned.Forecast) string {
	size := fmt.Sprintf("in %s with %s", phrase.Count(f.Passes, "pass"), phrase.Count(f.Totals.Actions, "action"))
	switch f.End {
	case planned.ForecastComplete:
		text := fmt.Sprintf("complete after about %s, %s", inSeconds(f.Seconds), size)
		if f.Begins {
			return fmt.Sprintf("begun after about %s, %s; later passes complete it, forecast by --wait", inSeconds(f.Seconds), size)
		}
		if f.HousekeepingSeconds > f.Seconds/precision {
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

// ForecastFacts are the totals of a forecast, and what it rests on, as pairs of a label and a text.
func ForecastFacts(f *planned.Forecast) [][2]string {
	t := f.Totals
	lines := [][2]string{{"pods", podWords(t)}}
	if effect := effectWords(t); effect != "" {
		lines = append(lines, [2]string{"database", effect})
	}
	if loss := nodeLossWords(f.Phases); loss != "" {
		lines = append(lines, [2]string{"if a node is lost", loss})
	}
	lines = append(lines, waitLines(f)...)
	return append(lines, [2]string{"assumed", fmt.Sprintf("nothing else fails; pods start within %s; data moves at %s/s",
		inSeconds(f.Assumed.PodStartSeconds), phrase.Bytes(f.Assumed.MoveBytesPerSecond))})
}

// waitLines returns the longest waits: how long they are, and for which gate; all with their reasons where the forecast
// does not complete.
func waitLines(f *planned.Forecast) (lines [][2]string) {
	var brief []string
	for _, wait := range f.Waits[:min(len(f.Waits), maxForecastWaits)] {
		if f.End != planned.ForecastComplete {
			lines = append(lines, [2]string{"waiting", fmt.Sprintf("%s in %s for: %s", inSeconds(wait.Seconds), wait.Stage, inspect.OneLine(wait.Reason))})
		} else if len(brief) < maxBriefWaits {
			brief = append(brief, fmt.Sprintf("%s in %s (%s)", inSeconds(wait.Seconds), wait.Stage, phrase.Or(phrase.List(wait.Gates), string(wait.Code))))
		}
	}
	if len(brief) > 0 {
		lines = append(lines, [2]string{"waits", phrase.List(brief)})
	}
	return lines
}

// nodeLossWords returns what the loss of one more node would do in the phases that change processes
// or data; empty without such phases.
func nodeLossWords(phases []planned.ForecastPhase) string {
	during := map[planned.NodeLoss][]string{}
	for _, p := range phases {
		if loss, of := p.IfNodeIsLost(), plan.ChangeOf(p.Kind, nil).Of; !slices.Contains(during[loss], of) {
			during[loss] = append(during[loss], of)
		}
	}
	var words []string
	if in := during[planned.NodeLossPauses]; len(in) > 0 {
		words = append(words, fmt.Sprintf("some data is unavailable until it or another copy is back, during %s", phrase.List(in)))
	}
	if in := during[planned.NodeLossAlreadyPaused]; len(in) > 0 {
		words = append(words, "some data is interrupted anyway, by "+phrase.List(in))
	}
	if len(words) == 0 && len(during[planned.NodeLossTolerated]) > 0 {
		return "all data stays available in each phase"
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
		return phrase.Count(t.ProcessesRestarted, "restart") + phrase.Either(t.ProcessesRestarted, "", ", all at once")
	}
	return fmt.Sprintf("%s, up to %d at once", phrase.Count(t.ProcessesRestarted, "restart"), t.MostAtOnce)
}

func effectWords(t planned.ForecastTotals) string {
	var words []string
	if t.ProcessesRestarted > 0 {
		words = append(words, restartWords(t))
	}
	if t.Recoveries > 0 {
		words = append(words, fmt.Sprintf("%s, commits pause for about %s", phrase.Count(t.Recoveries, "recovery"), inSeconds(max(t.PausedSeconds, 1))))
	}
	if t.MovedBytes > 0 {
		words = append(words, phrase.Bytes(t.MovedBytes)+" of data move")
	}
	return strings.Join(words, "; ")
}
