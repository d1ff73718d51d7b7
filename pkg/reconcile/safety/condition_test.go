package safety

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// otherPod is a pod of another database product, whose rules are known from its
// documentation: what one can ask about it.
type otherPod struct {
	drained, masterOfNoShard, mastersHaveFollowers bool
	leader, leaderResponds, followerResponds       bool
	oldPodDeleted, followsDeployment               bool
}

func whether(name string, ask func(otherPod) bool) Condition[otherPod] {
	return When(name, func(p otherPod) plan.Check {
		ok := ask(p)
		return plan.Check{Question: name + "?", OK: ok, Evidence: fmt.Sprintf("%s: %t", name, ok)}
	})
}

// otherRule is a row of that product's table.
type otherRule struct {
	evict, replace Condition[otherPod]
}

// otherProduct is its table of pod eviction and replacement, in our form.
func otherProduct() map[string]otherRule {
	drained := whether("completely drained", func(p otherPod) bool { return p.drained })
	noShard := whether("master of no shard", func(p otherPod) bool { return p.masterOfNoShard })
	inSync := whether("every shard it is master of has a follower in sync", func(p otherPod) bool { return p.mastersHaveFollowers })
	noLeader := whether("not the leader of the agency", func(p otherPod) bool { return !p.leader })
	leader := whether("some leader responds", func(p otherPod) bool { return p.leaderResponds })
	follower := whether("a follower responds", func(p otherPod) bool { return p.followerResponds })
	deleted := whether("the old pod is known to be deleted", func(p otherPod) bool { return p.oldPodDeleted })
	follows := whether("a follower of the deployment", func(p otherPod) bool { return p.followsDeployment })
	always, never := Always[otherPod]("it has no state"), Never[otherPod]("its data has one copy")
	return map[string]otherRule{
		"image id":                 {always, always},
		"coordinator":              {always, always},
		"DB server":                {AllOf(drained, noShard), AnyOf(noShard, inSync)},
		"agent":                    {AllOf(noLeader, leader, follower), deleted},
		"single server":            {never, never},
		"single active failover":   {follows, always},
		"synchronization master":   {always, always},
		"synchronization worker":   {always, always},
		"a kind that has no rules": {},
	}
}

// The form can say what another product's rules say: every bullet of its table holds and
// is refused.
func TestConditionsExpressTheEvictionRulesOfAnotherProduct(t *testing.T) {
	rules := otherProduct()
	tests := map[string]struct {
		kind           string
		given          otherPod
		evict, replace bool
	}{
		"an image id goes whenever":                             {"image id", otherPod{}, true, true},
		"a coordinator goes whenever":                           {"coordinator", otherPod{}, true, true},
		"a DB server goes when drained and master of nothing":   {"DB server", otherPod{drained: true, masterOfNoShard: true}, true, true},
		"a drained DB server that is a master stays":            {"DB server", otherPod{drained: true}, false, false},
		"a DB server that is master of nothing is replaceable":  {"DB server", otherPod{masterOfNoShard: true}, false, true},
		"so is one whose shards all have followers in sync":     {"DB server", otherPod{mastersHaveFollowers: true}, false, true},
		"a DB server of which nothing is known stays":           {"DB server", otherPod{}, false, false},
		"an agent goes when it leads no other and both respond": {"agent", otherPod{leaderResponds: true, followerResponds: true}, true, false},
		"an agent that leads stays":                             {"agent", otherPod{leader: true, leaderResponds: true, followerResponds: true}, false, false},
		"an agent stays while no leader responds":               {"agent", otherPod{followerResponds: true}, false, false},
		"an agent stays while no follower responds":             {"agent", otherPod{leaderResponds: true}, false, false},
		"an agent is replaced once its old pod is deleted":      {"agent", otherPod{leader: true, oldPodDeleted: true}, false, true},
		"a single server never goes":                            {"single server", otherPod{drained: true, oldPodDeleted: true}, false, false},
		"a single that follows goes":                            {"single active failover", otherPod{followsDeployment: true}, true, true},
		"a single that leads stays and can be replaced":         {"single active failover", otherPod{}, false, true},
		"a synchronization master goes whenever":                {"synchronization master", otherPod{}, true, true},
		"a synchronization worker goes whenever":                {"synchronization worker", otherPod{}, true, true},
		"without rules nothing goes":                            {"a kind that has no rules", otherPod{}, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rule := rules[tc.kind]
			evict, replace := rule.evict.Ask(tc.given), rule.replace.Ask(tc.given)
			if Met(evict) != tc.evict || Met(replace) != tc.replace {
				t.Errorf("evict %+v, replace %+v, want %t and %t", evict, replace, tc.evict, tc.replace)
			}
		})
	}
}

func TestSafetyConditionsAreRenderedAsText(t *testing.T) {
	rules := otherProduct()
	for got, want := range map[string]string{
		rules["DB server"].evict.String():                             "completely drained and master of no shard",
		rules["DB server"].replace.String():                           "master of no shard or every shard it is master of has a follower in sync",
		rules["single server"].evict.String():                         "never",
		rules["a kind that has no rules"].evict.String():              "never",
		AnyOf(rules["image id"].evict, rules["agent"].evict).String(): "always or (not the leader of the agency and some leader responds and a follower responds)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAFailedAnyOfReportsTheEvidenceOfEachCondition(t *testing.T) {
	got := otherProduct()["DB server"].replace.Ask(otherPod{})
	want := []plan.Check{{
		ID:       plan.CheckAnyOf,
		Question: "is this true: master of no shard, or every shard it is master of has a follower in sync?",
		Evidence: "master of no shard: false; and every shard it is master of has a follower in sync: false",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyListOfChecksDoesNotPass(t *testing.T) {
	if Met(nil) {
		t.Error("an empty list of checks was taken for a yes")
	}
}

// disruptionRefusals break one thing each, so that one question and no other refuses.
var disruptionRefusals = map[string]struct {
	given  func(*plan.Snapshot)
	refuse plan.CheckID
}{
	"an old status document": {later, plan.CheckStatusRecent},
	"a single copy":          {func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.LogReplicas = 1 }, plan.CheckToleratesLoss},
	"a replica is missing": {func(s *plan.Snapshot) {
		s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
	}, plan.CheckFaultTolerant},
	"a pod is missing":           {func(s *plan.Snapshot) { delete(s.Pods, "sample-storage-3") }, plan.CheckOtherDomainsUp},
	"a process has just started": {edit("storage-3", func(p *fdb.Process) { p.UptimeSeconds = new(20.0) }), plan.CheckOthersUpLong},
	"a zone is under maintenance": {func(s *plan.Snapshot) {
		s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "z3", new(60.0)
	}, plan.CheckNoOtherMaintenance},
}

func TestDisruptionIsAllowedOnlyIfTheDatabaseCanLoseAnyPod(t *testing.T) {
	if checks := MayLoseAnyPod(leavable(t)); !Met(checks) {
		t.Fatalf("a healthy database keeps its pods: %+v", checks)
	}
	for name, tc := range disruptionRefusals {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			var refused []plan.CheckID
			for _, c := range MayLoseAnyPod(s) {
				if !c.OK {
					refused = append(refused, c.ID)
				}
				if c.Question == "" || c.Evidence == "" {
					t.Errorf("a check without words: %+v", c)
				}
			}
			if len(refused) != 1 || refused[0] != tc.refuse {
				t.Errorf("refused by %v, want %s", refused, tc.refuse)
			}
		})
	}
}

func TestNoDisruptionIsAllowedWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	s := leavable(t)
	s.Database = plan.DatabaseFacts{Unreachable: "timed out", AsOf: evening}
	if Met(MayLoseAnyPod(s)) || NeverDisruptable(s) {
		t.Error("an unknown state is one that can lose a pod, or one that never ends")
	}
	s.Cluster.Status.Configured, s.Database = false, plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	if !Met(MayLoseAnyPod(s)) {
		t.Error("pods without a database hold something")
	}
	s = leavable(t)
	single(&s)
	if Met(MayLoseAnyPod(s)) || !NeverDisruptable(s) {
		t.Error("the only copy of data may go")
	}
}

func TestAgentsMayAlwaysBeEvictedAndTolerateALostNodeForAMinute(t *testing.T) {
	if !Met(MayEvictAgent()) {
		t.Errorf("%+v", MayEvictAgent())
	}
	for _, toleration := range TolerationsForAgents() {
		if got := time.Duration(*toleration.TolerationSeconds) * time.Second; got != time.Minute {
			t.Errorf("%s: %s", toleration.Key, got)
		}
	}
}
