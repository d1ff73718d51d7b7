package safety

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestExclusionsWaitFiveMinutesForAMissingProcess asks at the limit and a second before,
// for a process group that has reported and for one that never has.
func TestExclusionsWaitFiveMinutesForAMissingProcess(t *testing.T) {
	for _, zone := range []v1beta2.FaultDomain{"", "z3"} {
		for age, want := range map[time.Duration]int{5*time.Minute - time.Second: 0, 5 * time.Minute: 1} {
			s := draining(t)
			s.Groups()[2].FaultDomain = zone
			s.Groups()[2].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-age))
			if budget, c := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); budget != want {
				t.Errorf("fault domain %q, missing for %s: budget %d (%s), want %d", zone, age, budget, c.Evidence, want)
			}
		}
	}
}

// TestAnUndesiredClassHasAnExclusionBudget counts a process group of a class that is not desired.
func TestAnUndesiredClassHasAnExclusionBudget(t *testing.T) {
	for _, count := range []int{0, -1} {
		s := leavable(t)
		s.Cluster.Spec.ProcessCounts.Test = count
		if budget, c := ExclusionBudget(s, v1beta2.ProcessClassTest, 0); budget != 2 {
			t.Errorf("count %d: budget %d (%s), want 1 process group and 1 tolerated", count, budget, c.Evidence)
		}
	}
}

// TestMissingSinceUsesTheLaterOfPodAndProcessConditions gives a process group both conditions in either order.
func TestMissingSinceUsesTheLaterOfPodAndProcessConditions(t *testing.T) {
	const pod, processes = v1beta2.ConditionMissingPod, v1beta2.ConditionMissingProcesses
	for name, given := range map[string]map[v1beta2.ProcessGroupConditionType]time.Duration{
		"the pod last":       {pod: time.Minute, processes: time.Hour},
		"the processes last": {pod: time.Hour, processes: time.Minute},
		"only the pod":       {pod: time.Minute},
		"only the processes": {processes: time.Minute},
	} {
		g := &v1beta2.ProcessGroupStatus{}
		for condition, age := range given {
			g.SetCondition(condition, evening.Add(-age))
		}
		if since, missing := missingSince(g); !missing || !since.Equal(evening.Add(-time.Minute)) {
			t.Errorf("%s: since %s, %t", name, since, missing)
		}
	}
}

// TestChecksPassOnlyAfterProcessesAreMissingFor90Seconds asks at the limit and a second before.
func TestChecksPassOnlyAfterProcessesAreMissingFor90Seconds(t *testing.T) {
	for age, want := range map[time.Duration]bool{90*time.Second - time.Second: false, 90 * time.Second: true} {
		s := draining(t)
		unresponsive(&s, age)
		if c := Drained(s, s.Groups()[0]); c.OK != want {
			t.Errorf("silent for %s: drained %t (%s), want %t", age, c.OK, c.Evidence, want)
		}
		s = draining(t)
		delete(s.Database.Status.Cluster.Processes, "c")
		s.Groups()[2].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-age))
		if c := FullFaultTolerance(s); c.OK != want {
			t.Errorf("silent for %s: fully tolerant %t (%s), want %t", age, c.OK, c.Evidence, want)
		}
	}
}

// TestADrainedGroupNotReportingDoesNotReduceFaultTolerance silences a process group whose data was moved away.
func TestADrainedGroupNotReportingDoesNotReduceFaultTolerance(t *testing.T) {
	s := draining(t)
	unresponsive(&s, time.Second)
	if c := FullFaultTolerance(s); c.OK {
		t.Errorf("fully tolerant a second after the end of a process that still drains: %s", c.Evidence)
	}
	s.Groups()[0].SetExcluded(evening.Add(-time.Minute))
	s.Groups()[0].ProcessGroupConditions = []*v1beta2.ProcessGroupCondition{{ // which other controllers may leave there
		Type: v1beta2.ConditionMissingProcesses, Timestamp: evening.Add(-time.Second).Unix(),
	}}
	if c := FullFaultTolerance(s); !c.OK {
		t.Errorf("not fully tolerant for want of a drained process: %s", c.Evidence)
	}
}

// TestAnUndrainedLossBlocksRemovalsUntilTheDatabaseDetectsIt removes storage-1 without an exclusion.
func TestAnUndrainedLossBlocksRemovalsUntilTheDatabaseDetectsIt(t *testing.T) {
	podOf := func(change func(*corev1.Pod)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			pod := &corev1.Pod{}
			change(pod)
			s.Pods = map[string]*corev1.Pod{s.Groups()[0].PodName(s.Cluster): pod}
		}
	}
	unresponsive := func(age time.Duration) func(*plan.Snapshot) { return func(s *plan.Snapshot) { unresponsive(s, age) } }
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		open  bool
	}{
		"its pod is there":                           {podOf(func(*corev1.Pod) {}), false},
		"its pod terminates":                         {podOf(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(evening)) }), true},
		"its pod was deleted":                        {unchanged, true},
		"its pod was deleted a moment ago":           {unresponsive(time.Second), true},
		"its pod was deleted 90 s ago":               {unresponsive(90 * time.Second), false},
		"it terminates and has not reported for 90s": {both(podOf(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(evening)) }), unresponsive(90*time.Second)), false},
		"it is to be drained":                        {func(s *plan.Snapshot) { s.Groups()[0].ExclusionSkipped = false }, false},
		"it is to stay":                              {func(s *plan.Snapshot) { s.Groups()[0].RemovalTimestamp = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			s.Groups()[0].ExclusionSkipped = true
			tc.given(&s)
			if why := UnnoticedLoss(s, s.Groups()[0]); (why != "") != tc.open {
				t.Errorf("%q, open %t expected", why, tc.open)
			}
		})
	}
}

// TestTheProcessCountOfAPodComesFromThePodBeforeTheSpec changes the spec, and breaks the pod's own number.
func TestTheProcessCountOfAPodComesFromThePodBeforeTheSpec(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  string // its number of servers; no pod where empty
		want int
	}{
		"as the pod has":       {"2", 2},
		"of an unread pod":     {"two", 3},
		"as the spec without":  {"", 3},
		"of a pod without any": {"0", 3},
	} {
		s := draining(t)
		s.Cluster.Spec.StorageServersPerPod = 3
		g := s.Groups()[0]
		if tc.pod != "" {
			s.Pods = map[string]*corev1.Pod{g.PodName(s.Cluster): {Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Env: []corev1.EnvVar{{Name: g.ProcessClass.ServersPerPodVariable(), Value: tc.pod}},
			}}}}}
		}
		if got := serversOf(s, g); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestNoDatabaseYetIsTrueOnlyIfNoneWasCreated(t *testing.T) {
	never := &fdb.Status{}
	never.Cluster.RecoveryState = &fdb.RecoveryState{Name: fdb.RecoveryNeverCreated}
	for name, tc := range map[string]struct {
		configured bool
		connection string
		status     *fdb.Status
		dirs       *plan.DataDirs
		claimAge   time.Duration // of the PVC of a process group, of a resource that was created an hour ago
		want       bool
	}{
		"no cluster file":                              {want: true},
		"a configured database":                        {configured: true},
		"a configured one with another status":         {configured: true, connection: "a:b@1.1.1.1:1", status: never},
		"a database that does not answer":              {connection: "a:b@1.1.1.1:1"},
		"a database that reports to exist":             {connection: "a:b@1.1.1.1:1", status: &fdb.Status{}},
		"a database that reports it was never created": {connection: "a:b@1.1.1.1:1", status: never, want: true},
		"the same, whose pods have files of one":       {connection: "a:b@1.1.1.1:1", status: never, dirs: &plan.DataDirs{}},
		"the same, with a PVC of this resource":        {connection: "a:b@1.1.1.1:1", status: never, claimAge: time.Minute, want: true},
		"the same, with a PVC of a former one":         {connection: "a:b@1.1.1.1:1", status: never, claimAge: 2 * time.Hour},
	} {
		now := time.Unix(1e9, 0)
		c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1", ProcessClass: v1beta2.ProcessClassStorage}
		c.Status.Configured, c.Status.ConnectionString, c.Status.ProcessGroups = tc.configured, tc.connection, []*v1beta2.ProcessGroupStatus{g}
		s := plan.Snapshot{Cluster: c, Database: plan.DatabaseFacts{Status: tc.status, DataDirs: tc.dirs}}
		if tc.claimAge > 0 {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-tc.claimAge))}}
			s.Volumes = map[string]*corev1.PersistentVolumeClaim{g.PVCName(c): claim}
		}
		if got := NoDatabaseYet(s); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// TestTheUptimeCheckDependsOnTheYoungestProcess has the youngest first and last in the status document.
func TestTheUptimeCheckDependsOnTheYoungestProcess(t *testing.T) {
	for first, last := range map[float64]float64{12: 70, 70: 12} {
		s := leavable(t)
		started("storage-3", first)(&s)
		started("log-3", last)(&s)
		if c, missing := JustStarted(s).Elsewhere("z1"); c.OK || missing != 78*time.Second {
			t.Errorf("%.0f s and %.0f s: %s missing, want 78 s", first, last, missing)
		}
	}
}

// TestTheFirstOfEquallyYoungProcessesIsNamed gives a second process the same age.
func TestTheFirstOfEquallyYoungProcessesIsNamed(t *testing.T) {
	s := leavable(t)
	started("log-3", 12)(&s)
	alone, _ := JustStarted(s).Elsewhere("z1")
	started("storage-3", 12)(&s)
	if both, _ := JustStarted(s).Elsewhere("z1"); both.Evidence != alone.Evidence {
		t.Errorf("%q, want %q", both.Evidence, alone.Evidence)
	}
}

// TestCoordinatorsCanMoveWithExactlyTheRequiredFaultDomains leaves as many fault domains as coordinators need.
func TestCoordinatorsCanMoveWithExactlyTheRequiredFaultDomains(t *testing.T) {
	for _, zones := range []int{2, 3} {
		s := leavable(t)
		fewZones(&s)
		if zones == 3 {
			edit("log-4", func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "z4" })(&s)
		}
		if c := coordinatorsCanMove(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("storage-2")}); c.OK != (zones == 3) {
			t.Errorf("%d fault domains: %t (%s)", zones, c.OK, c.Evidence)
		}
	}
}

// TestARefusedAnyOfConditionHasTheGateOfItsFirstAlternative refuses both alternatives of a rule.
func TestARefusedAnyOfConditionHasTheGateOfItsFirstAlternative(t *testing.T) {
	refuse := func(gate plan.Gate) Condition[int] {
		return When(string(gate), func(int) plan.Check { return plan.Check{Gate: gate} })
	}
	for name, tc := range map[string]struct {
		rule Condition[int]
		want plan.Gate
	}{
		"two gates":               {AnyOf(refuse(plan.GateCoord), refuse(plan.GateBudget)), plan.GateCoord},
		"the first has no gate":   {AnyOf(refuse(""), refuse(plan.GateBudget)), plan.GateBudget},
		"one alternative":         {AnyOf(refuse(plan.GateBudget)), plan.GateBudget},
		"alternatives of parts":   {AnyOf(AllOf(refuse(plan.GateSync), refuse(plan.GateBudget)), refuse(plan.GateCoord)), plan.GateSync},
		"one that is not written": {AnyOf(Condition[int]{}, refuse(plan.GateCoord)), plan.GateCoord},
	} {
		if got := tc.rule.Ask(0); len(got) != 1 || got[0].Gate != tc.want || got[0].OK {
			t.Errorf("%s: %+v, want a refusal by %s", name, got, tc.want)
		}
	}
}

// TestConditionTextHasParenthesesOnlyWhereNeeded prints rules with parts of one and of several.
func TestConditionTextHasParenthesesOnlyWhereNeeded(t *testing.T) {
	a, b, c := Never[int]("a"), Never[int]("b"), Never[int]("c")
	a.name, b.name, c.name = "a", "b", "c"
	for want, rule := range map[string]Condition[int]{
		"a": AllOf(a), "a or b": AllOf(AnyOf(a, b)), "a and b": AllOf(a, AnyOf(b)), "a and (b or c)": AllOf(a, AnyOf(b, c)), "(a and b) or c": AnyOf(AllOf(a, b), c),
	} {
		if got := rule.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
