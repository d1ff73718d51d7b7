// Package detection holds the stages that detect failures between passes: one keeps the CronJob of
// the failure detector, the other is what its jobs do.
package detection
