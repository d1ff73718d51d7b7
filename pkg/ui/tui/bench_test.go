package tui

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// frameLimit is how long one frame may take at 60 frames per second.
const frameLimit = 16 * time.Millisecond

// crowded returns a dashboard of a cluster with so many process groups.
func crowded(tb testing.TB, groups int) model {
	tb.Helper()
	f := lost()
	for i := len(f.Groups.Items); i < groups; i++ {
		g := group(i % 12)
		g.ID = fmt.Sprintf("%s-%d", g.Class, i)
		f.Groups.Items = append(f.Groups.Items, g)
	}
	return shown(tb, 200, 60, Options{Color: true}, entry(f))
}

// keyAndFrame handles a key and draws a frame.
func keyAndFrame(m model) model {
	m = pressed(m, "j")
	_ = m.View()
	return m
}

func BenchmarkFrame(b *testing.B) {
	for _, groups := range []int{16, 100, 1000} {
		m := crowded(b, groups)
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m = keyAndFrame(m)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(frameLimit), "of-16ms")
		})
	}
}

// frameCost is what a key and its frame take at best, and how much memory.
func frameCost(m model, rounds int) (time.Duration, uint64) {
	m = keyAndFrame(m) // warm
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	best := time.Duration(1<<63 - 1)
	for range rounds {
		start := time.Now()
		m = keyAndFrame(m)
		best = min(best, time.Since(start))
	}
	runtime.ReadMemStats(&after)
	return best, (after.TotalAlloc - before.TotalAlloc) / uint64(rounds)
}

// Ten times the process groups should cost at most ten times as much: only visible rows are
// drawn.
func BenchmarkFramesGrow(b *testing.B) {
	small, large := crowded(b, 100), crowded(b, 1000)
	for b.Loop() {
		const rounds = 5
		smallTime, smallMemory := frameCost(small, rounds)
		largeTime, largeMemory := frameCost(large, rounds)
		b.ReportMetric(float64(largeTime)/float64(smallTime), "time-1000/100")
		b.ReportMetric(float64(largeMemory)/float64(smallMemory), "memory-1000/100")
	}
}

// maxFrameGrowth is how many times as much memory ten times the process groups may take.
const maxFrameGrowth = 12

func TestDashboardFrameMemoryGrowsAtMostLinearly(t *testing.T) {
	_, small := frameCost(crowded(t, 100), 3)
	_, large := frameCost(crowded(t, 1000), 3)
	if ratio := float64(large) / float64(small); ratio > maxFrameGrowth {
		t.Errorf("1000 process groups take %.1f times the memory of 100, at most %d", ratio, maxFrameGrowth)
	}
}
