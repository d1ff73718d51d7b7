package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestCheckDeletion(t *testing.T) {
	asked := new(stagestest.NoonTime())
	held := func(s *plan.Snapshot) {
		s.Cluster.DeletionTimestamp, s.Cluster.Finalizers = asked, []string{"example.com/a", "example.com/b"}
	}
	namespace := func(s *plan.Snapshot) {
		s.Namespace.Object = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fdb", DeletionTimestamp: asked}}
	}
	stagestest.Decides(t, CheckDeletion, map[string]stagestest.Decision{
		"goes on with a cluster that stays":          {Given: func(*plan.Snapshot) {}},
		"goes on where the namespace is unknown":     {Given: func(s *plan.Snapshot) { s.Namespace.Hidden = "forbidden" }},
		"ends a pass over one that is being deleted": {Given: held, Holds: "held by finalizers example.com/a, example.com/b; all pods and PVCs go with it when it is removed", Manual: true, Then: plan.EndPass},
		"ends a pass in a namespace that is":         {Given: namespace, Holds: "Namespace fdb is being deleted since", Manual: true, Then: plan.EndPass},
		"goes on where a user overrides it": {Given: stagestest.Combined(held, func(s *plan.Snapshot) {
			s.Overrides = map[plan.Gate]string{plan.GateDeletion: "it is the only way"}
		})},
	})
}

func redundancy(mode v1beta2.RedundancyMode) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = mode }
}

// TestFaultDomainsRequiredByADistribution has one fault domain too few, and enough.
func TestFaultDomainsRequiredByADistribution(t *testing.T) {
	twoRegions := func(s *plan.Snapshot) {
		s.Cluster.Spec.DatabaseConfiguration.UsableRegions = 2
		s.Cluster.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{
			{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}}}, {Datacenters: []v1beta2.DataCenter{{ID: "dc2"}}},
		}
		s.Cluster.Spec.DataCenter = "dc1"
	}
	inHall := func(s *plan.Snapshot) { s.Cluster.Spec.DataHall = "hall1" }
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		need  int
		why   string
	}{
		"single":                   {redundancy(v1beta2.RedundancyModeSingle), 1, "1 coordinator, and single keeps data available in 1"},
		"double":                   {redundancy(v1beta2.RedundancyModeDouble), 3, "3 coordinators, and double keeps data available in 3"},
		"the default":              {redundancy(""), 3, "3 coordinators, and double keeps data available in 3"},
		"triple":                   {redundancy(v1beta2.RedundancyModeTriple), 5, "5 coordinators, and triple keeps data available in 5"},
		"one of two regions":       {stagestest.All(redundancy(v1beta2.RedundancyModeDouble), twoRegions), 5, "5 coordinators, and double keeps data available in 3"},
		"three data halls at once": {redundancy(v1beta2.RedundancyModeThreeDataHall), 9, "9 coordinators, and three_data_hall keeps data available in 5"},
		"one of three data halls":  {stagestest.All(redundancy(v1beta2.RedundancyModeThreeDataHall), inHall), 3, "3 coordinators, and three_data_hall keeps data available in 2"},
	} {
		t.Run(name, func(t *testing.T) {
			for domains := max(1, tc.need-1); domains <= tc.need; domains++ {
				s := stagestest.HealthyCluster(t)
				stagestest.All(tc.given, stagestest.Packing(stagestest.Packs(domains, v1beta2.BinPackClass)))(&s)
				d := CheckDistribution.Decide(s)
				if len(d.Checks) != 1 || d.Checks[0].ID != plan.CheckDistributionHolds || d.Checks[0].Gate != plan.GateConfig || !strings.HasSuffix(d.Checks[0].Evidence, tc.why) {
					t.Fatalf("%+v, want %q", d.Checks, tc.why)
				}
				if ok := domains >= tc.need; d.Checks[0].OK != ok || (d.Hold == nil) != ok {
					t.Errorf("%d fault domains: passed %t, held %q", domains, d.Checks[0].OK, stagestest.Reason(d))
				}
				if h := d.Hold; h != nil && (h.Code != plan.HoldDistributionRefused || !h.Manual || h.Then != plan.EndPass) {
					t.Errorf("held by %+v", h)
				}
			}
		})
	}
}

func TestWhichDistributionConfigChangesAreRefused(t *testing.T) {
	two, three := stagestest.Packs(2, v1beta2.BinPackClass), stagestest.Packs(3, v1beta2.BinPackClass)
	packed := func(config *v1beta2.DistributionConfig) func(testing.TB) plan.Snapshot {
		return func(tb testing.TB) plan.Snapshot { tb.Helper(); return stagestest.PackedCluster(tb, config, 1, 2, 3) }
	}
	overridden := func(gate plan.Gate) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Overrides = map[plan.Gate]string{gate: "a test cluster"} }
	}
	applied := func(s *plan.Snapshot) {
		s.Cluster.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"distributionConfig":{}}}`}
	}
	for name, tc := range map[string]struct {
		from     func(testing.TB) plan.Snapshot
		given    func(*plan.Snapshot)
		refused  bool
		evidence string
	}{
		"of a new cluster":                       {from: stagestest.EmptyCluster, given: stagestest.Packing(two), refused: true},
		"of pods without packing":                {from: stagestest.HealthyCluster, given: stagestest.Packing(two), refused: true},
		"of pods that are packed otherwise":      {from: packed(three), given: stagestest.Packing(two), refused: true},
		"of some that are":                       {from: packed(two), given: func(s *plan.Snapshot) { delete(s.Pod(s.Groups()[0]).Labels, v1beta2.LabelDistributionKey) }, refused: true},
		"not of pods that are packed so":         {from: packed(two), evidence: "the pods are packed so already"},
		"of an adopted pod":                      {from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { stagestest.Packing(two)(s); stagestest.Adopt(t, s, s.Groups()[0]) }, refused: true},
		"of groups without pods":                 {from: packed(two), given: func(s *plan.Snapshot) { s.Pods = nil }, refused: true},
		"not where a user overrides it":          {from: packed(three), given: stagestest.All(stagestest.Packing(two), overridden(plan.GateConfig)), evidence: "overridden: a test cluster"},
		"where a user overrides another gate":    {from: packed(three), given: stagestest.All(stagestest.Packing(two), overridden(plan.GateOperator)), refused: true},
		"not where it is disabled":               {from: packed(two), given: stagestest.Packing(nil)},
		"of packed pods, if it was dropped":      {from: packed(three), given: stagestest.All(stagestest.Packing(nil), applied), refused: true},
		"not of other pods, if it was dropped":   {from: stagestest.HealthyCluster, given: applied},
		"not of packed pods that are all marked": {from: packed(three), given: stagestest.All(stagestest.Packing(nil), applied, markAll)},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			if tc.given != nil {
				tc.given(&s)
			}
			d := CheckDistribution.Decide(s)
			if refused := d.Hold != nil; refused != tc.refused || (refused && (d.Hold.Then != plan.EndPass || !d.Hold.Manual)) {
				t.Errorf("held %q, want held %t", stagestest.Reason(d), tc.refused)
			}
			if tc.evidence != "" && (len(d.Checks) != 1 || !d.Checks[0].OK || !strings.HasSuffix(d.Checks[0].Evidence, tc.evidence)) {
				t.Errorf("%+v, want %q", d.Checks, tc.evidence)
			}
		})
	}
}

func markAll(s *plan.Snapshot) {
	for _, g := range s.Groups() {
		g.MarkForRemoval(stagestest.Noon)
	}
}

func TestTheFieldCheckRefusesFieldsDroppedByTheAPIServer(t *testing.T) {
	const kept, distribution, detection = v1beta2.ExtensionCancelReplacements, v1beta2.ExtensionDistributionConfig, v1beta2.ExtensionFailureDetectionCronJob
	applied := func(spec string) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":` + spec + `}`}
		}
	}
	listed := func(c *v1beta2.FoundationDBCluster) {
		c.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1"}
	}
	all := applied(`{"cancelReplacementsForInstance":["storage-1"],"distributionConfig":{},"automationOptions":{"replacements":{"failureDetectionCronJob":{}}}}`)
	tests := map[string]struct {
		given   func(*v1beta2.FoundationDBCluster)
		of      []v1beta2.Extension
		refused []v1beta2.Extension
		passed  []v1beta2.Extension
		then    plan.Then
	}{
		"none is used":                      {given: func(*v1beta2.FoundationDBCluster) {}},
		"all were dropped":                  {given: all, refused: []v1beta2.Extension{kept, distribution, detection}, then: plan.EndPass},
		"one arrived":                       {given: func(c *v1beta2.FoundationDBCluster) { all(c); listed(c) }, refused: []v1beta2.Extension{distribution, detection}, passed: []v1beta2.Extension{kept}},
		"one was dropped that does no harm": {given: applied(`{"distributionConfig":{}}`), refused: []v1beta2.Extension{distribution}},
		"only some count":                   {given: all, of: []v1beta2.Extension{distribution}, refused: []v1beta2.Extension{distribution}},
		"only the list counts":              {given: all, of: []v1beta2.Extension{kept}, refused: []v1beta2.Extension{kept}, then: plan.EndPass},
		"what arrived does not count":       {given: listed, of: []v1beta2.Extension{distribution}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(s.Cluster)
			d := CheckFields(tc.of...).Decide(s)
			var refused, passed []v1beta2.Extension
			for _, c := range d.Checks {
				if c.OK {
					passed = append(passed, v1beta2.Extension(c.Subject))
				} else {
					refused = append(refused, v1beta2.Extension(c.Subject))
				}
			}
			if diff := cmp.Diff([][]v1beta2.Extension{tc.refused, tc.passed}, [][]v1beta2.Extension{refused, passed}); diff != "" {
				t.Errorf("refused and passed (-want +got):\n%s", diff)
			}
			if len(tc.refused) == 0 {
				if d.Hold != nil {
					t.Errorf("holds with %q", d.Hold.Text())
				}
				return
			}
			if d.Hold == nil || d.Hold.Code != plan.HoldFieldsDropped || !d.Hold.Manual || d.Hold.Then != tc.then {
				t.Fatalf("got hold %+v", d.Hold)
			}
			for _, f := range tc.refused {
				if !strings.Contains(d.Hold.Reason, "the API server dropped "+string(f)) || !strings.Contains(d.Hold.Reason, f.Annotation()) {
					t.Errorf("%q does not name %s and its annotation", d.Hold.Reason, f)
				}
			}
		})
	}
}
