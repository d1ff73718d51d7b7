package v1beta2

import (
	"hash/crc32"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/cron"
)

const minutesPerHour = 60

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
		job.Schedule = new(cron.Schedule(c.FailureDetectionTime(), c.detectionMinute()))
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
// start at once. It does not depend on the UID: a plan has it before the cluster exists.
func (c *FoundationDBCluster) detectionMinute() int {
	return int(crc32.ChecksumIEEE([]byte(c.Namespace+"/"+c.Name)) % minutesPerHour)
}
