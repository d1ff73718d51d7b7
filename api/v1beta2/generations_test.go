package v1beta2

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var live = DatabaseConfiguration{RedundancyMode: RedundancyModeDouble, StorageEngine: StorageEngineSSD2, UsableRegions: 1}

// reconciled is a cluster of generation 3 that is as desired, last seen so at
// generation 2.
func reconciled(given ...func(*FoundationDBCluster)) *FoundationDBCluster {
	return cluster(append([]func(*FoundationDBCluster){func(c *FoundationDBCluster) {
		c.Spec.ProcessCounts = ProcessCounts{Storage: 2, Log: 1, Stateless: -1}
		c.Status.Configured = true
		c.Status.Health.Available = true
		c.Status.RequiredAddresses.NonTLS = true
		c.Status.DatabaseConfiguration = live
		c.Status.Generations.Reconciled = 2
		c.Status.ProcessGroups = []*ProcessGroupStatus{group("log-1", "log"), group("storage-1", "storage"), group("storage-2", "storage")}
	}}, given...)...)
}

func TestGenerationsRecordWhatIsNotReconciled(t *testing.T) {
	type generations = ClusterGenerationStatus
	with := func(conditions ...ProcessGroupConditionType) func(*FoundationDBCluster) {
		return func(c *FoundationDBCluster) {
			for _, condition := range conditions {
				c.Status.ProcessGroups[1].SetCondition(condition, noon)
			}
		}
	}
	tests := map[string]struct {
		given func(*FoundationDBCluster)
		want  generations
		ready int
	}{
		"as desired": {func(*FoundationDBCluster) {}, generations{Reconciled: 3}, 3},
		"what was waited for before is forgotten": {
			func(c *FoundationDBCluster) { c.Status.Generations.NeedsGrow = 2 }, generations{Reconciled: 3}, 3,
		},
		"high run loop busy is for information": {with(ConditionProcessHasHighRunLoopBusy), generations{Reconciled: 3}, 3},
		"high run loop busy hides nothing else": {
			with(ConditionProcessHasHighRunLoopBusy, ConditionPodFailing), generations{Reconciled: 2, HasUnhealthyProcess: 3}, 2,
		},
		"another condition": {with(ConditionMissingProcesses), generations{Reconciled: 2, HasUnhealthyProcess: 3}, 2},
		"another command line and pod spec": {
			with(ConditionIncorrectCommandLine, ConditionIncorrectPodSpec),
			generations{Reconciled: 2, HasUnhealthyProcess: 3, NeedsBounce: 3, NeedsPodDeletion: 3},
			2,
		},
		"a process group too few": {
			func(c *FoundationDBCluster) { c.Spec.ProcessCounts.Log = 2 }, generations{Reconciled: 2, NeedsGrow: 3}, 3,
		},
		"a process group too many": {
			func(c *FoundationDBCluster) { c.Spec.ProcessCounts.Storage = 1 }, generations{Reconciled: 2, NeedsShrink: 3}, 3,
		},
		"a class that is not wanted at all": {
			func(c *FoundationDBCluster) { c.Spec.ProcessCounts.Log = -1 }, generations{Reconciled: 2, NeedsShrink: 3}, 3,
		},
		"one too many here, one too few there": {
			func(c *FoundationDBCluster) { c.Spec.ProcessCounts.Storage, c.Spec.ProcessCounts.Log = 1, 2 },
			generations{Reconciled: 2, NeedsShrink: 3, NeedsGrow: 3},
			3,
		},
		"a removal under way, its replacement there": {
			func(c *FoundationDBCluster) {
				marked := group("storage-3", "storage")
				marked.MarkForRemoval(noon)
				c.Status.ProcessGroups = append(c.Status.ProcessGroups, marked)
			}, generations{Reconciled: 2, NeedsShrink: 3}, 3,
		},
		"a removal of which only resources are left": {
			func(c *FoundationDBCluster) {
				marked := group("storage-3", "storage")
				marked.MarkForRemoval(noon)
				marked.SetExcluded(noon)
				marked.SetCondition(ConditionResourcesTerminating, noon)
				c.Status.ProcessGroups = append(c.Status.ProcessGroups, marked)
			}, generations{Reconciled: 3, HasPendingRemoval: 3}, 3,
		},
		"no database": {
			func(c *FoundationDBCluster) { c.Status.Health.Available = false }, generations{Reconciled: 2, MissingDatabaseStatus: 3}, 3,
		},
		"unhealthy data does not matter": {
			func(c *FoundationDBCluster) { c.Status.Health.DataMovementPriority = 999 }, generations{Reconciled: 3}, 3,
		},
		"another configuration": {
			func(c *FoundationDBCluster) { c.Status.DatabaseConfiguration.Logs = 9 }, generations{Reconciled: 2, NeedsConfigurationChange: 3}, 3,
		},
		"empty regions are no regions": {
			func(c *FoundationDBCluster) { c.Status.DatabaseConfiguration.Regions = []Region{} }, generations{Reconciled: 3}, 3,
		},
		"another config map": {
			func(c *FoundationDBCluster) { c.Status.HasIncorrectConfigMap = true }, generations{Reconciled: 2, NeedsMonitorConfUpdate: 3}, 3,
		},
		"another service": {
			func(c *FoundationDBCluster) { c.Status.HasIncorrectServiceConfig = true }, generations{Reconciled: 2, NeedsServiceUpdate: 3}, 3,
		},
		"other coordinators": {
			func(c *FoundationDBCluster) { c.Status.NeedsNewCoordinators = true }, generations{Reconciled: 2, NeedsCoordinatorChange: 3}, 3,
		},
		"TLS wanted, none there": {
			func(c *FoundationDBCluster) { c.Spec.MainContainer.EnableTLS = true }, generations{Reconciled: 2, HasExtraListeners: 3}, 3,
		},
		"TLS and plain at once": {
			func(c *FoundationDBCluster) { c.Status.RequiredAddresses.TLS = true }, generations{Reconciled: 2, HasExtraListeners: 3}, 3,
		},
		"an ID still to be denied": {
			func(c *FoundationDBCluster) { c.Spec.LockOptions.DenyList = []LockDenyListEntry{{ID: "west"}} },
			generations{Reconciled: 2, NeedsLockConfigurationChanges: 3},
			3,
		},
		"an ID still to be allowed": {
			func(c *FoundationDBCluster) {
				c.Spec.LockOptions.DenyList = []LockDenyListEntry{{ID: "west", Allow: true}}
				c.Status.Locks.LockDenyList = []string{"west"}
			}, generations{Reconciled: 2, NeedsLockConfigurationChanges: 3}, 3,
		},
		"a deny list that matches the spec, with one more ID": {
			func(c *FoundationDBCluster) {
				c.Spec.LockOptions.DenyList = []LockDenyListEntry{{ID: "west"}, {ID: "north", Allow: true}}
				c.Status.Locks.LockDenyList = []string{"west", "south"}
			}, generations{Reconciled: 3}, 3,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := reconciled(tt.given)
			g := c.ReconciliationGaps(live)
			if diff := cmp.Diff(tt.want, g.Generations); diff != "" {
				t.Errorf("generations (-want +got):\n%s", diff)
			}
			if g.ReconciledProcessGroups != tt.ready || g.DesiredProcessGroups != c.DesiredProcessGroups() {
				t.Errorf("got %d of %d process groups", g.ReconciledProcessGroups, g.DesiredProcessGroups)
			}
			if g.Reconciled() != (tt.want.Reconciled == 3) {
				t.Errorf("reconciled: got %v, because %q", g.Reconciled(), g.Reasons)
			}
			g.ApplyTo(&c.Status)
			if c.Status.Generations != tt.want || c.Status.ReconciledProcessGroups != tt.ready {
				t.Errorf("status: got %+v", c.Status)
			}
		})
	}
}

func TestAnUnconfiguredDatabaseIsTheOnlyReportedGap(t *testing.T) {
	c := reconciled(func(c *FoundationDBCluster) {
		c.Status.Configured = false
		c.Status.Generations.NeedsGrow = 2
		c.Status.DesiredProcessGroups = 16
	})
	g := c.ReconciliationGaps(live)
	want := Gaps{
		Generations:          ClusterGenerationStatus{Reconciled: 2, NeedsGrow: 2, NeedsConfigurationChange: 3},
		DesiredProcessGroups: 16,
		Reasons:              []string{"the database was never configured"},
		generation:           3,
	}
	if diff := cmp.Diff(want, g, cmp.AllowUnexported(Gaps{})); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

func TestReconciliationGapsListTheirReasons(t *testing.T) {
	c := reconciled(func(c *FoundationDBCluster) {
		c.Spec.ProcessCounts.Log = 4
		c.Status.ProcessGroups[1].RemovalTimestamp = &metav1.Time{Time: noon}
		c.Status.ProcessGroups[2].SetCondition(ConditionPodPending, noon)
	})
	want := `1 of 4 log process groups exists
1 of 2 storage process groups exists
process group storage-1 is marked for removal
process group storage-2 has condition PodPending
1 of 6 process groups is as desired`
	if diff := cmp.Diff(want, strings.Join(c.ReconciliationGaps(live).Reasons, "\n")); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
