package safety

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// EvictionRule defines when pods of one kind may leave their node.
type EvictionRule struct {
	// Kind is the kind of pod, as documentation and views name it.
	Kind string
	// Holds is what such a pod holds of the database.
	Holds string
	// Evict is when the running pod may be evicted from its node. It is recreated with its
	// old volume, if it has one.
	Evict Condition[Pod]
	// Replace is when a new, empty process group with a new ID may take its place: the old
	// one is marked for removal and removed once it is drained.
	Replace Condition[Pod]
	// Settles is when an eviction that is refused becomes possible without moving data, once the
	// rest of the cluster is healthy again. Without a condition it never does.
	Settles Condition[Pod]
	// Tolerate is how long such a pod should stay bound to a node that is not ready or
	// not reachable; nil means forever.
	Tolerate *time.Duration
	// AddsToClass is true for a rule that applies in addition to that of a pod's class, whose
	// toleration counts.
	AddsToClass bool
}

// Pod is a process group with the snapshot that rules read.
type Pod struct {
	plan.Snapshot

	Group *v1beta2.ProcessGroupStatus
}

// How long pods should stay bound to a node that is not reachable. A pod without data is
// recreated elsewhere sooner than a node restarts; a pod with data waits for its node, because
// moving data costs more than waiting. Source: a default of kubectl fdb.
const (
	shortAbsence = 15 * time.Second
	longAbsence  = 5 * time.Minute
	// agentAbsence is that of a backup agent, which holds no data: what it did is repeated by
	// another agent after some time, so a short absence costs less than a new start.
	agentAbsence = time.Minute
)

// The kinds of pods.
const (
	kindTest         = "test"
	kindStateless    = "stateless"
	kindLog          = "log"
	kindStorage      = "storage"
	kindCoordination = "coordinator class"
	kindSingle       = "data without a copy"
	kindAgent        = "backup agent"
	kindCoordinator  = "a current coordinator"
)

// EvictionRules are the rules of all kinds, in the order of documentation. The last one
// is about current coordinators, and applies in addition to the rule of their class.
func EvictionRules() []EvictionRule {
	return []EvictionRule{
		{Kind: kindTest, Holds: "nothing", Evict: Always[Pod](servesNothing), Replace: Always[Pod](servesNothing), Tolerate: new(shortAbsence)},
		{
			Kind: kindStateless, Holds: "roles that are recruited again",
			Evict:   AllOf(recent, available, recoveredAWhile, holdsNoData),
			Replace: Always[Pod]("it is removed once its replacement is up and its roles have moved"), Tolerate: new(shortAbsence),
		},
		{
			Kind: kindLog, Holds: "the tail of the log",
			Evict: AllOf(recent, drained), Replace: spare, Tolerate: new(longAbsence),
		},
		{
			Kind: kindStorage, Holds: "data",
			Evict:   AllOf(recent, AnyOf(drained, AllOf(keepsVolume, holdsNoLog, fullyTolerant, otherZonesUp, otherZonesSettled, noOtherMaintenance))),
			Replace: AllOf(spare, spaceForData), Settles: AllOf(keepsVolume, holdsNoLog), Tolerate: new(longAbsence),
		},
		{
			Kind: kindCoordination, Holds: "coordination state",
			Evict: AllOf(recent, available, holdsNoData), Replace: spare, Settles: holdsNoData, Tolerate: new(longAbsence),
		},
		{
			Kind: kindSingle, Holds: "the only copy of data",
			Evict: AllOf(recent, drained), Replace: AllOf(available, throughDrain),
		},
		{
			Kind: kindAgent, Holds: "tasks that other agents continue",
			Evict: Always[Pod](servesNoData), Replace: Always[Pod](servesNoData), Tolerate: new(agentAbsence),
		},
		{
			Kind: kindCoordinator, Holds: "coordination state",
			Evict: notCoordinating, Replace: coordinationCanMove, AddsToClass: true,
		},
	}
}

const (
	servesNothing = "testers serve nothing"
	servesNoData  = "backup agents hold no data, and other agents continue their tasks"
)

// MayEvictAgent checks whether the pod of a backup agent may be evicted from its node now.
func MayEvictAgent() []plan.Check { return ruleOf(kindAgent).Evict.Ask(Pod{}) }

// TolerationsForAgents are the tolerations for the pods of backup agents, as TolerationsFor.
func TolerationsForAgents() []corev1.Toleration { return tolerationsOf(ruleOf(kindAgent)) }

// MayEvict checks whether a group's running pod may be evicted from its node now. All of the
// checks must be OK.
func MayEvict(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []plan.Check {
	return askRules(s, g, func(r EvictionRule) Condition[Pod] { return r.Evict })
}

// MayReplace checks whether a new process group may take a group's place now. All of the
// checks must be OK. The old group's pod stays until it is drained.
func MayReplace(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []plan.Check {
	return askRules(s, g, func(r EvictionRule) Condition[Pod] { return r.Replace })
}

// EvictionSettles reports whether a group's pod can be evicted with its data in place as soon as the
// rest of the cluster is healthy, so that a refusal now is a reason to wait and none to move data. It
// does not say whether the pod is a coordinator.
func EvictionSettles(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	_, met := firstRefused(ruleOf(kindOf(s, g.ProcessClass)).Settles.Ask(Pod{Snapshot: s, Group: g}))
	return met
}

// askRules evaluates the rule of a group's kind and the one about coordinators. Where it is
// certain that there is no database, pods hold nothing.
func askRules(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, which func(EvictionRule) Condition[Pod]) []plan.Check {
	p := Pod{Snapshot: s, Group: g}
	if NoDatabaseYet(s) {
		return Always[Pod]("the database does not exist yet").Ask(p)
	}
	kind := kindOf(s, g.ProcessClass)
	checks := which(ruleOf(kind)).Ask(p)
	if kind == kindTest {
		return checks
	}
	return append(checks, which(ruleOf(kindCoordinator)).Ask(p)...)
}

// EvictionKind is the kind of pod that a group is, by its class and by the redundancy of
// its data: the name of its rule.
func EvictionKind(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	return kindOf(s, g.ProcessClass)
}

// HoldsNothing reports whether a group is of a kind whose pods keep nothing.
func HoldsNothing(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	kind := EvictionKind(s, g)
	return kind == kindTest || kind == kindStateless
}

// kindOf is the kind of a class in a cluster. A class that may receive data, and an unknown
// class, count as storage.
func kindOf(s plan.Snapshot, class v1beta2.ProcessClass) string {
	switch {
	case class.IsTester():
		return kindTest
	case class == v1beta2.ProcessClassCoordinator:
		return kindCoordination
	case class.IsKnown() && !class.IsStateful() && class != v1beta2.ProcessClassUnset:
		return kindStateless
	case withoutCopies(s):
		return kindSingle
	case class.IsLog():
		return kindLog
	default:
		return kindStorage
	}
}

// withoutCopies reports whether the data or the logs have one replica only, in the spec or in
// force; an unknown number counts as one.
func withoutCopies(s plan.Snapshot) bool {
	if n, known := fdb.MinimumFaultDomains(string(s.Cluster.Spec.DatabaseConfiguration.RedundancyMode)); !known || n < 2 {
		return true
	}
	if s.Database.Status == nil {
		return false
	}
	if c := s.Database.Status.Cluster.Configuration; c != nil && c.LogReplicas == 1 {
		return true
	}
	n, known := replicasDesired(s)
	return !known || n < 2
}

func ruleOf(kind string) EvictionRule {
	for _, r := range EvictionRules() {
		if r.Kind == kind {
			return r
		}
	}
	return EvictionRule{Kind: kind} // whose conditions are never met
}

// TolerationsFor are the NoExecute tolerations for the pods of a class, one for
// nodes that are not ready and one for nodes that are not reachable. They are for the pod
// template: without any of its own Kubernetes gives every pod five minutes of each.
func TolerationsFor(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []corev1.Toleration {
	return tolerationsOf(ruleOf(kindOf(plan.Snapshot{Cluster: c}, class)))
}

func tolerationsOf(r EvictionRule) []corev1.Toleration {
	var seconds *int64
	if r.Tolerate != nil {
		seconds = new(int64(r.Tolerate.Seconds()))
	}
	tolerations := make([]corev1.Toleration, 0, 2)
	for _, key := range plan.LostNodeTaints() {
		tolerations = append(tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds,
		})
	}
	return tolerations
}

// VolumeStays checks whether a process group keeps its volume when its pod ends, and the recreated
// pod has the same data. Everything that takes a pod down asks it. A PVC that is being deleted stays
// until no pod uses it: the end of the pod is the end of the volume, and of the last copy of the data
// on it that is nowhere else.
func VolumeStays(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckKeepsVolume, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("does %s keep its volume?", g.ProcessGroupID), Gate: plan.GateReplicas}
	name := g.PVCName(s.Cluster)
	claim := s.Volumes[name]
	switch {
	case !g.ProcessClass.IsStateful():
		c.OK, c.Evidence = true, "it has no PVC"
	case claim == nil:
		c.Evidence = "PVC " + name + " not found"
	case claim.DeletionTimestamp != nil:
		c.Evidence = fmt.Sprintf("PVC %s is being deleted since %s", name, claim.DeletionTimestamp.UTC().Format(time.RFC3339))
	case startedBefore(s.Pod(g), claim):
		c.Evidence = "PVC " + name + " is younger than the pod, which uses the volume of a deleted PVC of that name"
	default:
		c.OK, c.Evidence = true, "PVC "+name+" remains"
	}
	return c
}

// startedBefore reports whether a pod runs since before a PVC of the name that it mounts was created.
// The kubelet starts no pod without its PVC, so the pod has another volume.
func startedBefore(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	return pod != nil && pod.Status.StartTime != nil && !claim.CreationTimestamp.IsZero() && pod.Status.StartTime.Before(&claim.CreationTimestamp)
}

// DataElsewhere checks whether the database needs nothing of the volume that a process group lost: data
// and logs have more than one copy, and the database is available and fully recovered without this one.
// Of two regions the one with the data counts: the copies of a lost one are what its volumes had. A database without copies
// shows the loss of its only one a minute later.
func DataElsewhere(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckCopyElsewhere, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("is all data of %s elsewhere?", g.ProcessGroupID), Gate: plan.GateReplicas, Need: "at least 1"}
	if available := Available(s.Database); !available.OK {
		c.Evidence = available.Evidence
		return c
	}
	least, known := s.Database.Status.RegionReplicas()
	switch {
	case withoutCopies(s):
		c.Evidence = "redundancy mode " + redundancyOf(s) + " keeps one copy, which was on that volume"
	case !s.Database.Status.FullyRecovered() && !hasTwoRegions(s): // of two regions a recovery ends only with both
		c.Evidence = "the database is not fully recovered"
	case !known:
		c.Evidence = "the number of replicas of the data is unknown"
	default:
		c.OK, c.Have = least >= 1, strconv.Itoa(least)
		c.Evidence = fmt.Sprintf("all data has %s without it, 1 required", phrase.Count(least, "replica"))
	}
	return c
}

func hasTwoRegions(s plan.Snapshot) bool {
	c := s.Database.Status.Cluster.Configuration
	return c != nil && c.UsableRegions > 1
}

// oldestProof is the highest allowed age of the status document for a deletion: stages before
// the one that deletes can take long.
const oldestProof = time.Minute

// RecentProof checks whether the status document is recent enough to take processes down. If
// it is from the future, the clock was set back, and its age is unknown.
func RecentProof(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckStatusRecent, Question: "is the status document recent?", Gate: plan.GateReplicas, Need: fmt.Sprintf("at most %s old", oldestProof)}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	age := s.Now.Sub(s.Database.AsOf)
	c.OK, c.Have = age >= 0 && age <= oldestProof, age.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("the status document is %s old, at most %s allowed", age.Round(time.Second), oldestProof)
	if !c.OK {
		c.Evidence += "; the next pass reads a new one"
	}
	return c
}
