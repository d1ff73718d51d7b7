package tui

import (
	"slices"
	"time"
)

// playback is which moment the screen shows.
type playback struct {
	// back is the look that is shown instead of the newest; -1 for the newest.
	back int
	// paused is whether the screen stands still at what it showed; held is that.
	paused bool
	held   state
	// playing is whether a recording goes on by itself; passed is how long the look has
	// been shown.
	playing bool
	passed  time.Duration
}

// rewound shows now, or of a recording its beginning.
func (playback) rewound(recording bool) playback {
	if recording {
		return playback{back: 0, playing: true}
	}
	return playback{back: -1}
}

// longestPause is how long a replay rests at most where the recording has a gap.
const longestPause = 5 * time.Second

// load fills tapes with a recording.
func (m model) load(entries []Entry) model {
	for _, e := range entries {
		m.tapes[e.Cluster] = m.tapes[e.Cluster].add(e)
	}
	m.playback = m.rewound(m.o.Feed == nil)
	return m
}

// clustersOf are the clusters that a recording is about, in order.
func clustersOf(entries []Entry) []string {
	var names []string
	for _, e := range entries {
		if !slices.Contains(names, e.Cluster) {
			names = append(names, e.Cluster)
		}
	}
	return names
}

// beats moves the clock on, and a recording that plays.
func (m model) beats(now time.Time) model {
	past := now.Sub(m.now)
	m.now = now
	if now.After(m.notice.until) {
		m.notice = notice{}
	}
	if !m.playing || m.o.Feed != nil {
		return m
	}
	m.passed += max(0, past)
	for shots := m.tape().shots; m.back+1 < len(shots); m.back++ {
		gap := min(longestPause, shots[m.back+1].at.Sub(shots[m.back].at))
		if m.passed < gap {
			return m
		}
		m.passed -= max(0, gap)
	}
	m.playing, m.passed = false, 0
	return m
}

// pause stands still, or goes on.
func (m model) pause() model {
	switch {
	case m.o.Feed == nil && m.playing:
		m.playing = false
	case m.o.Feed == nil:
		if m.back+1 >= len(m.tape().shots) {
			m.back = 0
		}
		m.playing, m.passed = true, 0
	case m.paused || m.back >= 0:
		m.playback = m.rewound(false)
	default:
		m.paused, m.held = true, m.tape().last
	}
	return m
}

// step shows what was seen before or next.
func (m model) step(by int) model {
	shots := m.tape().shots
	at := m.back
	if at < 0 {
		at = len(shots) - 1
		if m.paused {
			at = slices.IndexFunc(shots, func(s state) bool { return !s.at.Before(m.held.at) })
		}
	}
	to := at + by
	switch {
	case to < 0 || len(shots) == 0:
		return m.say(plain, "nothing was seen before")
	case to >= len(shots) && m.o.Feed == nil:
		return m.say(plain, "the recording ends here")
	case to >= len(shots):
		m.playback = m.rewound(false)
		return m
	}
	m.back, m.paused, m.playing, m.passed = to, false, false, 0
	return m
}

// sight is what the view that is shown sees.
func (m model) sight() sight {
	s := sight{state: m.tape().last, now: m.now, choice: m.choice, o: &m.o}
	shots := m.tape().shots
	switch {
	case m.back >= 0 && m.back < len(shots):
		s.state = shots[m.back]
		s.now = s.at.Add(m.passed)
	case m.paused:
		s.state = m.held
	}
	return s
}
