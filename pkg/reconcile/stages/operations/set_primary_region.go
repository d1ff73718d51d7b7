package operations

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// failoverRetry is when checks are made again that a stable database passes.
const failoverRetry = 10 * time.Second

// PrimaryRegion is the region that is to become primary.
type PrimaryRegion struct {
	// DataCenter is its main data center.
	DataCenter string
	// SetElsewhere is whether a user declared that resources outside of the namespace have these
	// priorities.
	SetElsewhere bool
}

// SetPrimaryRegion returns a stage that gives a region the highest priority, in every resource of the
// database, while the other one serves, and this one has all of the data. The database is configured by a
// later stage, one step at a time.
func SetPrimaryRegion(to PrimaryRegion) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSetPrimaryRegion,
		Reads: plan.ClusterResource | plan.OtherClusters | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision {
			members := membersOf(s)
			action, err := to.change(s, members)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			if len(action.Resources) == 0 {
				return plan.Decision{}
			}
			return to.decide(s, members, action)
		},
	}
}

// decide returns the action, if every check passes. What a stable database passes is checked last, and
// again.
func (r PrimaryRegion) decide(s plan.Snapshot, members []*v1beta2.FoundationDBCluster, action plan.SetPriorities) plan.Decision {
	d := plan.Decision{Checks: r.checks(s, members, action)}
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: r.refusal(s), Detail: refused.Evidence}
		return d
	}
	d.Checks = append(d.Checks, r.stable(s, action)...)
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: "the failover to " + r.DataCenter + " waits", Detail: refused.Evidence, RetryAfter: failoverRetry}
		return d
	}
	d.Why = "may be lost: nothing; the database switches once " + r.DataCenter + " has all that was committed"
	d.Actions = []plan.Action{action}
	return d
}

// refusal describes what may be lost before anything else: a failover that is not by choice.
func (r PrimaryRegion) refusal(s plan.Snapshot) string {
	status := s.Database.Status
	switch {
	case status == nil:
		return "what may be lost is unknown: the database does not answer, so that which region serves and how far the other one lags are unknown. The priorities stay"
	case !status.Available():
		return "may be lost, if the primary region never returns: what it committed and " + r.DataCenter + " does not have yet, an unknown amount. A change of priorities does not bring the database back. The priorities stay"
	case status.Cluster.ActivePrimaryDC == r.DataCenter:
		return "may be lost: nothing; " + r.DataCenter + " serves already, although it does not have the highest priority: the database has failed over, and fails back once the other region reports. The priorities stay"
	}
	return "may be lost: nothing, no region changes. The priorities stay"
}

// checks returns what time alone does not change.
func (r PrimaryRegion) checks(s plan.Snapshot, members []*v1beta2.FoundationDBCluster, action plan.SetPriorities) []plan.Check {
	have, home := objects.DesiredConfiguration(s.Cluster), ""
	if s.Database.Status != nil {
		home = s.Database.Status.Cluster.ActivePrimaryDC
		if c := s.Database.Status.Cluster.Configuration; c != nil {
			have = *c
		}
	}
	checks := []plan.Check{
		safety.Available(s.Database),
		safety.RegionEligible(s.Database, r.DataCenter),
		safety.PrimaryServes(s.Database, have, home),
		safety.RegionsAgree(members),
		r.configures(s),
		safety.Unlocked(s.Database),
	}
	if !alreadyChanged(action, members) {
		checks = append(checks, safety.RegionsReached(s.Database, objects.DesiredConfiguration(s.Cluster)))
	}
	if !r.SetElsewhere {
		checks = append(checks, safety.ResourcesKnown(s.Database, s.OtherClusters, members))
	}
	return checks
}

// stable returns the checks of any change of the configuration, and that the region has the data.
func (r PrimaryRegion) stable(s plan.Snapshot, action plan.SetPriorities) []plan.Check {
	return []plan.Check{
		safety.RegionsReplicated(s.Database),
		safety.RegionCaughtUp(s.Database),
		safety.FewGenerations(s.Database),
		safety.DataHealthy(s.Database),
		safety.RecoveredFor(s.Database, cluster.MinRecoveryAgeToConfigure),
		safety.LoadWithinLimits(s.Database),
		safety.CanHold(s.Database, objects.DesiredConfiguration(action.Apply(s).Cluster)),
	}
}

// alreadyChanged reports whether an interrupted run has changed some of the resources.
func alreadyChanged(action plan.SetPriorities, members []*v1beta2.FoundationDBCluster) bool {
	return len(action.Resources) < len(members)
}

// configures checks whether passes over the resource may configure the database.
func (r PrimaryRegion) configures(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckConfiguresDatabase, Question: "do passes configure the database?", Gate: plan.GateConfig, OK: s.Cluster.ConfigureDatabase(), Evidence: "spec.automationOptions.configureDatabase permits it"}
	if !c.OK {
		c.Evidence = "spec.automationOptions.configureDatabase is false"
	}
	return c
}

// change returns the action; without resources if all have these priorities.
func (r PrimaryRegion) change(s plan.Snapshot, members []*v1beta2.FoundationDBCluster) (plan.SetPriorities, error) {
	a := plan.SetPriorities{Cluster: s.Cluster.Name, To: r.DataCenter}
	for _, member := range slices.Backward(members) { // that of the pass last
		regions, err := r.ranked(member)
		if err != nil {
			return a, err
		}
		if change, differs := plan.NewRegionsResource(member, regions); differs {
			a.Resources = append(a.Resources, change)
		}
	}
	return a, nil
}

// ranked returns the regions of a resource, in which the priorities of the best region and of this one are
// exchanged.
func (r PrimaryRegion) ranked(c *v1beta2.FoundationDBCluster) ([]v1beta2.Region, error) {
	regions := c.DeepCopy().Spec.DatabaseConfiguration.Regions
	var best, own *v1beta2.DataCenter
	for i := range regions {
		for j := range regions[i].Datacenters {
			dc := &regions[i].Datacenters[j]
			if dc.Satellite != 0 {
				continue
			}
			if best == nil || dc.Priority > best.Priority {
				best = dc
			}
			if dc.ID == r.DataCenter {
				own = dc
			}
		}
	}
	switch {
	case own == nil:
		return nil, fmt.Errorf("%s is not the main data center of a region in spec.databaseConfiguration.regions of %s", r.DataCenter, c.Name)
	case own.Priority == best.Priority && own != best:
		return nil, fmt.Errorf("%s and %s have the same priority %d in spec.databaseConfiguration.regions of %s", own.ID, best.ID, own.Priority, c.Name)
	}
	own.Priority, best.Priority = best.Priority, own.Priority
	return regions, nil
}

// membersOf returns the resources of the database in the namespace, that of the pass first.
func membersOf(s plan.Snapshot) []*v1beta2.FoundationDBCluster {
	members, own := []*v1beta2.FoundationDBCluster{s.Cluster}, databaseOf(s.Cluster)
	for i := range s.OtherClusters.All {
		if other := &s.OtherClusters.All[i]; own != "" && databaseOf(other) == own {
			members = append(members, other)
		}
	}
	return members
}

// databaseOf returns the description and ID of the connection string, empty if it is unknown.
func databaseOf(c *v1beta2.FoundationDBCluster) string {
	text := phrase.Or(c.Status.ConnectionString, c.Spec.SeedConnectionString)
	s, err := fdb.ParseConnectionString(text)
	if err != nil {
		return ""
	}
	return s.Description + ":" + s.ID
}
