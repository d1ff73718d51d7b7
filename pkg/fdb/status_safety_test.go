package fdb

import (
	"testing"
	"time"
)

func TestADocumentIsStaleOnceItsTimeDoesNotChange(t *testing.T) {
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	type read struct {
		created int64 // 0 for none
		after   time.Duration
		lasts   time.Duration
	}
	for name, tc := range map[string]struct {
		reads []read
		want  time.Duration
	}{
		"the first one":                     {[]read{{100, 0, 0}}, 0},
		"the same one again":                {[]read{{100, 0, 0}, {100, time.Minute, 0}}, time.Minute},
		"the same one for the third time":   {[]read{{100, 0, 0}, {100, time.Minute, 0}, {100, time.Hour, 0}}, time.Hour},
		"another one":                       {[]read{{100, 0, 0}, {101, time.Minute, 0}}, 0},
		"a slow read of the same second":    {[]read{{100, 0, 0}, {100, time.Second, time.Minute}}, time.Second},
		"the same one after a slow read":    {[]read{{100, 0, time.Minute}, {100, 2 * time.Minute, 0}}, time.Minute},
		"one of a clock that is behind":     {[]read{{100, 0, 0}, {40, time.Minute, 0}}, 0},
		"the same one after another":        {[]read{{100, 0, 0}, {101, time.Minute, 0}, {101, 2 * time.Minute, 0}}, time.Minute},
		"one without a time":                {[]read{{100, 0, 0}, {0, time.Minute, 0}}, 0},
		"one without a time after another":  {[]read{{0, 0, 0}, {0, time.Minute, 0}}, 0},
		"one with a time after one without": {[]read{{0, 0, 0}, {100, time.Minute, 0}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s Staleness
			var got time.Duration
			for _, r := range tc.reads {
				status := &Status{}
				if r.created != 0 {
					status.Cluster.ClusterControllerTimestamp = &r.created
				}
				got = s.Of(status, noon.Add(r.after), noon.Add(r.after+r.lasts))
			}
			if got != tc.want {
				t.Errorf("stale for %s, want %s", got, tc.want)
			}
		})
	}
}
