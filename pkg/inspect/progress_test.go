package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seen is what a process had left at looks 15 s apart.
func seen(left ...int64) *Progress {
	p := &Progress{}
	for i, n := range left {
		p.add(noon.Add(time.Duration(i)*15*time.Second), n)
	}
	return p
}

func TestExclusionRateAndTimeLeft(t *testing.T) {
	const mib = 1 << 20
	tests := map[string]struct {
		left []int64
		// seconds, in whole numbers; nil for none
		likely, soonest, latest, stalled *int
		moved                            *int64
	}{
		"one read proves nothing":             {left: []int64{90 * mib}},
		"two reads lie on any line":           {left: []int64{90 * mib, 60 * mib}, moved: new(int64(30 * mib))},
		"three on a straight one":             {left: []int64{90 * mib, 60 * mib, 30 * mib}, moved: new(int64(60 * mib)), likely: new(15), soonest: new(15), latest: new(15)},
		"steps have a range":                  {left: []int64{90 * mib, 60 * mib, 60 * mib, 30 * mib}, moved: new(int64(60 * mib)), likely: new(25), soonest: new(17), latest: new(47)},
		"so uneven that no end is in sight":   {left: []int64{90 * mib, 90 * mib, 30 * mib, 80 * mib}, moved: new(int64(10 * mib)), likely: new(133), soonest: new(32)},
		"nothing leaves":                      {left: []int64{90 * mib, 90 * mib, 90 * mib}, moved: new(int64(0)), stalled: new(30)},
		"nothing leaves any more":             {left: append([]int64{90 * mib, 60 * mib}, many(60*mib, progressWindow)...), moved: new(int64(30 * mib)), stalled: new(300)},
		"it even grows":                       {left: []int64{60 * mib, 80 * mib, 90 * mib}, moved: new(int64(-30 * mib)), stalled: new(30)},
		"an empty one does not stall":         {left: []int64{0, 0, 0}, moved: new(int64(0))},
		"an empty one has no time left to go": {left: []int64{60 * mib, 30 * mib, 0}, moved: new(int64(60 * mib))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := seen(tc.left...)
			likely, soonest, latest := p.eta()
			got := []*int{whole(likely), whole(soonest), whole(latest), whole(p.stalled())}
			if diff := cmp.Diff([]*int{tc.likely, tc.soonest, tc.latest, tc.stalled}, got); diff != "" {
				t.Errorf("likely, soonest, latest, stalled (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.moved, p.moved()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func many(left int64, n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = left
	}
	return all
}

func whole(seconds *float64) *int {
	if seconds == nil {
		return nil
	}
	n := int(*seconds + 0.5)
	return &n
}

func TestProgressRateIsUnknownWithoutElapsedTime(t *testing.T) {
	p := &Progress{}
	for _, left := range []int64{90, 60, 30} {
		p.add(noon, left)
	}
	if _, _, known := p.rate(); known {
		t.Error("a rate without time")
	}
}
