package stages

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/detection"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/evictions"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// own is a stage of the test, as a command adds one.
var own = plan.Stage{Name: "Own", Decide: func(plan.Snapshot) plan.Decision { return plan.Decision{} }}

// TestEachCommandRunsItsStagesInOrder compares names: commands run parts of a pass, in its order.
func TestEachCommandRunsItsStagesInOrder(t *testing.T) {
	groups := []v1beta2.ProcessGroupID{"storage-101"}
	replacement := []plan.Stage{
		cluster.UpdateConfigMap, cluster.AddProcessGroups, evictions.UpdateDisruptionBudget, cluster.AddServices, cluster.AddPVCs, cluster.AddPods, cluster.UpdatePodConfig, cluster.UpdateLabels, evictions.UpdateTolerations,
		cluster.ExcludeInstances, cluster.ChangeCoordinators,
	}
	removal := []plan.Stage{cluster.RemoveServices, cluster.RemovePods, status.UpdateStatus, evictions.UpdateDisruptionBudget}
	for name, tc := range map[string]struct{ got, want []plan.Stage }{
		"a replacement":              {Replacing(own), join([]plan.Stage{status.UpdateStatus, cluster.CheckFields(), cluster.CheckDistribution, own}, replacement, removal)},
		"a replacement without more": {Replacing(), join([]plan.Stage{status.UpdateStatus, cluster.CheckFields(), cluster.CheckDistribution}, replacement, removal)},
		"a drain": {Draining([]string{"node-1"}, 1), join(
			[]plan.Stage{status.UpdateStatus, cluster.CheckFields(), cluster.CheckDistribution, operations.CordonNodes(nil, nil), operations.ReplaceOn(nil, 1)}, replacement, []plan.Stage{operations.EvictFrom(nil), operations.EvictAgents(nil)}, removal,
		)},
		"marks":                  {Marking(own), []plan.Stage{status.UpdateStatus, own}},
		"marks for removal":      {MarkingForRemoval(own), []plan.Stage{status.UpdateStatus, cluster.CheckFields(), cluster.CheckDistribution, own}},
		"marks reverted":         {Keeping(groups), []plan.Stage{status.UpdateStatus, operations.KeepGroups(groups), status.UpdateStatus}},
		"exclusions reverted":    {KeepingExcluded(groups), []plan.Stage{status.UpdateStatus, operations.KeepAndInclude(groups), status.UpdateStatus}},
		"an exclusion":           {Excluding(groups), []plan.Stage{status.UpdateStatus, operations.MoveCoordinatorsOff(groups), operations.ExcludeGroups(groups), status.UpdateStatus}},
		"an inclusion":           {Including(operations.Inclusion{Groups: groups}), []plan.Stage{status.UpdateStatus, operations.IncludeTargets(operations.Inclusion{}), status.UpdateStatus}},
		"a failure detector":     {Detecting(), []plan.Stage{status.UpdateStatus, detection.DetectFailures}},
		"one beside an operator": {DetectingBesideOperator(), []plan.Stage{detection.DetectFailures}},
		"failed, on demand":      {[]plan.Stage{ReplaceFailed()}, []plan.Stage{replacements.ReplaceFailedPods}},
	} {
		t.Run(name, func(t *testing.T) {
			if len(tc.got) != len(tc.want) {
				t.Fatalf("%d stages, want %d", len(tc.got), len(tc.want))
			}
			for i := range tc.want {
				if tc.got[i].Name != tc.want[i].Name {
					t.Errorf("stage %d is %s, want %s", i+1, tc.got[i].Name, tc.want[i].Name)
				}
			}
		})
	}
}

func join(parts ...[]plan.Stage) (all []plan.Stage) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// TestExcludeAndIncludeActOnlyOnTheirGroups compares the actions of the stages of an exclusion and of an
// inclusion, for one of five storage groups.
func TestExcludeAndIncludeActOnlyOnTheirGroups(t *testing.T) {
	s := stagestest.HealthyClusterOf(t, 5)
	g := s.Groups()[len(s.Groups())-2]
	groups := []v1beta2.ProcessGroupID{g.ProcessGroupID}
	want := []plan.Action{plan.Exclude{Groups: groups, Targets: []string{g.ExclusionString()}}}
	d := Excluding(groups)[2].Decide(s)
	if diff := cmp.Diff(want, d.Actions); diff != "" {
		t.Errorf("held: %q, actions (-want +got):\n%s", stagestest.Reason(d), diff)
	}
	stagestest.Excluding(g.ExclusionString(), g.ProcessGroupID)(&s)
	s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{g.ExclusionString()}
	if d := Including(operations.Inclusion{Groups: groups})[1].Decide(s); len(d.Actions) != 1 {
		t.Errorf("%v, held: %q", stagestest.Described(d), stagestest.Reason(d))
	}
}

// TestFaultDomainsAreReadFromPodsThenFromTheStatus checks whether groups go down together.
func TestFaultDomainsAreReadFromPodsThenFromTheStatus(t *testing.T) {
	ofPod := func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, zone string) {
		s.PodFiles[g.PodName(s.Cluster)].Variables[v1beta2.EnvZoneID] = zone
	}
	forget := func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { delete(s.PodFiles, g.PodName(s.Cluster)) }
	for name, tc := range map[string]struct {
		given func(s *plan.Snapshot, a, b *v1beta2.ProcessGroupStatus)
		ok    bool
		have  string
	}{
		"two fault domains": {func(*plan.Snapshot, *v1beta2.ProcessGroupStatus, *v1beta2.ProcessGroupStatus) {}, false, "2"},
		"one, by their pods": {func(s *plan.Snapshot, a, b *v1beta2.ProcessGroupStatus) {
			ofPod(s, a, "z")
			ofPod(s, b, "z")
		}, true, "1"},
		"one by the record, two by their pods": {func(_ *plan.Snapshot, a, b *v1beta2.ProcessGroupStatus) { b.FaultDomain = a.FaultDomain }, false, "2"},
		"one by the record, for want of pods": {func(s *plan.Snapshot, a, b *v1beta2.ProcessGroupStatus) {
			forget(s, a)
			forget(s, b)
			b.FaultDomain = a.FaultDomain
		}, true, "1"},
		"two by the record, for want of pods": {func(s *plan.Snapshot, a, b *v1beta2.ProcessGroupStatus) {
			forget(s, a)
			forget(s, b)
		}, false, "2"},
		"one is unknown": {func(s *plan.Snapshot, a, b *v1beta2.ProcessGroupStatus) {
			forget(s, b)
			b.FaultDomain = ""
		}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			a, b := s.Groups()[0], s.Groups()[1]
			tc.given(&s, a, b)
			for _, groups := range [][]*v1beta2.ProcessGroupStatus{{a, b}, {b, a}} {
				if c := cluster.InOneFaultDomain(s, groups); c.OK != tc.ok || c.Have != tc.have || c.Gate != plan.GateReplicas || c.Evidence == "" {
					t.Errorf("%+v, want %t with %q", c, tc.ok, tc.have)
				}
			}
		})
	}
	if c := cluster.InOneFaultDomain(stagestest.HealthyCluster(t), nil); c.OK {
		t.Errorf("no pods at all: %+v", c)
	}
}

// TestPauseSetsSkipOnceAndUpdatesItsEndOrReason pauses a cluster that is paused already, or not.
func TestPauseSetsSkipOnceAndUpdatesItsEndOrReason(t *testing.T) {
	set := func(p plan.Pause) []plan.Action {
		return []plan.Action{plan.SetSkip{Cluster: "sample", Skip: true, Pause: p}}
	}
	for name, tc := range map[string]struct {
		paused bool
		long   time.Duration
		reason string
		want   []plan.Action
	}{
		"without an end":                    {want: set(plan.Pause{By: "ann", At: stagestest.Noon})},
		"for an hour":                       {long: time.Hour, want: set(plan.Pause{By: "ann", At: stagestest.Noon, Until: stagestest.Noon.Add(time.Hour)})},
		"for a reason":                      {reason: "repair", want: set(plan.Pause{By: "ann", At: stagestest.Noon, Reason: "repair"})},
		"again":                             {paused: true},
		"again, for an hour":                {paused: true, long: time.Hour, want: set(plan.Pause{By: "ann", At: stagestest.Noon, Until: stagestest.Noon.Add(time.Hour)})},
		"again, for a nanosecond":           {paused: true, long: 1, want: set(plan.Pause{By: "ann", At: stagestest.Noon, Until: stagestest.Noon.Add(1)})},
		"again, for a reason":               {paused: true, reason: "repair", want: set(plan.Pause{By: "ann", At: stagestest.Noon, Reason: "repair"})},
		"again, for an hour and for reason": {paused: true, long: time.Hour, reason: "r", want: set(plan.Pause{By: "ann", At: stagestest.Noon, Until: stagestest.Noon.Add(time.Hour), Reason: "r"})},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.EmptyCluster(t)
			if tc.paused {
				s.Cluster.Spec.Skip = true
			}
			d := operations.PauseOperators("ann", tc.long, tc.reason).Decide(s)
			if diff := cmp.Diff(tc.want, d.Actions); diff != "" || d.Hold != nil {
				t.Errorf("held %q, actions (-want +got):\n%s", stagestest.Reason(d), diff)
			}
		})
	}
}

func TestResumeOperatorsUnsetsSkip(t *testing.T) {
	s := stagestest.EmptyCluster(t)
	if d := operations.ResumeOperators.Decide(s); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("%v of a cluster without a pause", stagestest.Described(d))
	}
	s.Cluster.Spec.Skip = true
	want := []plan.Action{plan.SetSkip{Cluster: "sample"}}
	if diff := cmp.Diff(want, operations.ResumeOperators.Decide(s).Actions); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
