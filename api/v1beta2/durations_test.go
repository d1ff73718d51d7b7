package v1beta2

import (
	"math"
	"testing"
	"time"
)

// durations are all durations of a cluster's spec that stand there as a number.
func durations(c *FoundationDBCluster, n *int) map[string]func() time.Duration {
	o := &c.Spec.AutomationOptions
	o.IgnoreTerminatingPodsSeconds, o.IgnoreMissingProcessesSeconds, o.FailedPodDurationSeconds = n, n, n
	o.WaitBetweenRemovalsSeconds, o.MaintenanceModeOptions.MaintenanceModeTimeSeconds = n, n
	o.Replacements.FailureDetectionTimeSeconds, o.Replacements.TaintReplacementTimeSeconds = n, n
	c.Spec.MinimumUptimeSecondsForBounce, c.Spec.LockOptions.LockDurationMinutes = *n, n
	return map[string]func() time.Duration{
		"ignoreTerminatingPodsSeconds":  c.IgnoreTerminatingPodsFor,
		"ignoreMissingProcessesSeconds": c.IgnoreMissingProcessesFor,
		"failedPodDurationSeconds":      c.FailedPodDuration,
		"waitBetweenRemovalsSeconds":    c.WaitBetweenRemovals,
		"maintenanceModeTimeSeconds":    c.MaintenanceModeTime,
		"failureDetectionTimeSeconds":   c.FailureDetectionTime,
		"taintReplacementTimeSeconds":   c.TaintReplacementTime,
		"minimumUptimeSecondsForBounce": c.MinimumUptimeForBounce,
		"lockDurationMinutes":           c.LockDuration,
	}
}

func TestAnOverlongSpecDurationMeansNever(t *testing.T) {
	for _, n := range []int{10_000_000_000, 200_000_000_000, math.MaxInt64/1_000_000_000 + 1, math.MaxInt} {
		for field, duration := range durations(cluster(func(*FoundationDBCluster) {}), &n) {
			if got := duration(); got != Never {
				t.Errorf("%s %d: got %s, want %s", field, n, got, Never)
			}
		}
	}
}

func TestADurationOfTheSpecIsExact(t *testing.T) {
	for _, n := range []int{1, 3600, 1 << 20} {
		for field, duration := range durations(cluster(func(*FoundationDBCluster) {}), &n) {
			want := time.Duration(n) * time.Second
			if field == "lockDurationMinutes" {
				want = time.Duration(n) * time.Minute
			}
			if got := duration(); got != want {
				t.Errorf("%s %d: got %s, want %s", field, n, got, want)
			}
		}
	}
}

func TestANegativeDurationStaysNegative(t *testing.T) {
	for _, n := range []int64{-1, -10_000_000_000, math.MinInt64} {
		if got := Seconds(n); got >= 0 || got < -Never {
			t.Errorf("%d s: got %s", n, got)
		}
	}
}
