package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// regionRetry is when to check again between two steps of a region change. Source: the
// operator's delay after each stage.
const regionRetry = 30 * time.Second

// nextRegionStep takes the one step of a region change that is due, once what it relies on is
// proven. All other settings wait until the regions match the spec.
func nextRegionStep(s plan.Snapshot, have, want fdb.Configuration, version fdb.Version) plan.Decision {
	steps, err := have.RegionSteps(want, homeDataCenter(s.Database.Status))
	if err != nil {
		return readings.InvalidSpec(err)
	}
	if len(steps) == 0 {
		return readings.InvalidSpec(errors.New("the regions differ in a field that no step can change"))
	}
	step := steps[0]
	d := plan.Decision{Checks: regionChecks(s, have, step.Configuration)}
	due := fmt.Sprintf("the regions are %s from the spec; next: %s", stepsInWords(len(steps)), step.Does)
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s; the step waits", due), Detail: refused.Evidence, RetryAfter: regionRetry}
		return d
	}
	d.Why = due
	d.Actions = []plan.Action{configure(plan.Configure{Configuration: step.Configuration, Part: step.Part})}
	d.Hold = afterRegionStep(steps[1:], step.Configuration)
	if d.Hold == nil && !step.Configuration.Equal(want, version) {
		d.Hold = &plan.Hold{Code: plan.HoldRegionSteps, Reason: "the regions then match the spec; the other settings follow", RetryAfter: regionRetry}
	}
	return d
}

// afterRegionStep returns the hold for what remains after a step; nil for nothing.
func afterRegionStep(left []fdb.RegionStep, now fdb.Configuration) *plan.Hold {
	switch {
	case len(left) > 0:
		return &plan.Hold{Code: plan.HoldRegionSteps, Reason: fmt.Sprintf("the regions are then %s from the spec; next: %s", stepsInWords(len(left)), left[0].Does), RetryAfter: regionRetry}
	case now.UsableRegions > 1:
		return &plan.Hold{Code: plan.HoldRegionNotFull, Reason: "the second region must report a full copy", RetryAfter: regionRetry}
	}
	return nil
}

func stepsInWords(n int) string {
	return phrase.Count(n, "step") + " away"
}

// regionsFilled waits until a second region that was made usable has all of the data: until
// then there is one copy of it, whatever the configuration.
func regionsFilled(s plan.Snapshot, want fdb.Configuration) plan.Decision {
	if want.UsableRegions <= 1 {
		return plan.Decision{}
	}
	check := safety.RegionsReplicated(s.Database)
	d := plan.Decision{Checks: []plan.Check{check}}
	if !check.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: "the configuration of the regions matches the spec, but not all hold a full copy yet", Detail: check.Evidence, RetryAfter: regionRetry}
	}
	return d
}

// regionChecks returns the checks of any configuration change, and those that a step of a
// region change relies on: that the desired region serves, that the regions of the step hold
// all of the data, and before a second region may serve, that it has a full copy.
func regionChecks(s plan.Snapshot, have, next fdb.Configuration) []plan.Check {
	checks := configureChecks(s, next)
	if len(have.Regions) > 0 {
		checks = append(checks, safety.PrimaryServes(s.Database, have, homeDataCenter(s.Database.Status)))
	}
	if len(next.Regions) > 0 {
		checks = append(checks, safety.StorageInRegions(s.Database, next))
	}
	if next.ServingRegions() > 1 {
		checks = append(checks, safety.RegionsReplicated(s.Database))
	}
	return checks
}

// homeDataCenter returns the data center that the database is served from: the active primary
// region, or without regions the one data center of all storage processes. It is empty when
// that is unknown, or not one.
func homeDataCenter(status *fdb.Status) string {
	if configuration := status.Cluster.Configuration; configuration != nil && len(configuration.Regions) > 0 {
		return status.Cluster.ActivePrimaryDC
	}
	home, found := "", false
	for _, p := range status.ProcessList() {
		if !p.HasRole(fdb.RoleStorage) {
			continue
		}
		if found && p.DC() != home {
			return ""
		}
		home, found = p.DC(), true
	}
	return home
}
