package v1beta2

import (
	"fmt"
	"hash/crc32"
	"time"

	"k8s.io/utils/ptr"
)

const (
	day            = 24 * time.Hour
	minutesPerHour = 60
)

// detectionPeriods are the periods that cron syntax can express exactly: each
// divides the next larger unit.
var detectionPeriods = []time.Duration{
	time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 10 * time.Minute,
	12 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, day,
}

// DetectionPeriod returns how often to look for failures that count after the
// given time: the longest period of cron syntax that is not longer, and a
// minute for times below one.
func DetectionPeriod(detection time.Duration) time.Duration {
	period := detectionPeriods[0]
	for _, longer := range detectionPeriods {
		if longer <= detection {
			period = longer
		}
	}
	return period
}

// DetectionSchedule returns the cron schedule of DetectionPeriod. Periods of an
// hour and more start at the given minute of the hour.
func DetectionSchedule(detection time.Duration, minute int) string {
	switch period := DetectionPeriod(detection); {
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

// FailureDetection returns the configuration of the failure detector with its
// defaults: disabled, and a schedule that follows from the failure detection
// time. Image and Template stay nil where they are not given. The cluster must
// be normalized.
func (c *FoundationDBCluster) FailureDetection() FailureDetectionCronJob {
	job := ptr.Deref(c.detection().DeepCopy(), FailureDetectionCronJob{})
	job.Enabled = new(ptr.Deref(job.Enabled, false))
	if job.Schedule == nil && job.Template != nil && job.Template.Schedule != "" {
		job.Schedule = new(job.Template.Schedule)
	}
	if job.Schedule == nil {
		job.Schedule = new(DetectionSchedule(c.FailureDetectionTime(), c.detectionMinute()))
	}
	return job
}

// RunsFailureDetector reports whether the cluster should have a failure detector:
// it is enabled, and failed process groups are replaced at all. The cluster must
// be normalized.
func (c *FoundationDBCluster) RunsFailureDetector() bool {
	return *c.FailureDetection().Enabled && c.ReplacementsEnabled() && c.MaxConcurrentAutomaticReplacements() > 0
}

// FailuresSeen returns when the failure detector last saw a failed process group,
// and false where it never did or the time cannot be read.
func (c *FoundationDBCluster) FailuresSeen() (at time.Time, seen bool) {
	at, err := time.Parse(time.RFC3339, c.Annotations[AnnotationFailuresSeen])
	return at, err == nil
}

// detectionMinute differs between clusters, so that their detectors do not all
// start at once. It is 0 before the cluster has a UID.
func (c *FoundationDBCluster) detectionMinute() int {
	if c.UID == "" {
		return 0
	}
	return int(crc32.ChecksumIEEE([]byte(c.UID)) % minutesPerHour)
}
