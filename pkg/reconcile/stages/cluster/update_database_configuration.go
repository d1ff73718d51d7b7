package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// UpdateDatabaseConfiguration creates the database once its processes report, and later reconciles
// its configuration.
//
// The operator takes the layers' error configurationMissing for "never configured". A configured
// database has that error too while it is unavailable, so only the recovery state
// configuration_never_created counts here, and only if the status agrees. Where files of the pods suffice, they are the
// proof, and no status document is read: see [safety.NeverCreated].
//
// Regions change in steps, see nextRegionStep. The operator jumps with priorities and ends a step as
// soon as the data counts as healthy; here the steps are those that FoundationDB was observed to
// carry out cleanly, and a region counts when it is full.
var UpdateDatabaseConfiguration = plan.Stage{
	Name:  plan.StageUpdateDatabaseConfiguration,
	Reads: plan.ClusterResource | plan.Database | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.ConfigureDatabase() {
			return plan.Decision{}
		}
		want := objects.DesiredConfiguration(s.Cluster)
		if err := want.Check(); err != nil {
			return readings.InvalidSpec(err)
		}
		first := firstConfiguration(want)
		if _, err := first.RegionSteps(want, ""); err != nil {
			return readings.InvalidSpec(err)
		}
		status := s.Database.Status
		switch {
		case (status == nil || status.NeverConfigured()) && s.Database.DataDirs != nil && !s.Cluster.Status.Configured:
			return withoutDocument(s, first)
		case status == nil && !s.Cluster.Status.Configured && readings.FormerDatabase(s) == "":
			return plan.Wait(plan.PodDelay, plan.HoldNoDatabase, fmt.Sprintf("no database answers yet (%s); it will be created with: %s", s.Database.Why(), configureCommand(plan.Configure{New: true, Configuration: first})))
		case status == nil:
			return plan.Wait(plan.PodDelay, plan.HoldDatabaseUnavailable, "cannot determine whether the configuration matches the spec: the database does not answer: "+s.Database.Why())
		case status.NeverConfigured() && s.Cluster.Status.Configured:
			return notCreated("the status records a configured database")
		case status.NeverConfigured() && readings.FormerDatabase(s) != "":
			return notCreated(readings.FormerDatabase(s))
		case status.NeverConfigured():
			return newDatabase(s, first)
		case status.Cluster.Configuration == nil:
			return plan.Wait(plan.PodDelay, plan.HoldConfigurationUnknown, "the database does not report its configuration; its recovery state is "+cmp.Or(status.RecoveryName(), "unknown"))
		default:
			return changedConfiguration(s, want)
		}
	},
}

// creationLimit is how long the first log and storage servers may have files before a coordinator has a state. configure
// new takes at most 75 s; docs/facts.md has the observation.
const creationLimit = 2 * time.Minute

// withoutDocument creates the database where files prove that there is none. A database that exists is waited for: only
// versions that never complete the status document of a missing one leave it unknown.
func withoutDocument(s plan.Snapshot, want fdb.Configuration) plan.Decision {
	proof, found := safety.NeverCreated(s)
	former := readings.FormerDatabase(s)
	switch {
	case proof.OK && former != "":
		return notCreated(former)
	case proof.OK:
		return newDatabase(s, want, proof)
	case found.Finding == datadir.Remains && s.Now.Sub(found.Written) < creationLimit:
		return plan.Wait(plan.PodDelay, plan.HoldNoDatabase, proof.Evidence+" yet: its creation may still be running")
	case found.Finding == datadir.Remains:
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldDatabaseLost, Manual: true, Reason: proof.Evidence + ": either the coordinators lost their files, or the creation of the " +
			"database was interrupted. Creating a database here could hide the real one"}}
	case found.Finding == datadir.Exists:
		return plan.Wait(plan.PodDelay, plan.HoldDatabaseUnavailable, fmt.Sprintf("a database exists (%s), and does not answer: %s", proof.Evidence, cmp.Or(s.Database.Why(), "its status is that of one that was never configured")))
	case found.Finding == datadir.Unreadable, found.Finding == datadir.Elsewhere && !s.Database.DataDirs.Awaits(s.Cluster, found.Coordinator.Host):
		why := fmt.Sprintf("fdbserver %s never completes the status document of a database that does not exist", s.Cluster.RunningVersion())
		if s.Database.Status != nil {
			why = "pods have files of a database"
		}
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNoDatabase, Manual: true, Reason: fmt.Sprintf("cannot determine whether a database exists, and creates none: %s, and %s. "+
			"docs/compatibility.md describes what is possible", why, proof.Evidence)}}
	default:
		return plan.Wait(plan.PodDelay, plan.HoldNoDatabase, fmt.Sprintf("cannot determine yet whether a database exists (%s); if there is none, it will be created with: %s", proof.Evidence, configureCommand(plan.Configure{New: true, Configuration: want})))
	}
}

// notCreated leaves a database alone that was never configured, although there should be one.
func notCreated(why string) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldDatabaseLost, Manual: true, Reason: why + ", but the one at the connection string was never configured: " +
		"the connection string is wrong, or all coordinators lost their files. Creating a database here could hide the real one"}}
}

// newDatabase creates the database, once the processes for it report. It takes no lock: there is no
// database yet that could hold it.
func newDatabase(s plan.Snapshot, want fdb.Configuration, proof ...plan.Check) plan.Decision {
	check := safety.CanHold(s.Database, want)
	d := plan.Decision{Checks: append(proof, check)}
	if !check.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: check.Evidence, RetryAfter: plan.PodDelay}
		return d
	}
	d.Why = "the database was never configured"
	d.Actions = []plan.Action{configure(plan.Configure{New: true, Configuration: want})}
	return d
}

// firstConfiguration returns what a new database is created with: of several regions only the
// primary one. That was observed to become available; the others join in the same steps as they do
// later, once their processes report. So a database never waits for a data center that it does
// not need.
func firstConfiguration(want fdb.Configuration) fdb.Configuration {
	if primary, ok := want.Primary(); ok {
		want.Regions, want.UsableRegions = []fdb.Region{primary}, 1
	}
	return want
}

// changedConfiguration changes an existing database's configuration to the desired one while the
// database is stable: the change causes a recovery.
func changedConfiguration(s plan.Snapshot, want fdb.Configuration) plan.Decision {
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return readings.InvalidSpec(err)
	}
	have := *s.Database.Status.Cluster.Configuration
	differences := have.Differences(want, version)
	if len(differences) == 0 {
		return regionsFilled(s, want)
	}
	if !have.EqualIn(fdb.OnlyRegions, want, version) || !have.EqualIn(fdb.OnlyUsableRegions, want, version) {
		return nextRegionStep(s, have, want, version)
	}
	if check := safety.EngineMigrates(have, want, version); !check.OK {
		return plan.Decision{Checks: []plan.Check{check}, Hold: &plan.Hold{
			Code: plan.HoldCheckRefused, Manual: true, Detail: check.Evidence,
			Reason: fmt.Sprintf("the storage engine stays %s: spec.databaseConfiguration.storage_migration_type must be aggressive, or gradual with perpetual_storage_wiggle: 1", have.StorageEngine),
		}}
	}
	words := make([]string, len(differences))
	for i, difference := range differences {
		words[i] = difference.String()
	}
	d := plan.Decision{Why: strings.Join(words, "; "), Checks: configureChecks(s, want)}
	if refused, ok := d.Refused(); ok {
		d.Why, d.Hold = "", &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("configuration change waits (%s)", d.Why), Detail: refused.Evidence, RetryAfter: configureRetry}
		return d
	}
	d.Actions = []plan.Action{configure(plan.Configure{Configuration: want})}
	return d
}

// MinRecoveryAgeToConfigure is the minimum time since the last recovery. Default 60 s; source: the
// operator's flag minimum-uptime-for-configuration-changes.
const MinRecoveryAgeToConfigure = time.Minute

// configureRetry is when a refused configuration change is checked again.
const configureRetry = 10 * time.Second

func configureChecks(s plan.Snapshot, want fdb.Configuration) []plan.Check {
	return []plan.Check{
		safety.Available(s.Database),
		safety.Unlocked(s.Database),
		safety.FewGenerations(s.Database),
		safety.DataHealthy(s.Database),
		safety.RecoveredFor(s.Database, MinRecoveryAgeToConfigure),
		safety.LoadWithinLimits(s.Database),
		safety.CanHold(s.Database, want),
	}
}

// configure completes the action with its command.
func configure(a plan.Configure) plan.Action {
	a.Command = configureCommand(a)
	return a
}

func configureCommand(a plan.Configure) string {
	words := []string{"configure"}
	if a.New {
		words = append(words, "new")
	}
	tokens, err := a.Configuration.TokensOf(a.Part)
	if err != nil {
		return fmt.Sprintf("unknown: %v", err)
	}
	return strings.Join(append(words, tokens...), " ")
}

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
