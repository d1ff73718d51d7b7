package plan

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ClockFacts are how the clock of the machine that runs a pass compares with that of the API server.
// Passes use the latter's time.
type ClockFacts struct {
	// Compared is false where there is no API server to compare with, as for a dump.
	Compared bool
	// Known is false while no answer of the API server had a time.
	Known bool
	// Ahead is by how much the clock of the machine is ahead; negative if it is behind.
	Ahead time.Duration
}

// MaxClockDifference is the difference from which on nothing is changed: a clock that is further off
// is no clock that anyone maintains, and programs beside this one write timestamps by it.
const MaxClockDifference = 30 * time.Second

// Check returns whether the clock of the machine agrees with the API server's.
func (c ClockFacts) Check() Check {
	check := Check{ID: CheckClock, Question: "does the clock of this machine agree with the API server's?", Gate: GateClock}
	switch off := c.Ahead.Abs(); {
	case !c.Compared:
		check.OK, check.Evidence = true, "there is no API server to compare with"
	case !c.Known:
		check.Evidence = "cannot determine the time of the API server: its answers have no Date"
	case off >= MaxClockDifference:
		check.Evidence = phrase.Duration(off) + " " + c.direction() + ", less than " + phrase.Duration(MaxClockDifference) + " required"
	default:
		check.OK, check.Evidence = true, "less than "+phrase.Duration(MaxClockDifference)+" of difference"
	}
	return check
}

func (c ClockFacts) direction() string {
	if c.Ahead < 0 {
		return "behind"
	}
	return "ahead"
}

// Warnings returns the warning, if there is one, for documents that have several.
func (c ClockFacts) Warnings() []string {
	if warning := c.Warning(); warning != "" {
		return []string{warning}
	}
	return nil
}

// Warning returns what a reader has to know of the clock of this machine; empty where it agrees.
func (c ClockFacts) Warning() string {
	switch check := c.Check(); {
	case check.OK:
		return ""
	case !c.Known:
		return check.Evidence + ": times and ages are those of this machine, and changes are refused (" + string(GateClock) + ")"
	}
	return "the clock of this machine is " + phrase.Duration(c.Ahead.Abs()) + " " + c.direction() +
		" of the API server's: times and ages are those of the API server, and changes are refused (" + string(GateClock) + ")"
}
