// Package cron writes schedules in cron syntax.
package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

const day = 24 * time.Hour

// periods are those that cron syntax can express exactly: each divides the next
// larger unit.
var periods = []time.Duration{
	time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 10 * time.Minute,
	12 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, day,
}

// Period returns the longest period of cron syntax that is not longer than the
// given time: at least a minute, at most a day.
func Period(most time.Duration) time.Duration {
	period := periods[0]
	for _, longer := range periods {
		if longer <= most {
			period = longer
		}
	}
	return period
}

// Schedule returns the schedule with the Period of the given time. A period of an
// hour or more begins at the given minute of the hour.
func Schedule(most time.Duration, minute int) string {
	switch period := Period(most); {
	case period == time.Minute:
		return "* * * * *"
	case period < time.Hour:
		return fmt.Sprintf("*/%d * * * *", int(period.Minutes()))
	case period == time.Hour:
		return fmt.Sprintf("%d * * * *", minute)
	case period < day:
		return fmt.Sprintf("%d */%d * * *", minute, int(period.Hours()))
	default:
		return fmt.Sprintf("%d 0 * * *", minute)
	}
}

// fields is the number of fields of a schedule, from the minute to the day of the
// week.
const fields = 5

// Check returns an error for a text that cannot be a schedule: it has to have five
// fields, or to be a macro such as @hourly. The values of the fields are for the
// API server to check.
func Check(schedule string) error {
	if n := len(strings.Fields(schedule)); n != fields && !strings.HasPrefix(schedule, "@") {
		return fmt.Errorf("must have %s in cron syntax, such as \"0 */2 * * *\"", phrase.Count(fields, "field"))
	}
	return nil
}
