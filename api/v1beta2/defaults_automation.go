package v1beta2

import (
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// The defaults of spec.automationOptions. Source: the operator's CRD and code;
// its manual documents automatic replacements as off by default, which they
// are not.
const (
	defaultIgnorePendingPods       = 5 * time.Minute
	defaultIgnoreTerminatingPods   = 600
	defaultIgnoreMissingProcesses  = 30
	defaultFailedPodDuration       = 300
	defaultWaitBetweenRemovals     = 60
	defaultFailureDetectionTime    = 7200
	defaultTaintReplacementTime    = 1800
	defaultConcurrentReplacements  = 1
	defaultMaintenanceModeTime     = 600
	defaultMinimumUptimeForBounce  = 600
	defaultTaintedFaultDomainShare = "10%"
	defaultLogGroupForUpgrade      = LogGroup("fdb-kubernetes-operator")
)

// ConfigureDatabase reports whether the database configuration may be changed.
// Default true.
func (c *FoundationDBCluster) ConfigureDatabase() bool {
	return ptr.Deref(c.Spec.AutomationOptions.ConfigureDatabase, true)
}

// KillProcesses reports whether processes may be restarted. Default true.
func (c *FoundationDBCluster) KillProcesses() bool {
	return ptr.Deref(c.Spec.AutomationOptions.KillProcesses, true)
}

// IgnorePendingPodsFor is how long a pod may be pending before it is left out
// of decisions about others. Default 5 minutes.
func (c *FoundationDBCluster) IgnorePendingPodsFor() time.Duration {
	if d := c.Spec.AutomationOptions.IgnorePendingPodsDuration; d != 0 {
		return d
	}
	return defaultIgnorePendingPods
}

// IgnoreTerminatingPodsFor is how long a terminating pod blocks pod updates.
// Default 600 s.
func (c *FoundationDBCluster) IgnoreTerminatingPodsFor() time.Duration {
	return seconds(c.Spec.AutomationOptions.IgnoreTerminatingPodsSeconds, defaultIgnoreTerminatingPods)
}

// IgnoreMissingProcessesFor is how long processes may be missing before
// restarts go on without them. Default 30 s.
func (c *FoundationDBCluster) IgnoreMissingProcessesFor() time.Duration {
	return seconds(c.Spec.AutomationOptions.IgnoreMissingProcessesSeconds, defaultIgnoreMissingProcesses)
}

// FailedPodDuration is how long a pod may be terminating before it counts as
// failing. Default 300 s.
func (c *FoundationDBCluster) FailedPodDuration() time.Duration {
	return seconds(c.Spec.AutomationOptions.FailedPodDurationSeconds, defaultFailedPodDuration)
}

// WaitBetweenRemovals is how long to wait at most between two removals. Default
// 60 s, also for a negative number.
func (c *FoundationDBCluster) WaitBetweenRemovals() time.Duration {
	wait := c.Spec.AutomationOptions.WaitBetweenRemovalsSeconds
	if ptr.Deref(wait, -1) < 0 {
		wait = nil
	}
	return seconds(wait, defaultWaitBetweenRemovals)
}

// MinimumUptimeForBounce is how long processes must have been up before they
// are restarted. Default 600 s.
func (c *FoundationDBCluster) MinimumUptimeForBounce() time.Duration {
	if s := c.Spec.MinimumUptimeSecondsForBounce; s > 0 {
		return Seconds(int64(s))
	}
	return defaultMinimumUptimeForBounce * time.Second
}

// MaxConcurrentMisconfigurationReplacements is how many misconfigured process
// groups may be in replacement at once. The default is no bound.
func (c *FoundationDBCluster) MaxConcurrentMisconfigurationReplacements() int {
	return ptr.Deref(c.Spec.AutomationOptions.MaxConcurrentReplacements, math.MaxInt)
}

// MaxZonesWithUnavailablePods bounds pod updates by the number of zones with
// unavailable stateful pods. The default is no bound.
func (c *FoundationDBCluster) MaxZonesWithUnavailablePods() int {
	return ptr.Deref(c.Spec.MaxZonesWithUnavailablePods, math.MaxInt)
}

// DeletionMode is how many pods may be deleted at once to update them. Default
// Zone.
func (c *FoundationDBCluster) DeletionMode() PodUpdateMode {
	return modeOrZone(c.Spec.AutomationOptions.DeletionMode)
}

// RemovalMode is how many process groups may be removed at once. Default Zone.
func (c *FoundationDBCluster) RemovalMode() PodUpdateMode {
	return modeOrZone(c.Spec.AutomationOptions.RemovalMode)
}

func modeOrZone(mode PodUpdateMode) PodUpdateMode {
	if mode == "" {
		return PodUpdateModeZone
	}
	return mode
}

// ReplacesPodsOf reports whether a changed pod spec of the class is rolled
// out by replacing the process group instead of recreating its pod.
func (c *FoundationDBCluster) ReplacesPodsOf(class ProcessClass) bool {
	switch c.PodUpdateStrategy() {
	case PodUpdateStrategyReplace:
		return true
	case PodUpdateStrategyDelete:
		return false
	default:
		return class.IsTransactionSystem()
	}
}

// PodUpdateStrategy is how a changed pod spec is rolled out. Default
// ReplaceTransactionSystem.
func (c *FoundationDBCluster) PodUpdateStrategy() PodUpdateStrategy {
	if s := c.Spec.AutomationOptions.PodUpdateStrategy; s != "" {
		return s
	}
	return PodUpdateStrategyReplaceTransactionSystem
}

// UseLocalitiesForExclusion reports whether process groups should be excluded
// by ID instead of by address. Default true. The caller checks that the running
// version supports it.
func (c *FoundationDBCluster) UseLocalitiesForExclusion() bool {
	return ptr.Deref(c.Spec.AutomationOptions.UseLocalitiesForExclusion, true)
}

// IgnoreLogGroupsForUpgrade are log groups whose clients never block an
// upgrade. Default: the operator's own.
func (c *FoundationDBCluster) IgnoreLogGroupsForUpgrade() []LogGroup {
	if groups := c.Spec.AutomationOptions.IgnoreLogGroupsForUpgrade; len(groups) > 0 {
		return groups
	}
	return []LogGroup{defaultLogGroupForUpgrade}
}

// SynchronizationMode is whether the control-plane instances of the database
// act together. Default local, and always local before a database exists,
// since they coordinate in it.
func (c *FoundationDBCluster) SynchronizationMode() SynchronizationMode {
	if !c.Status.Configured {
		return SynchronizationModeLocal
	}
	return ptr.Deref(c.Spec.AutomationOptions.SynchronizationMode, SynchronizationModeLocal)
}

// DatabaseInteractionMode is the tool the operator uses. Default fdbcli.
func (c *FoundationDBCluster) DatabaseInteractionMode() DatabaseInteractionMode {
	return ptr.Deref(c.Spec.AutomationOptions.DatabaseInteractionMode, DatabaseInteractionModeFdbcli)
}

// UseMaintenanceModeChecker reports whether maintenance mode is set around pod
// updates. Default false.
func (c *FoundationDBCluster) UseMaintenanceModeChecker() bool {
	return ptr.Deref(c.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker, false)
}

// ResetMaintenanceMode reports whether maintenance mode is reset when the
// storage processes of its zone restarted. Default false, on with
// UseMaintenanceModeChecker.
func (c *FoundationDBCluster) ResetMaintenanceMode() bool {
	return c.UseMaintenanceModeChecker() ||
		ptr.Deref(c.Spec.AutomationOptions.MaintenanceModeOptions.ResetMaintenanceMode, false)
}

// MaintenanceModeTime is the time limit of maintenance mode. Default 600 s.
func (c *FoundationDBCluster) MaintenanceModeTime() time.Duration {
	return seconds(c.Spec.AutomationOptions.MaintenanceModeOptions.MaintenanceModeTimeSeconds, defaultMaintenanceModeTime)
}

// ReplacementsEnabled reports whether failed process groups are replaced.
// Default true.
func (c *FoundationDBCluster) ReplacementsEnabled() bool {
	return ptr.Deref(c.Spec.AutomationOptions.Replacements.Enabled, true)
}

// FaultDomainBasedReplacements reports whether replacements are counted and
// made by zone. Default false.
func (c *FoundationDBCluster) FaultDomainBasedReplacements() bool {
	return ptr.Deref(c.Spec.AutomationOptions.Replacements.FaultDomainBasedReplacements, false)
}

// FailureDetectionTime is how long a failure must last before the process group
// is replaced. Default 7200 s.
func (c *FoundationDBCluster) FailureDetectionTime() time.Duration {
	return seconds(c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds, defaultFailureDetectionTime)
}

// TaintReplacementTime is how long NodeTaintReplacing must last before the
// process group is replaced. Default 1800 s.
func (c *FoundationDBCluster) TaintReplacementTime() time.Duration {
	return seconds(c.Spec.AutomationOptions.Replacements.TaintReplacementTimeSeconds, defaultTaintReplacementTime)
}

// MaxConcurrentAutomaticReplacements is how many failed process groups may be
// in replacement at once. Default 1.
func (c *FoundationDBCluster) MaxConcurrentAutomaticReplacements() int {
	return ptr.Deref(c.Spec.AutomationOptions.Replacements.MaxConcurrentReplacements, defaultConcurrentReplacements)
}

// MaxFaultDomainsWithTaintedProcessGroups returns the number of tainted zones,
// out of the given total, up to which tainted process groups are replaced.
// Default 10 %, rounded down, and at least 1. It returns an error when the
// spec is neither a number nor a percentage.
func (c *FoundationDBCluster) MaxFaultDomainsWithTaintedProcessGroups(zones int) (int, error) {
	share := intstr.FromString(defaultTaintedFaultDomainShare)
	if given := c.Spec.AutomationOptions.Replacements.MaxFaultDomainsWithTaintedProcessGroups; given != nil {
		share = *given
	}
	limit, err := intstr.GetScaledValueFromIntOrPercent(&share, zones, false)
	if err != nil {
		return 0, fmt.Errorf("read maxFaultDomainsWithTaintedProcessGroups: %w", err)
	}
	return max(1, limit), nil
}

func seconds(given *int, otherwise int) time.Duration {
	return Seconds(int64(ptr.Deref(given, otherwise)))
}
