package cluster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// GenerateInitialClusterFile chooses the first coordinators of a new database from its
// running pods, spread over fault domains. Once the connection string is stored the pass
// starts over: the ConfigMap and the pods need it.
var GenerateInitialClusterFile = plan.Stage{
	Name:  plan.StageGenerateInitialClusterFile,
	Reads: plan.ClusterResource | plan.Pods | plan.PodFiles | plan.ConfigMap | plan.Volumes | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		if s.Cluster.Status.ConnectionString != "" {
			return plan.Decision{}
		}
		if lost := readings.LostDatabase(s); lost != nil {
			return plan.Decision{Hold: lost}
		}
		need := s.Cluster.DesiredCoordinators()
		running, pending := coordinatorPods(s)
		if len(running) < need {
			return tooFewPods(s, len(running), need, pending)
		}
		if wait := s.Cluster.IgnorePendingPodsFor() - youngest(s.Now, pending); len(pending) > 0 && wait > 0 {
			return plan.Wait(min(wait, plan.PodDelay), plan.HoldPodsPending, fmt.Sprintf("%s pending; the first coordinators are chosen among all%s", phrase.Count(len(pending), "pod"), because(startFailures(podsOf(s, pending)))))
		}
		candidates := firstCandidates(s, running)
		chosen, err := readings.Spread(candidates, firstCoordinators(s.Cluster), firstCoordinatorRule)
		if err != nil {
			return plan.Wait(plan.PodDelay, plan.HoldNoCoordinators, fmt.Sprintf("cannot choose the first %s: %v", phrase.Count(need, "coordinator"), err))
		}
		return plan.Decision{
			Why:     fmt.Sprintf("%s %s running and there is no cluster file yet", phrase.Count(len(running), "pod"), phrase.Is(len(running))),
			Actions: []plan.Action{plan.SetConnectionString{ConnectionString: connectionString(s, chosen).String()}},
			Hold:    &plan.Hold{Code: plan.HoldClusterFileFirst, Reason: "the ConfigMap and the pods need the new cluster file first", Then: plan.StartOver},
		}
	},
}

// tooFewPods waits for the pods that may become the first coordinators. Time does not help if those that can
// still start are too few.
func tooFewPods(s plan.Snapshot, running, need int, pending []*v1beta2.ProcessGroupStatus) plan.Decision {
	failed := startFailures(podsOf(s, pending))
	reason := fmt.Sprintf("%s for the first coordinators %s running%s", phrase.CountOf(running, need, "pod"), phrase.EitherOf(running, need, "is", "are"), because(failed))
	if mayStart := len(pending) - failed.stuck; failed.stuck > 0 && running+mayStart < need {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldTooFewPods, Reason: reason + "; correct the spec", Manual: true}}
	}
	return plan.Wait(plan.PodDelay, plan.HoldTooFewPods, reason)
}

// because appends why pods do not start, as far as that is known.
func because(f failures) string {
	if len(f.pods) == 0 {
		return ""
	}
	return ": " + readings.SomeOf(f.pods)
}

// podsOf returns groups with their pods.
func podsOf(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []podOf {
	var pods []podOf
	for _, g := range groups {
		pods = append(pods, podOf{group: g, pod: s.Pod(g)})
	}
	return pods
}

// firstCoordinators returns how many coordinators the first cluster file names. Under
// three_data_hall the desired nine are spread over data halls, which are unknown before the
// processes run: three start the database, and ChangeCoordinators changes to nine.
func firstCoordinators(c *v1beta2.FoundationDBCluster) int {
	if c.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeThreeDataHall {
		return 3
	}
	return c.DesiredCoordinators()
}

// firstCoordinatorRule puts each of the first coordinators in its own fault domain.
var firstCoordinatorRule = readings.SpreadRule{
	Fields: []string{fdb.LocalityZoneID},
	Max:    map[string]int{fdb.LocalityZoneID: 1},
}

// coordinatorPods returns the pods that are eligible for coordinators: the running and the
// pending ones.
func coordinatorPods(s plan.Snapshot) (running, pending []*v1beta2.ProcessGroupStatus) {
	for _, g := range s.Remaining() {
		pod := s.Pod(g)
		if _, eligible := s.Cluster.CoordinatorPriority(g.ProcessClass); !eligible || pod == nil || pod.DeletionTimestamp != nil {
			continue
		}
		switch pod.Status.Phase {
		case corev1.PodRunning:
			running = append(running, g)
		case corev1.PodPending:
			pending = append(pending, g)
		case corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown: // not eligible
		}
	}
	return running, pending
}

func youngest(now time.Time, groups []*v1beta2.ProcessGroupStatus) time.Duration {
	var age time.Duration
	for i, g := range groups {
		since, ok := g.Condition(v1beta2.ConditionMissingPod)
		if !ok {
			since, ok = g.Condition(v1beta2.ConditionPodPending)
		}
		if !ok {
			since = now
		}
		if a := now.Sub(since); i == 0 || a < age {
			age = a
		}
	}
	return age
}

// firstCandidates omits pods whose monitor or sidecar has not yet reported the variables that
// it substitutes: the zone is one of them.
func firstCandidates(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []readings.Candidate {
	var candidates []readings.Candidate
	for _, g := range groups {
		pod := s.Pod(g)
		variables := s.PodFiles[pod.Name].Variables
		zone, known := readings.ZoneOf(s.Cluster, variables)
		address, err := readings.FirstAddress(s.Cluster, g, pod)
		if !known || err != nil {
			continue
		}
		priority, _ := s.Cluster.CoordinatorPriority(g.ProcessClass)
		candidates = append(candidates, readings.Candidate{
			Group:      g.ProcessGroupID,
			Priority:   priority,
			Localities: map[string]string{fdb.LocalityZoneID: zone},
			Address:    address,
		})
	}
	return candidates
}

func connectionString(s plan.Snapshot, chosen []readings.Candidate) fdb.ConnectionString {
	partial := s.Cluster.Spec.PartialConnectionString
	c := fdb.ConnectionString{Description: partial.DatabaseName, ID: partial.GenerationID}
	if c.Description == "" {
		c.Description = s.Cluster.DatabaseName()
	}
	if c.ID == "" {
		c.ID = randomID(s.Seed)
	}
	for _, one := range chosen {
		c.Coordinators = append(c.Coordinators, one.Address)
	}
	stable.Sort(c.Coordinators, func(a, b fdb.Address) int { return strings.Compare(a.String(), b.String()) })
	return c
}

// generationIDLength is the length of the ID part of a connection string. Source: what
// FoundationDB itself writes when coordinators change.
const generationIDLength = 32

func randomID(seed uint64) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	random := rand.New(rand.NewPCG(seed, classSeed("connection string"))) // the ID is a name, not a secret
	id := make([]byte, generationIDLength)
	for i := range id {
		id[i] = letters[random.IntN(len(letters))]
	}
	return string(id)
}
