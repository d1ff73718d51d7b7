package fdbtools

import (
	"testing"
	"time"
)

func TestASlowMachineSlowsTheAcceleratedClock(t *testing.T) {
	tests := map[string]struct {
		elapsed time.Duration
		pace    float64
		want    time.Duration
	}{
		"a step in time":                      {20 * time.Millisecond, 10, 200 * time.Millisecond},
		"a late step at a faster pace":        {4 * time.Second, 10, time.Second},
		"a late step in real time":            {4 * time.Second, 1, 4 * time.Second},
		"a late step at a slower pace":        {4 * time.Second, 0.5, 2 * time.Second},
		"the machine was suspended for hours": {3 * time.Hour, 1, 3 * time.Hour},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := step(c.elapsed, c.pace); got != c.want {
				t.Errorf("the clock moves by %s, want %s", got, c.want)
			}
		})
	}
}
