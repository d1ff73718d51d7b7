package trial

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// An invariant that cannot fail guards nothing. Each is broken here by a plugin that is
// wrong in one way, and no other invariant speaks up.
func TestEveryInvariantCanFail(t *testing.T) {
	tests := map[string]struct {
		breaks string
		given  func(*History)
		wrong  mutation
	}{
		"a plugin takes no Lease": {
			"nothing is done without the Lease", wants(5, 4), careful(func(c *careless) { c.noLease = true }),
		},
		"a plugin goes on beside another run": {
			"nothing is done once a gate or another run's Lease refused", func(h *History) {
				wants(5, 4)(h)
				h.w.LeaseHolder, h.leaseEnds = "another run", h.w.Now().Add(time.Hour)
			}, careful(func(c *careless) { c.deafToNo = true }),
		},
		"a plugin goes on beside an operator": {
			"nothing is done once a gate or another run's Lease refused", func(h *History) {
				wants(5, 4)(h)
				h.operator = true
			}, mutation{pass: func(_ *History, p *reconcile.Pass) { p.Gates = deafTo(p.Gates) }},
		},
		"a plugin goes on with a wrong clock": {
			"nothing is done by a clock that is wrong", func(h *History) {
				wants(5, 4)(h)
				h.w.Skew = 24 * time.Hour
			}, mutation{pass: func(_ *History, p *reconcile.Pass) { p.Gates = nil }},
		},
		"a plugin takes no lock": {
			"nothing that needs the lock is done without it", removed(isStorage), careful(func(c *careless) { c.noLock = true }),
		},
		"a plugin never looks twice": {
			"nothing is done on facts older than the Lease or the lock", wants(5, 4),
			mutation{pass: func(_ *History, p *reconcile.Pass) { p.Observer = &forgetful{Observer: p.Observer} }},
		},
		"a database is created again": {
			"no database is created over one that exists", nothing, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{plan.Configure{New: true, Configuration: objects.DesiredConfiguration(s.Cluster)}}
			}),
		},
		"a coordinator that leaves is excluded at once": {
			"no coordinator is excluded", removed(func(_ *v1beta2.ProcessGroupStatus, _ string) bool { return true }),
			rogue(func(h *History, s plan.Snapshot) []plan.Action {
				return exclusionOf(pick(s, func(g *v1beta2.ProcessGroupStatus, pod string) bool {
					return g.IsMarkedForRemoval() && h.coordinates(pod)
				})[0])
			}),
		},
		"pods are recreated one after the other from an image that cannot be pulled": {
			"one pod at most is taken down for a template that cannot start", func(h *History) {
				h.w.DeadImages, h.tried[h.w] = map[string]bool{deadImage: true}, map[string]bool{}
				h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
					s.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{BaseImage: deadImage}}
				})
			}, rogue(func(h *History, s plan.Snapshot) []plan.Action {
				a := plan.DeletePods{}
				for _, g := range pick(s, func(g *v1beta2.ProcessGroupStatus, pod string) bool {
					return g.ProcessClass == v1beta2.ProcessClassStateless && h.answers(pod)
				})[:2] {
					pod := s.Pod(g)
					a.Pods = append(a.Pods, plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID})
				}
				return []plan.Action{a}
			}),
		},
		"taints are recorded with the time of each pass": {
			"passes do not record the same continuously", nothing, rogue(func(h *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{plan.RecordTaints{Pod: s.Pod(pick(s, isStorage)[0]).Name, Seen: map[string]int64{"example.com/drain": h.w.Now().Unix()}}}
			}),
		},
		"a view takes no notice of ratekeeper": {
			"no cluster is called healthy whose database starts no transactions", func(h *History) {
				fault("all disks are full", locked.Faults{FullDisks: true})(h, nil)
			}, mutation{view: func(f *inspect.Facts) {
				f.Database.Status.Cluster.QoS = &fdb.QoS{TransactionsPerSecondLimit: new(100.0), PerformanceLimitedBy: &fdb.Limit{Name: fdb.LimitWorkload}}
			}},
		},
		"a group that stays is excluded": {
			"only what leaves is excluded", nothing, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return exclusionOf(pick(s, isStateless)[0])
			}),
		},
		"all groups that leave are excluded at once": {
			"no live process is excluded without its replacement", removed(isStateless), rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return exclusionOf(pick(s, isStateless)...)
			}),
		},
		"the volumes of all groups to remove without exclusion go at once": {
			"no data has fewer replicas than promised because of us", func(h *History) {
				h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupsToRemoveWithoutExclusion = h.ids(isStorage) })
			}, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				var actions []plan.Action
				for _, g := range pick(s, isStorage) {
					actions = append(actions, plan.DeleteGroupObjects{Group: g.ProcessGroupID, Claim: g.PVCName(s.Cluster)})
				}
				return actions
			}),
		},
		"a group that leaves is deleted before it is drained": {
			"nothing is deleted for good that the database needs", removed(isStorage),
			rogue(func(h *History, s plan.Snapshot) []plan.Action {
				return deletionOf(s, pick(s, func(g *v1beta2.ProcessGroupStatus, pod string) bool {
					return g.IsMarkedForRemoval() && h.needs(pod) && !h.coordinates(pod)
				})[:1])
			}),
		},
		"a coordinator is deleted": {
			"no coordinator is deleted", func(h *History) {
				h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupsToRemoveWithoutExclusion = h.ids(isStateful) })
			}, rogue(func(h *History, s plan.Snapshot) []plan.Action {
				return deletionOf(s, pick(s, func(_ *v1beta2.ProcessGroupStatus, pod string) bool { return h.coordinates(pod) })[:1])
			}),
		},
		"the pods of two zones are made again at once": {
			"one zone is down by our hand at most, and only when all others are complete", nothing,
			rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{renewalOf(s, pick(s, isStorage)[:2])}
			}),
		},
		"a pod is made again while another is down": {
			"one zone is down by our hand at most, and only when all others are complete", func(h *History) {
				h.w.KillPod(pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStorage)[0].PodName(h.w.Resource))
			}, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{renewalOf(s, pick(s, isStorage)[:1])}
			}),
		},
		"a group is marked again in every pass": {
			"nothing is marked for removal that is marked", removed(isStorage), rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				marked := pick(s, func(g *v1beta2.ProcessGroupStatus, _ string) bool { return g.IsMarkedForRemoval() })
				return []plan.Action{plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{marked[0].ProcessGroupID}, At: s.Now}}
			}),
		},
		"a group is marked whose successor is refused": {
			"nothing is marked for removal whose successor the API server refuses", func(h *History) { h.refuseClass(v1beta2.ProcessClassStorage, plan.RefusedByQuota) },
			rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{pick(s, isStorage)[0].ProcessGroupID}, At: s.Now}}
			}),
		},
		"the pods of two buckets on one node are made again at once": {
			"of each class one bucket is down by our hand at most", (*History).twoOnOneNode, rogue((*History).bothBuckets),
		},
		"a distribution key is patched": {
			"no pod that stays gets another distribution key", packing, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				pod := s.Pod(pick(s, isStorage)[0])
				return []plan.Action{plan.PatchMetadata{Kind: plan.KindPod, Name: pod.Name, Labels: map[string]string{v1beta2.LabelDistributionKey: "mine"}}}
			}),
		},
		"numbers are drawn without regard to buckets, and nothing evens them": {
			"a converged cluster is packed as its spec packs it", packing, mutation{stages: unevenly},
		},
		"a budget is opened by two": {
			"a disruption budget never allows two evictions", protected, rogue(func(h *History, s plan.Snapshot) []plan.Action {
				name := objects.DisruptionBudgetName(s.Cluster)
				budget := objects.DisruptionBudget(s.Cluster, 0)
				covered, err := SelectedPods(h.w, budget)
				if err != nil {
					panic(err)
				}
				budget.Spec.MinAvailable.IntVal = int32(covered - 2)
				return []plan.Action{plan.ApplyDisruptionBudget{Name: name, Object: budget}}
			}),
		},
		"no budget is kept": {
			"a converged cluster has a disruption budget if it requests one", protected, without("UpdateDisruptionBudget"),
		},
		"a pod is made again right after another server started": {
			"nothing that keeps data goes down by our hand within 90 s after another process that keeps data started", restartedAMomentAgo,
			rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{renewalOf(s, pick(s, isStorage)[:1])}
			}),
		},
		"a wave restarts right after another server started": {
			"nothing that keeps data goes down by our hand within 90 s after another process that keeps data started", restartedAMomentAgo,
			rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				g := pick(s, isStorage)[0]
				return []plan.Action{plan.RestartProcesses{Groups: []v1beta2.ProcessGroupID{g.ProcessGroupID}, Wave: true}}
			}),
		},
		"a server starts with a cluster file of its own": {"there is never a second database", (*History).strayServer, mutation{}},
		"volumes are lost on the way out":                {"no data is lost", wants(5, 4), careful(func(c *careless) { c.loseAll = true })},
		"a pass cannot release what it took": {
			"a pass runs to its end", wants(5, 4), mutation{pass: func(_ *History, p *reconcile.Pass) { p.Actor = keeper{p.Actor} }},
		},
		"a group is excluded right after a recovery": {
			"nothing is excluded within 2 minutes after a recovery, or included within 10", func(h *History) {
				removed(isStateless)(h)
				h.database().Recover()
				h.w.Tick(30 * time.Second)
			}, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				marked := pick(s, func(g *v1beta2.ProcessGroupStatus, _ string) bool {
					return g.IsMarkedForRemoval() && isStateless(g, "")
				})
				return exclusionOf(marked[0])
			}),
		},
		"a group is excluded by a clock that is 20 minutes ahead": {
			"nothing is excluded beside a process of its class that ended a moment ago and may report again", (*History).oneMarkedOneDead,
			mutation{stages: ahead(plan.StageExcludeInstances, 20*time.Minute)},
		},
		"a service is created without its owner": {
			"every object that is created is owned by its cluster", nothing, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: s.Cluster.Name + "-stray", Namespace: s.Cluster.Namespace}}
				return []plan.Action{plan.ApplyService{Name: service.Name, Object: service, Verb: plan.CreateService}}
			}),
		},
		"a pod is recreated that no node takes": {
			"what goes down by our hand answers again within 5 minutes and 3 passes without troubles", nothing,
			rogue(func(h *History, s plan.Snapshot) []plan.Action {
				if !h.calm || len(h.departed) > 0 {
					return nil
				}
				g := pick(s, isStateless)[0]
				h.w.Unschedulable = map[string]bool{g.PodName(s.Cluster): true}
				return []plan.Action{renewalOf(s, []*v1beta2.ProcessGroupStatus{g})}
			}),
		},
		"each pass writes something while a node is lost": {
			"while something is wrong, passes end reconciled, wait with a reason, or name what a user has to do, within 80 passes", func(h *History) {
				h.loseNode(0)
				h.endure(context.Background())
			}, rogue(func(h *History, s plan.Snapshot) []plan.Action {
				pod := s.Pod(pick(s, isStorage)[0])
				return []plan.Action{plan.PatchMetadata{Kind: plan.KindPod, Name: pod.Name, Annotations: map[string]string{"example.com/pass": strconv.Itoa(h.passes)}}}
			}),
		},
		"groups get no pods": {"a history converges once troubles end", wants(5, 6), without("AddPods")},
		"a group is included whose PVC is being deleted": {
			"nothing is included while its pod or PVC is being deleted", func(h *History) {
				g := h.excludeOne(isStorage)
				h.w.Tick(11 * time.Minute)
				h.edit(Keep(g.ProcessGroupID))
				h.w.DeleteClaim(g.PVCName(h.w.Resource))
			}, rogue(func(_ *History, s plan.Snapshot) []plan.Action { return inclusionOf(pick(s, isStorage)[0]) }),
		},
		"a pod is made again whose PVC is being deleted": {
			"no pod goes down by our hand whose volume ends with it and is needed", func(h *History) {
				for _, g := range pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStorage) {
					h.w.DeleteClaim(g.PVCName(h.w.Resource))
				}
			}, rogue(func(_ *History, s plan.Snapshot) []plan.Action {
				return []plan.Action{renewalOf(s, pick(s, isStorage)[:1])}
			}),
		},
		"a class shrinks without regard to the list": {
			"nothing marks a process group that the spec keeps", func(h *History) {
				kept := h.ids(isStateless)
				h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Stateless = len(kept) - 1 })
				h.edit(Keep(kept...))
			}, ignoringTheList("ChooseRemovals"),
		},
		"a list of removals is carried out without regard to the list": {
			"nothing marks a process group that the spec keeps", func(h *History) {
				removed(isStateless)(h)
				h.edit(Keep(h.ids(isStateless)...))
			}, ignoringTheList("UpdateStatus"),
		},
		"the exclusion of a group that is not listed ends": {
			"only exclusions of process groups that the spec keeps end before a removal", func(h *History) {
				h.excludeOne(isStorage)
				h.w.Tick(11 * time.Minute)
			},
			rogue(func(h *History, s plan.Snapshot) []plan.Action {
				if len(h.database().Excluded()) == 0 {
					return nil
				}
				return inclusionOf(pick(s, isStorage)[0])
			}),
		},
		"what is listed stays marked": {
			"what the spec keeps stays, and is not excluded, within 60 passes without troubles", func(h *History) {
				g := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStorage)[0]
				g.MarkForRemoval(h.w.Now())
				h.edit(Keep(g.ProcessGroupID))
			}, without("CancelReplacements"),
		},
		"what is listed stays excluded": {
			"what the spec keeps stays, and is not excluded, within 60 passes without troubles", func(h *History) {
				h.edit(Keep(h.excludeOne(isStorage).ProcessGroupID))
			}, without("CancelReplacements"),
		},
		"the replacements of what is listed stay": {
			"no class ends with more process groups than are desired or kept", func(h *History) {
				kept := h.ids(isStateless)
				for _, id := range kept {
					h.w.Resource.ProcessGroup(id).MarkForRemoval(h.w.Now())
				}
				h.pass(context.Background()) // adds the replacements
				h.edit(Keep(kept...))
			}, without("ChooseRemovals"),
		},
		"a class does not shrink": {"the counts end as desired", func(h *History) {
			h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Stateless-- })
		}, without("ChooseRemovals")},
		"a stage writes now and then": {
			"a converged cluster gets no writes", nothing, rogue(func(h *History, s plan.Snapshot) []plan.Action {
				if !h.settling {
					return nil
				}
				pod := s.Pod(pick(s, isStorage)[0])
				return []plan.Action{plan.PatchMetadata{Kind: plan.KindPod, Name: pod.Name, Annotations: map[string]string{"example.com/seen": "now"}}}
			}),
		},
	}
	proven := map[string]bool{}
	for name, tc := range tests {
		proven[tc.breaks] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := life{seed: 2, steps: []step{{problem: problem{happen: func(h *History, _ *rand.Rand) {
				h.w.Tick(2 * time.Minute) // no server is young
				tc.given(h)
			}}, wait: time.Minute}}}
			var story bytes.Buffer
			var broken []string
			for _, v := range l.play(t, tc.wrong, &story) {
				broken = append(broken, v.Sentence)
			}
			if diff := cmp.Diff([]string{tc.breaks}, broken); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%s", diff, story.String())
			}
		})
	}
	for _, i := range invariants {
		if !proven[i.sentence] {
			t.Errorf("nothing here breaks: %s", i.sentence)
		}
	}
}

func nothing(*History) {}

// protected requests a disruption budget.
func protected(h *History) {
	h.w.Resource.Annotations = map[string]string{plan.AnnotationDisruptionBudgets: "true"}
}

// restartedAMomentAgo has the servers of the last storage pod restart, with their data.
func restartedAMomentAgo(h *History) {
	storage := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStorage)
	h.w.KillServers(storage[len(storage)-1].PodName(h.w.Resource))
	h.w.Tick(10 * time.Second)
}

// wants changes the spec's counts.
func wants(storage, log int) func(*History) {
	return func(h *History) {
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Storage, s.ProcessCounts.Log = storage, log })
	}
}

// removed asks for all groups to be removed that a question is true of.
func removed(is func(*v1beta2.ProcessGroupStatus, string) bool) func(*History) {
	return func(h *History) {
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupsToRemove = h.ids(is) })
	}
}

// ids are the IDs of the groups that a question is true of.
func (h *History) ids(is func(*v1beta2.ProcessGroupStatus, string) bool) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, g := range pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, is) {
		ids = append(ids, g.ProcessGroupID)
	}
	return ids
}

func isStateless(g *v1beta2.ProcessGroupStatus, _ string) bool {
	return g.ProcessClass == v1beta2.ProcessClassStateless
}

func isStateful(g *v1beta2.ProcessGroupStatus, _ string) bool { return g.ProcessClass.IsStateful() }

// excludeOne lets a user exclude the first group that a question is true of.
func (h *History) excludeOne(is func(*v1beta2.ProcessGroupStatus, string) bool) *v1beta2.ProcessGroupStatus {
	g := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, is)[0]
	h.typed("exclude no_wait " + g.ExclusionString())
	return g
}

func inclusionOf(g *v1beta2.ProcessGroupStatus) []plan.Action {
	return []plan.Action{plan.Include{Groups: []v1beta2.ProcessGroupID{g.ProcessGroupID}, Targets: []string{g.ExclusionString()}}}
}

// deletionOf deletes the pods of groups and leaves their volumes.
func deletionOf(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Action {
	var actions []plan.Action
	for _, g := range groups {
		actions = append(actions, plan.DeleteGroupObjects{Group: g.ProcessGroupID, Pod: g.PodName(s.Cluster)})
	}
	return actions
}

// renewalOf deletes pods at once that are made again under their names.
func renewalOf(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Action {
	a := plan.DeletePods{}
	for _, g := range groups {
		a.Pods = append(a.Pods, plan.PodOfGroup{Group: g.ProcessGroupID, Name: g.PodName(s.Cluster)})
	}
	return a
}
