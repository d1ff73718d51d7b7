package inspect

import (
	"math"
	"time"
)

// fewestSamples is how many samples a rate requires: two points always lie on a line.
const fewestSamples = 3

// progressWindow is how many of the newest samples the rate is made of: five minutes of
// the default interval. Data moves in whole shards, so single steps mean nothing.
const progressWindow = 20

// sample is what a process had left at a time.
type sample struct {
	at   time.Time
	left int64
}

// Progress is the decline of what a process has left, over several samples. The zero value
// has none.
type Progress struct {
	// first is what was seen first, and least the least since then.
	first, lowest sample
	// window are the newest samples, the oldest first.
	window []sample
	// gap is how far apart the samples of the window are at least.
	gap time.Duration
}

// add adds a sample.
func (p *Progress) add(at time.Time, left int64) {
	s := sample{at, left}
	if len(p.window) == 0 {
		p.first, p.lowest = s, s
	}
	if left < p.lowest.left {
		p.lowest = s
	}
	if p.isTooSoon(at) {
		p.window[len(p.window)-1] = s
		return
	}
	p.window = append(p.window, s)
	if len(p.window) > progressWindow {
		p.window = p.window[1:]
	}
}

// isTooSoon reports whether a sample replaces the newest: the same snapshot again, or one
// that is close to the sample before.
func (p *Progress) isTooSoon(at time.Time) bool {
	n := len(p.window)
	return n > 0 && p.window[n-1].at.Equal(at) || n > 1 && at.Sub(p.window[n-2].at) < p.gap
}

// moved returns how many bytes were moved since the first sample; nil before the second.
func (p *Progress) moved() *int64 {
	if len(p.window) < 2 {
		return nil
	}
	n := p.first.left - p.window[len(p.window)-1].left
	return &n
}

// rate returns the slope of a straight line through the window, in bytes moved per second,
// and twice its standard error: about how far it may be off.
func (p *Progress) rate() (perSecond, spread float64, known bool) {
	n := float64(len(p.window))
	if len(p.window) < fewestSamples {
		return 0, 0, false
	}
	var meanX, meanY float64
	for _, s := range p.window {
		meanX += s.at.Sub(p.first.at).Seconds() / n
		meanY += float64(s.left) / n
	}
	var xx, xy, yy float64
	for _, s := range p.window {
		x, y := s.at.Sub(p.first.at).Seconds()-meanX, float64(s.left)-meanY
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if xx == 0 {
		return 0, 0, false
	}
	slope := xy / xx
	residual := math.Max(0, yy-slope*xy)
	return -slope, 2 * math.Sqrt(residual/(n-2)/xx), true
}

// eta returns how many seconds are left at the present rate, and at the fastest and the slowest
// that it may be. Each is nil while no end can be estimated.
func (p *Progress) eta() (likely, soonest, latest *float64) {
	perSecond, spread, known := p.rate()
	if !known || perSecond <= 0 {
		return nil, nil, nil
	}
	left := float64(p.window[len(p.window)-1].left)
	if left == 0 {
		return nil, nil, nil // what is still missing is no data
	}
	at := func(rate float64) *float64 {
		if rate <= 0 {
			return nil
		}
		seconds := left / rate
		return &seconds
	}
	return at(perSecond), at(perSecond + spread), at(perSecond - spread)
}

// stalled returns for how long nothing was moved, where something should be; nil when
// something is, and while that is unknown.
func (p *Progress) stalled() *float64 {
	perSecond, _, known := p.rate()
	if !known || perSecond > 0 {
		return nil
	}
	last := p.window[len(p.window)-1]
	if last.left == 0 {
		return nil
	}
	seconds := last.at.Sub(p.lowest.at).Seconds()
	return &seconds
}

// DrainHistory is the progress of excluded processes, by FoundationDB's own ID of the
// process, over all samples of a command. The zero value is empty.
type DrainHistory struct {
	// Gap is the minimum interval between the samples of a rate; the zero value uses every
	// sample.
	Gap time.Duration

	of map[string]*Progress
}

// add adds what a process has left.
func (h *DrainHistory) add(process string, at time.Time, left int64) *Progress {
	if h.of == nil {
		h.of = map[string]*Progress{}
	}
	if h.of[process] == nil {
		h.of[process] = &Progress{gap: h.Gap}
	}
	h.of[process].add(at, left)
	return h.of[process]
}
