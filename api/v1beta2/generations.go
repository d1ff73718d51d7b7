package v1beta2

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Gaps are the differences between a cluster and its spec.
type Gaps struct {
	// Generations is what the status should have: Reconciled has advanced when
	// there is no gap.
	Generations ClusterGenerationStatus
	// DesiredProcessGroups is the desired number of process groups.
	DesiredProcessGroups int
	// ReconciledProcessGroups is how many are reconciled.
	ReconciledProcessGroups int
	// Reasons are the gaps as text for users. None means reconciled.
	Reasons []string

	generation int64
}

// ReconciliationGaps compares a cluster, whose status was just computed, with
// its spec. desired is the database configuration in the same normal form as
// the one in the status. Others are gaps that the status does not show.
//
// It does not consider the health of the database beyond its availability:
// data movement does not keep a generation from being reconciled.
func (c *FoundationDBCluster) ReconciliationGaps(desired DatabaseConfiguration, others ...string) Gaps {
	if !c.Status.Configured {
		return c.unconfiguredGaps()
	}
	g := Gaps{
		Generations:          ClusterGenerationStatus{Reconciled: c.Status.Generations.Reconciled},
		DesiredProcessGroups: c.DesiredProcessGroups(),
		generation:           c.Generation,
	}
	g.compareCounts(c)
	g.judgeGroups(c.Status.ProcessGroups)
	if g.DesiredProcessGroups != g.ReconciledProcessGroups {
		have, want := g.ReconciledProcessGroups, g.DesiredProcessGroups
		g.because("%s %s as desired", phrase.CountOf(have, want, "process group"), phrase.EitherOf(have, want, "is", "are"))
	}
	g.compareDatabase(c, desired)
	g.compareObjects(c)
	g.Reasons = append(g.Reasons, others...)
	if len(g.Reasons) == 0 {
		g.Generations.Reconciled = c.Generation
	}
	return g
}

// unconfiguredGaps keeps all generations and adds the configuration to wait
// for.
func (c *FoundationDBCluster) unconfiguredGaps() Gaps {
	g := Gaps{
		Generations:             c.Status.Generations,
		DesiredProcessGroups:    c.Status.DesiredProcessGroups,
		ReconciledProcessGroups: c.Status.ReconciledProcessGroups,
		generation:              c.Generation,
	}
	g.missing(&g.Generations.NeedsConfigurationChange, "the database was never configured")
	return g
}

// Reconciled reports whether there is no gap.
func (g Gaps) Reconciled() bool { return len(g.Reasons) == 0 }

// ApplyTo writes the gaps into a status.
func (g Gaps) ApplyTo(s *FoundationDBClusterStatus) {
	s.Generations = g.Generations
	s.DesiredProcessGroups = g.DesiredProcessGroups
	s.ReconciledProcessGroups = g.ReconciledProcessGroups
}

func (g *Gaps) missing(field *int64, format string, details ...any) {
	*field = g.generation
	g.because(format, details...)
}

func (g *Gaps) because(format string, details ...any) {
	g.Reasons = append(g.Reasons, fmt.Sprintf(format, details...))
}

func (g *Gaps) compareCounts(c *FoundationDBCluster) {
	remaining := map[ProcessClass]int{}
	for _, group := range c.Status.ProcessGroups {
		if !group.IsMarkedForRemoval() {
			remaining[group.ProcessClass]++
		}
	}
	desired := c.DesiredProcessCounts()
	for _, class := range classesOf(desired, remaining) {
		switch have, want := remaining[class], desired[class]; {
		case have < want:
			g.missing(&g.Generations.NeedsGrow, "%s %s", phrase.CountOf(have, want, string(class)+" process group"), phrase.EitherOf(have, want, "exists", "exist"))
		case have > want:
			g.missing(&g.Generations.NeedsShrink, "%s more than desired", phrase.Count(have-want, string(class)+" process group"))
		}
	}
}

// classesOf are the keys of both, in a stable order.
func classesOf(a, b map[ProcessClass]int) []ProcessClass {
	var classes []ProcessClass
	for _, counts := range []map[ProcessClass]int{a, b} {
		for class := range counts {
			if !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	slices.Sort(classes)
	return classes
}

// judgeGroups names process groups by what they have in common: a rollout is one reason.
func (g *Gaps) judgeGroups(groups []*ProcessGroupStatus) {
	const most = 3 // named, the others are counted
	var removed []string
	having := map[ProcessGroupConditionType][]string{}
	for _, group := range groups {
		id, problems := string(group.ProcessGroupID), group.problems()
		switch {
		case group.IsMarkedForRemoval() && group.HasCondition(ConditionResourcesTerminating):
			g.Generations.HasPendingRemoval = g.generation // terminating resources require no further action
		case group.IsMarkedForRemoval():
			removed = append(removed, id)
		case len(problems) == 0:
			g.ReconciledProcessGroups++
		default:
			for _, t := range problems {
				having[t] = append(having[t], id)
			}
		}
	}
	if len(removed) > 0 {
		g.missing(&g.Generations.NeedsShrink, "%s %s marked for removal", phrase.Named(removed, "process group", most), phrase.Is(len(removed)))
	}
	if len(having[ConditionIncorrectCommandLine]) > 0 {
		g.Generations.NeedsBounce = g.generation
	}
	if len(having[ConditionIncorrectPodSpec]) > 0 {
		g.Generations.NeedsPodDeletion = g.generation
	}
	for _, t := range slices.Sorted(maps.Keys(having)) {
		g.missing(&g.Generations.HasUnhealthyProcess, "%s %s condition %s", phrase.Named(having[t], "process group", most), phrase.Has(len(having[t])), t)
	}
}

// problems are the conditions that keep a process group from being reconciled.
func (s *ProcessGroupStatus) problems() (types []ProcessGroupConditionType) {
	for _, condition := range s.ProcessGroupConditions {
		if !condition.Type.IsInformational() {
			types = append(types, condition.Type)
		}
	}
	return types
}

func (g *Gaps) compareDatabase(c *FoundationDBCluster, desired DatabaseConfiguration) {
	if !c.Status.Health.Available {
		g.missing(&g.Generations.MissingDatabaseStatus, "the availability of the database is unknown")
	}
	if !equality.Semantic.DeepEqual(c.Status.DatabaseConfiguration, desired) {
		g.missing(&g.Generations.NeedsConfigurationChange, "the database is configured differently")
	}
	if c.Status.NeedsNewCoordinators {
		g.missing(&g.Generations.NeedsCoordinatorChange, "the coordinators must be changed")
	}
	wanted := RequiredAddressSet{TLS: c.Spec.MainContainer.EnableTLS, NonTLS: !c.Spec.MainContainer.EnableTLS}
	if c.Status.RequiredAddresses != wanted {
		g.missing(&g.Generations.HasExtraListeners, "TLS is being turned on or off")
	}
	if id, differs := c.denyListDifference(); differs {
		g.missing(&g.Generations.NeedsLockConfigurationChanges, "the deny list of the lock differs for %q", id)
	}
}

func (g *Gaps) compareObjects(c *FoundationDBCluster) {
	if c.Status.HasIncorrectConfigMap {
		g.missing(&g.Generations.NeedsMonitorConfUpdate, "the config map must be updated")
	}
	if c.Status.HasIncorrectServiceConfig {
		g.missing(&g.Generations.NeedsServiceUpdate, "the headless service must be created or removed")
	}
}

// denyListDifference returns the first owner ID for which the deny list in
// the database differs from the spec. IDs that the spec does not list may be
// on it or not.
func (c *FoundationDBCluster) denyListDifference() (id string, differs bool) {
	for _, entry := range c.Spec.LockOptions.DenyList {
		if denied := slices.Contains(c.Status.Locks.LockDenyList, entry.ID); denied == entry.Allow {
			return entry.ID, true
		}
	}
	return "", false
}
