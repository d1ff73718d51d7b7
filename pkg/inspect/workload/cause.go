package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Effect is what a cause does to the database.
type Effect string

// The effects of causes.
const (
	// Slows is a cause that makes the database slow now.
	Slows Effect = "slows"
	// Near is a figure close to the threshold from which on it does.
	Near Effect = "near"
)

// Cause is one reason why a database is slow, or about to be.
type Cause struct {
	Code   Code   `json:"code"`
	Effect Effect `json:"effect"`
	// Subjects are "database" or process groups, the worst first.
	Subjects []string `json:"subjects"`
	// Summary is the cause in one clause, with its figures.
	Summary string `json:"summary"`
	// Value is the worst figure, in the unit of the threshold.
	Value     float64   `json:"value"`
	Threshold Threshold `json:"threshold"`
	// Limit is ratekeeper's reason, for causes that are one.
	Limit string `json:"limit,omitempty"`
	// Next is a complete command that shows more.
	Next string `json:"next"`
}

// Threshold is the figure from which on a cause has its effect.
type Threshold struct {
	Value float64 `json:"value"`
	Unit  Unit    `json:"unit"`
	// Source is a knob or a documented value of FoundationDB, or a default of kubectl fdb.
	Source string `json:"source"`
}

// Unknown is a figure that the database does not report.
type Unknown struct {
	Code     Code     `json:"code"`
	Subjects []string `json:"subjects"`
	// Decides is true where the state of the database is unknown without the figure.
	Decides bool `json:"decides"`
}

// judge applies all rules.
func (v *View) judge(c inspect.Commands) {
	for _, r := range Rules() {
		v.apply(r, c)
	}
	stable.Sort(v.Causes, func(a, b Cause) int { return cmp.Compare(a.Effect.grade(), b.Effect.grade()) })
}

func (v *View) apply(r Rule, c inspect.Commands) {
	readings := r.readings(*v)
	if len(readings) == 0 && r.decides {
		readings = []reading{{subject: Database}}
	}
	var unknown []string
	bySubject := map[Effect][]reading{}
	for _, at := range readings {
		if at.value == nil {
			unknown = append(unknown, at.subject)
			continue
		}
		effect := r.Effect(*at.value)
		bySubject[effect] = append(bySubject[effect], at)
	}
	if len(unknown) > 0 {
		v.Unknown = append(v.Unknown, Unknown{Code: r.Code, Subjects: unknown, Decides: r.decides})
	}
	for _, effect := range []Effect{Slows, Near} {
		if found := bySubject[effect]; len(found) > 0 {
			v.Causes = append(v.Causes, v.cause(r, effect, found, c))
		}
	}
}

func (v *View) cause(r Rule, effect Effect, found []reading, c inspect.Commands) Cause {
	stable.Sort(found, func(a, b reading) int { return cmp.Compare(*b.value, *a.value) })
	subjects := make([]string, len(found))
	for i, f := range found {
		subjects[i] = f.subject
	}
	worst := found[0]
	limit := v.Load.Ratekeeper.limitOf(r.Code)
	return Cause{
		Code: r.Code, Effect: effect, Subjects: subjects, Value: *worst.value, Limit: limit,
		Threshold: r.threshold(effect),
		Summary:   r.words(*v, worst), Next: c.FDB(r.next(command{cluster: v.Metadata.Cluster, subject: worst.subject, limit: limit})...),
	}
}

// Text returns a figure in words.
func (u Unit) Text(n float64) string {
	switch u {
	case Bytes:
		return phrase.Bytes(int64(n))
	case BytesRate:
		return phrase.Bytes(int64(n)) + "/s"
	case PerSecond:
		return Rate(n) + "/s"
	case Seconds:
		return Time(n)
	case Share:
		return Percent(n)
	case Count:
		return fmt.Sprintf("%.0f", n)
	case Ratio:
		return fmt.Sprintf("%.1f times", n)
	}
	return fmt.Sprint(n)
}

// Percent returns a share in words.
func Percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// Time returns seconds in words, with milliseconds where these matter.
func Time(seconds float64) string {
	switch {
	case seconds < 0.01:
		return fmt.Sprintf("%.1fms", 1000*seconds)
	case seconds < 1:
		return fmt.Sprintf("%.0fms", 1000*seconds)
	case seconds < 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", seconds), ".0") + "s"
	default:
		return phrase.Seconds(seconds)
	}
}

// Rate returns a number of events per second in at most five characters.
func Rate(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3gG", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3gM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.3gk", n/1e3)
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	default:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
	}
}

func (e Effect) grade() int { return slices.Index([]Effect{Slows, Near}, e) }

// eventsOf returns how many events there are per second.
func eventsOf(n *float64) string {
	if n == nil {
		return phrase.UnknownCell
	}
	return Rate(*n)
}

// rateOf returns a rate in words.
func rateOf(n *float64) string {
	if n == nil {
		return phrase.UnknownCell
	}
	return PerSecond.Text(*n)
}

// bytesOf returns a number of bytes in words.
func bytesOf[N int64 | float64](n *N) string {
	if n == nil {
		return phrase.UnknownCell
	}
	return phrase.Bytes(int64(*n))
}
