package cron_test

import (
	"math"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/cron"
)

func TestCronScheduleForAnInterval(t *testing.T) {
	tests := map[time.Duration]string{
		0: "* * * * *", 59 * time.Second: "* * * * *", time.Minute: "* * * * *", 119 * time.Second: "* * * * *",
		2 * time.Minute: "*/2 * * * *", 7 * time.Minute: "*/6 * * * *", 9 * time.Minute: "*/6 * * * *", 11 * time.Minute: "*/10 * * * *",
		14 * time.Minute: "*/12 * * * *", 19 * time.Minute: "*/15 * * * *",
		29 * time.Minute: "*/20 * * * *", 1800 * time.Second: "*/30 * * * *", 3599 * time.Second: "*/30 * * * *",
		time.Hour: "7 * * * *", 5400 * time.Second: "7 * * * *", 7200 * time.Second: "7 */2 * * *", 5 * time.Hour: "7 */4 * * *",
		11 * time.Hour: "7 */8 * * *", 23 * time.Hour: "7 */12 * * *", 24 * time.Hour: "7 0 * * *", math.MaxInt64: "7 0 * * *",
		-time.Second: "* * * * *",
	}
	for most, want := range tests {
		if got := cron.Schedule(most, 7); got != want {
			t.Errorf("%v: got %s, want %s", most, got, want)
		}
	}
}

// A schedule with a step restarts at the next larger unit, so only a period that divides it is exact.
func TestCronPeriodsDivideTheHourOrDay(t *testing.T) {
	for most := time.Minute; most <= 24*time.Hour; most += time.Minute {
		period := cron.Period(most)
		unit := 24 * time.Hour
		if period < time.Hour {
			unit = time.Hour
		}
		if period > most || unit%period != 0 {
			t.Fatalf("%v: got a period of %v", most, period)
		}
		for longer := period + time.Minute; longer <= most; longer += time.Minute {
			if whole := longer < time.Hour && time.Hour%longer == 0 || longer%time.Hour == 0 && (24*time.Hour)%longer == 0; whole {
				t.Fatalf("%v: got a period of %v, and %v is longer", most, period, longer)
			}
		}
	}
}

func TestCronSchedulesAreValidated(t *testing.T) {
	for schedule, ok := range map[string]bool{"*/5 * * * *": true, "@hourly": true, "0 0 1 1 sun": true, "5m": false, "": false, "* * * *": false, "* * * * * *": false} {
		if err := cron.Check(schedule); (err == nil) != ok {
			t.Errorf("%q: got %v", schedule, err)
		}
	}
}
