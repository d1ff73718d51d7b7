package tui

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
)

// playback is the displayed point in time.
type playback struct {
	// back is the snapshot that is shown instead of the newest; -1 for the newest.
	back int
	// paused is true while the display stays at held.
	paused bool
	held   state
	// playing is true while a recording advances; passed is how long the snapshot has been
	// shown.
	playing bool
	passed  time.Duration
}

// rewound returns to live data, or to the beginning of a recording.
func (m model) rewound() playback {
	if m.o.Feed == nil {
		return playback{back: 0, playing: true}
	}
	return playback{back: -1}
}

// longestPause is the maximum wait of a replay at a gap of the recording.
const longestPause = 5 * time.Second

// load adds a recording to the histories.
func (m model) load(entries []Entry) model {
	for _, e := range entries {
		m.histories[e.Cluster] = m.histories[e.Cluster].add(e, m.recording)
	}
	m.playback = m.rewound()
	return m
}

// clustersOf returns the clusters of a recording, in order.
func clustersOf(entries []Entry) []string {
	var names []string
	for _, e := range entries {
		if !slices.Contains(names, e.Cluster) {
			names = append(names, e.Cluster)
		}
	}
	return names
}

// advance updates the clock, and a recording that plays.
func (m model) advance(now time.Time) model {
	past := now.Sub(m.now)
	m.now = now
	if now.After(m.notice.until) {
		m.notice = notice{}
	}
	if !m.playing || m.o.Feed != nil {
		return m
	}
	m.passed += max(0, past)
	for states := m.history().states; m.back+1 < len(states); m.back++ {
		gap := min(longestPause, states[m.back+1].at.Sub(states[m.back].at))
		if m.passed < gap {
			return m
		}
		m.passed -= max(0, gap)
	}
	m.playing, m.passed = false, 0
	return m
}

// pause pauses or resumes.
func (m model) pause() model {
	switch {
	case m.o.Feed == nil && m.playing:
		m.playing = false
	case m.o.Feed == nil:
		if m.back+1 >= len(m.history().states) {
			m.back = 0
		}
		m.playing, m.passed = true, 0
	case m.paused || m.back >= 0:
		m.playback = m.rewound()
	default:
		m.paused, m.held = true, m.history().last
	}
	return m
}

// step shows the previous or next snapshot.
func (m model) step(by int) model {
	states := m.history().states
	at := m.back
	if at < 0 {
		at = len(states) - 1
		if m.paused {
			at = slices.IndexFunc(states, func(s state) bool { return !s.at.Before(m.held.at) })
		}
	}
	to := at + by
	switch {
	case to < 0 || len(states) == 0:
		return m.notify(plain, "no earlier snapshot")
	case to >= len(states) && m.o.Feed == nil:
		return m.notify(plain, "end of the recording")
	case to >= len(states):
		m.playback = m.rewound()
		return m
	}
	m.back, m.paused, m.playing, m.passed = to, false, false, 0
	return m
}

// clusterView returns the input of the current view.
func (m model) clusterView() clusterView {
	s := clusterView{state: m.history().last, now: m.now, choice: m.choice, o: m.o.in(m.name()), fleet: m.fleet, tall: m.width >= panes.Two && m.height >= tallHeight, courses: m.courses}
	states := m.history().states
	switch {
	case m.back >= 0 && m.back < len(states):
		s.state = m.opened.of(states[m.back])
		s.now = s.at.Add(m.passed)
	case m.paused:
		s.state = m.held
	}
	s.states = states
	if after := slices.IndexFunc(states, func(at state) bool { return at.at.After(s.at) }); after >= 0 {
		s.states = states[:after]
	}
	return s
}
