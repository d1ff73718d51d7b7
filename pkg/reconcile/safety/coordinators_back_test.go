package safety

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The coordinator at 10.0.0.2 is storage-2; its pod was created an hour ago, and it does not
// report.
func TestAMissingCoordinatorIsExpectedBackForTwoMinutes(t *testing.T) {
	const g = "storage-2"
	pod := func(change func(*corev1.Pod)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { change(s.Pods["sample-"+g]) }
	}
	created := func(ago time.Duration) func(*plan.Snapshot) {
		return pod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(evening.Add(-ago)) })
	}
	ends := func(ago time.Duration) func(*plan.Snapshot) {
		return pod(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(evening.Add(-ago))) })
	}
	lost := func(s *plan.Snapshot) { delete(s.Pods, "sample-"+g) }
	noted := func(t v1beta2.ProcessGroupConditionType, ago time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.ProcessGroup(g).SetCondition(t, evening.Add(-ago)) }
	}
	missing := func(ago time.Duration) func(*plan.Snapshot) {
		return noted(v1beta2.ConditionMissingProcesses, ago)
	}
	reports := func(s *plan.Snapshot) {
		s.Database.Status.Cluster.Processes[g] = s.Database.Status.Cluster.Processes["storage-1"]
		edit(g, func(p *fdb.Process) {
			p.Locality = map[string]string{fdb.LocalityInstanceID: g}
			p.Address.Host = "10.0.0.99"
		})(s)
	}
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		atRisk bool
		want   string
	}{
		"not noted yet":                  {unchanged, false, "storage-2 does not report, since when is unknown"},
		"missing for long":               {missing(2 * time.Minute), false, ""},
		"missing for a moment":           {missing(2*time.Minute - time.Second), false, "storage-2 missing for 1m59s, 2m0s required"},
		"missing, with a quorum at risk": {missing(time.Second), true, ""},
		"unnoted, with a quorum at risk": {unchanged, true, ""},
		"a new pod":                      {created(2*time.Minute - time.Second), false, "the pod of storage-2 was created 1m59s ago"},
		"a new pod, quorum at risk":      {created(time.Second), true, "the pod of storage-2 was created 1s ago"},
		"a pod that is no longer new":    {both(missing(time.Hour), created(2*time.Minute)), false, ""},
		"a pod that ends":                {both(missing(time.Hour), ends(time.Second)), false, "the pod of storage-2 was due to terminate 1s ago, and is recreated"},
		"a pod that should have ended":   {both(missing(time.Hour), ends(2*time.Minute)), false, ""},
		"a pod lost, not noted yet":      {both(missing(time.Hour), lost), false, "storage-2 has just lost its pod, which is recreated"},
		"a pod lost a moment ago":        {both(lost, noted(v1beta2.ConditionMissingPod, time.Second)), false, "storage-2 lost its pod 1s ago, and it is recreated"},
		"a pod lost long ago":            {both(lost, noted(v1beta2.ConditionMissingPod, 2*time.Minute)), false, ""},
		"it is back elsewhere":           {reports, false, ""},
		"it was started a moment ago":    {both(reports, pod(func(p *corev1.Pod) { p.Status.ContainerStatuses = startedAgo(time.Second) })), false, "storage-2 does not report, since when is unknown"},
		"it was started two minutes ago": {both(reports, pod(func(p *corev1.Pod) { p.Status.ContainerStatuses = startedAgo(2 * time.Minute) })), false, ""},
		"its pod has another address":    {pod(func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.98" }), false, ""},
		"its pod has this address":       {pod(func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.2" }), false, "storage-2 does not report, since when is unknown"},
		"another group has the address":  {edit("storage-1", func(p *fdb.Process) { p.Address.Host = "10.0.0.2" }), false, ""},
		"it is drained and to be removed": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(g).MarkForRemoval(evening)
			s.Cluster.ProcessGroup(g).SetExcluded(evening)
		}, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			created(time.Hour)(&s)
			delete(s.Database.Status.Cluster.Processes, g)
			tc.given(&s)
			expected := mayComeBack
			if tc.atRisk {
				expected = comesBackAtOnce
			}
			if got := expected(s, fdb.Address{Host: "10.0.0.2", Port: 4501}); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func startedAgo(ago time.Duration) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{
		Name: v1beta2.ContainerMain, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-ago))}},
	}}
}

func TestAQuorumIsAtRiskWhenOneMoreLossTakesIt(t *testing.T) {
	for _, tc := range []struct {
		all, reachable int
		want           bool
	}{{3, 3, false}, {3, 2, true}, {5, 5, false}, {5, 4, false}, {5, 3, true}, {1, 1, true}} {
		status := &fdb.Status{}
		for i := range tc.all {
			status.Client.Coordinators.Coordinators = append(status.Client.Coordinators.Coordinators, fdb.CoordinatorStatus{Reachable: i < tc.reachable})
		}
		if got := quorumAtRisk(status); got != tc.want {
			t.Errorf("%d of %d: %t, want %t", tc.reachable, tc.all, got, tc.want)
		}
	}
}

func TestCoordinatorTolerancesAreCompared(t *testing.T) {
	than := CoordinatorTolerance{Sites: 1, Zones: 2}
	for _, tc := range []struct {
		sites, zones int
		want         bool
	}{{1, 2, false}, {2, 2, true}, {1, 3, true}, {2, 3, true}, {0, 3, false}, {2, 1, false}, {0, 2, false}, {1, 1, false}} {
		if got := (CoordinatorTolerance{tc.sites, tc.zones}).StrongerThan(than); got != tc.want {
			t.Errorf("%d sites and %d zones: %t, want %t", tc.sites, tc.zones, got, tc.want)
		}
	}
}

// TestTheFaultToleranceOfCoordinators names the fault domain of each live coordinator; those of a data
// hall share its first letter.
func TestTheFaultToleranceOfCoordinators(t *testing.T) {
	halls := []string{"a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"}
	tests := map[string]struct {
		mode  v1beta2.RedundancyMode
		all   int
		zones []string
		want  CoordinatorTolerance
	}{
		"three in three fault domains":        {all: 3, zones: []string{"a", "b", "c"}, want: CoordinatorTolerance{Zones: 1}},
		"five in five fault domains":          {all: 5, zones: []string{"a", "b", "c", "d", "e"}, want: CoordinatorTolerance{Zones: 2}},
		"one of five dead":                    {all: 5, zones: []string{"a", "b", "c", "d"}, want: CoordinatorTolerance{Zones: 1}},
		"just a quorum":                       {all: 3, zones: []string{"a", "b"}, want: CoordinatorTolerance{}},
		"no quorum":                           {all: 3, zones: []string{"a"}, want: CoordinatorTolerance{Zones: -1}},
		"the fullest fault domain goes first": {all: 5, zones: []string{"a", "b", "c", "c", "c"}, want: CoordinatorTolerance{}},
		"two share a fault domain of five":    {all: 5, zones: []string{"a", "a", "b", "c", "d"}, want: CoordinatorTolerance{Zones: 1}},
		"three data halls":                    {mode: v1beta2.RedundancyModeThreeDataHall, all: 9, zones: halls, want: CoordinatorTolerance{Sites: 1, Zones: 4}},
		"a data hall is lost":                 {mode: v1beta2.RedundancyModeThreeDataHall, all: 9, zones: halls[:6], want: CoordinatorTolerance{Zones: 1}},
		"halls that the spec does not name":   {all: 9, zones: halls, want: CoordinatorTolerance{Zones: 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Spec.DatabaseConfiguration.RedundancyMode = tc.mode
			var alive []map[string]string
			for _, zone := range tc.zones {
				alive = append(alive, map[string]string{fdb.LocalityZoneID: zone, fdb.LocalityDataHall: zone[:1]})
			}
			if got := ToleranceOfCoordinators(c, tc.all, alive); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestCoordinatorsWithAProblemCountAsLostInFaultTolerance counts a coordinator with a problem as lost.
func TestCoordinatorsWithAProblemCountAsLostInFaultTolerance(t *testing.T) {
	excluded := func(ids ...string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, id := range ids {
				logProcess(id, func(p *fdb.Process) { p.Excluded = new(true) })(s)
			}
		}
	}
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		away  []v1beta2.ProcessGroupID
		zones int
	}{
		"none has a problem":         {given: excluded(), zones: 1},
		"one is excluded":            {given: excluded("log-1"), zones: 0},
		"two are excluded":           {given: excluded("log-1", "log-2"), zones: -1},
		"one is excluded, one moves": {given: excluded("log-1"), away: []v1beta2.ProcessGroupID{"log-3"}, zones: -1},
		"one moves":                  {given: excluded(), away: []v1beta2.ProcessGroupID{"log-3"}, zones: 0},
		"one that is none moves":     {given: excluded(), away: []v1beta2.ProcessGroupID{"log-4"}, zones: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := coordinated(t)
			tc.given(&s)
			got := JudgeCoordinators(s, tc.away...)
			if got.Tolerance.Zones != tc.zones || got.Valid() != (tc.zones == 1) {
				t.Errorf("%d fault domains may be lost, want %d: %v", got.Tolerance.Zones, tc.zones, got.Problems)
			}
		})
	}
}

// TestCoordinatorProblemsAreSorted compares several runs: limits come from a map.
func TestCoordinatorProblemsAreSorted(t *testing.T) {
	s := coordinated(t)
	cut(&s, 2)
	for n := 1; n <= 2; n++ {
		logProcess(fmt.Sprintf("log-%d", n), func(p *fdb.Process) { p.Excluded = new(true) })(&s)
	}
	problems := JudgeCoordinators(s).Problems
	if len(problems) != 3 {
		t.Fatalf("%d problems, want 3: %v", len(problems), problems)
	}
	for i := range problems[1:] {
		if problems[i] >= problems[i+1] {
			t.Errorf("%q comes before %q", problems[i], problems[i+1])
		}
	}
}

// TestOneCoordinatorNamedByDNSIsOneProblem marks one of three coordinators as named by DNS.
func TestOneCoordinatorNamedByDNSIsOneProblem(t *testing.T) {
	s := coordinated(t)
	s.Database.Status.Client.Coordinators.Coordinators[1].Address.FromHostname = true
	if got := JudgeCoordinators(s).Problems; len(got) != 1 {
		t.Errorf("%d problems: %v", len(got), got)
	}
}

func TestCoordinatorsPerDataCenterAreLimitedOnlyWithTwoRegions(t *testing.T) {
	region := []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}}}}
	for name, tc := range map[string]struct {
		usable  int
		regions []v1beta2.Region
		want    bool
	}{
		"one usable region":                   {1, region, false},
		"two usable regions":                  {2, region, true},
		"two usable regions that are missing": {2, nil, false},
	} {
		c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79"}}
		c.Spec.DatabaseConfiguration.UsableRegions, c.Spec.DatabaseConfiguration.Regions = tc.usable, tc.regions
		if _, limited := CoordinatorLimits(c)[fdb.LocalityDCID]; limited != tc.want {
			t.Errorf("%s: %t, want %t", name, limited, tc.want)
		}
	}
}

// TestCoordinatorsAreFoundByStatusOrConnectionString finds coordinators also where only the connection string names them.
func TestCoordinatorsAreFoundByStatusOrConnectionString(t *testing.T) {
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"a process that is a coordinator": {unchanged, true},
		"a process that is none": {func(s *plan.Snapshot) {
			s.Database.Status.Client.Coordinators.Coordinators = s.Database.Status.Client.Coordinators.Coordinators[1:]
		}, false},
		"without a document":               {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false},
		"named by the connection string":   {onlyNamed("a:b@10.0.0.1:4501"), true},
		"another is named":                 {onlyNamed("a:b@10.0.0.2:4501"), false},
		"an unreadable connection string":  {onlyNamed("?"), false},
		"no connection string at all":      {onlyNamed(""), false},
		"named, and the process is absent": {both(onlyNamed("a:b@10.0.0.1:4501"), func(s *plan.Snapshot) { delete(s.Database.Status.Cluster.Processes, "log-1") }), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := coordinated(t)
			g := s.Groups()[0]
			g.Addresses = []string{"10.0.0.1"}
			tc.given(&s)
			if got := Coordinates(s, g); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

// onlyNamed leaves a connection string as the only thing that names coordinators.
func onlyNamed(connectionString string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		cut(s, 0)
		s.Database.Status.Cluster.ConnectionString = connectionString
	}
}

// TestTheCoordinatorGateFailsWhileACoordinatorMayComeBack asks about coordinators of storage-1, the first
// group of the resource, and of no group.
func TestTheCoordinatorGateFailsWhileACoordinatorMayComeBack(t *testing.T) {
	ours, nobodys := fdb.Address{Host: "10.0.0.1", Port: 4501}, fdb.Address{Host: "10.9.9.9", Port: 4501}
	for name, tc := range map[string]struct {
		unresponsive []fdb.Address
		want         bool
	}{
		"all report":                      {nil, true},
		"one that may come back":          {[]fdb.Address{ours}, false},
		"one that belongs to no group":    {[]fdb.Address{nobodys}, true},
		"one of each":                     {[]fdb.Address{ours, nobodys}, true},
		"one of each, in the other order": {[]fdb.Address{nobodys, ours}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			delete(s.Database.Status.Cluster.Processes, "storage-1")
			c := StaysAway(s, tc.unresponsive)
			if c.OK != tc.want || c.Gate != plan.GateCoord {
				t.Errorf("%+v, want %t", c, tc.want)
			}
			if c.Evidence == "" && len(tc.unresponsive) > 0 {
				t.Error("no evidence")
			}
		})
	}
}
