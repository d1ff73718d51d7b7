package stages

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// updateDatabaseConfiguration creates the database once its processes report, and
// later brings its configuration to what the spec asks for.
//
// The operator takes the layers' error configurationMissing for "never
// configured". A configured database shows that error too while it is
// unavailable, so only the recovery state configuration_never_created counts
// here, and only on a record that says so as well.
//
// Regions change in steps, see nextRegionStep. The operator jumps with priorities and
// ends a step as soon as the data counts as healthy; here the steps are those that
// FoundationDB was seen to carry out cleanly, and a region counts when it is full.
var updateDatabaseConfiguration = plan.Stage{
	Name:  plan.StageUpdateDatabaseConfiguration,
	Reads: plan.Record | plan.Database,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.ConfigureDatabase() {
			return plan.Decision{}
		}
		want := objects.DesiredConfiguration(s.Cluster)
		if err := want.Check(); err != nil {
			return contradiction(err)
		}
		first := firstConfiguration(want)
		if _, err := first.RegionSteps(want, ""); err != nil {
			return contradiction(err)
		}
		status := s.Database.Status
		switch {
		case status == nil && !s.Cluster.Status.Configured:
			return plan.Wait(podDelay, plan.HoldNoDatabase, fmt.Sprintf("no database answers yet (%s); it gets: %s", s.Database.Why(), configureCommand(plan.Configure{New: true, Configuration: first})))
		case status == nil:
			return plan.Wait(podDelay, plan.HoldDatabaseUnavailable, "the database does not answer, so nobody knows whether it is configured as the spec asks: "+s.Database.Why())
		case status.NeverConfigured() && s.Cluster.Status.Configured:
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldDatabaseLost, Human: true, Reason: "the record says that the database was configured, but behind the connection string is one that never was: " +
				"a wrong connection string, or all coordinators lost their files. Creating a database here could hide the real one"}}
		case status.NeverConfigured():
			return newDatabase(s, first)
		case status.Cluster.Configuration == nil:
			return plan.Wait(podDelay, plan.HoldConfigurationUnknown, "the database does not tell its configuration; its recovery state is "+cmp.Or(status.RecoveryName(), "unknown"))
		default:
			return changedConfiguration(s, want)
		}
	},
}

// newDatabase creates the database, once the processes for it report. It takes no
// lock: there is no database yet to keep one in.
func newDatabase(s plan.Snapshot, want fdb.Configuration) plan.Decision {
	check := safety.CanHold(s.Database, want)
	d := plan.Decision{Checks: []plan.Check{check}}
	if !check.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: check.Evidence, RetryAfter: podDelay}
		return d
	}
	d.Why = "the database was never configured"
	d.Actions = []plan.Action{configure(plan.Configure{New: true, Configuration: want})}
	return d
}

// firstConfiguration is what a new database is created with: of several regions only
// the primary one. That is what was recorded to come up; the others join in the same
// steps as they do later, once their processes report. So a database never waits for
// a data center that it can do without.
func firstConfiguration(want fdb.Configuration) fdb.Configuration {
	if primary, ok := want.Primary(); ok {
		want.Regions, want.UsableRegions = []fdb.Region{primary}, 1
	}
	return want
}

// changedConfiguration brings an existing database's configuration to the wanted
// one, in the calm that such a change needs: it causes a recovery.
func changedConfiguration(s plan.Snapshot, want fdb.Configuration) plan.Decision {
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return contradiction(err)
	}
	have := *s.Database.Status.Cluster.Configuration
	differences := have.Differences(want, version)
	if len(differences) == 0 {
		return regionsFilled(s, want)
	}
	if !have.EqualIn(fdb.OnlyRegions, want, version) || !have.EqualIn(fdb.OnlyUsableRegions, want, version) {
		return nextRegionStep(s, have, want, version)
	}
	words := make([]string, len(differences))
	for i, difference := range differences {
		words[i] = difference.String()
	}
	d := plan.Decision{Why: strings.Join(words, "; "), Checks: configureChecks(s, want)}
	if refused, ok := d.Refused(); ok {
		d.Why, d.Hold = "", &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s; the change has to wait", d.Why), Detail: refused.Words(), RetryAfter: configureRetry}
		return d
	}
	d.Actions = []plan.Action{configure(plan.Configure{Configuration: want})}
	return d
}

// minRecoveryAgeToConfigure is how long ago the last recovery has to be. Default
// 60 s; source: the operator's flag minimum-uptime-for-configuration-changes.
const minRecoveryAgeToConfigure = time.Minute

// configureRetry is when to look again after a configuration change was not safe.
const configureRetry = 10 * time.Second

func configureChecks(s plan.Snapshot, want fdb.Configuration) []plan.Check {
	return []plan.Check{
		safety.Available(s.Database),
		safety.Unlocked(s.Database),
		safety.FewGenerations(s.Database),
		safety.DataHealthy(s.Database),
		safety.RecoveredFor(s.Database, minRecoveryAgeToConfigure),
		safety.LoadWithinLimits(s.Database),
		safety.CanHold(s.Database, want),
	}
}

// configure completes the action with its command in words.
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
		return fmt.Sprintf("nothing: %v", err)
	}
	return strings.Join(append(words, tokens...), " ")
}
