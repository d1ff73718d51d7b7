package inspect

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// replacing is the healthy cluster once storage-1 was marked, and storage-9 takes its place.
func replacing(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Cluster.ProcessGroup("storage-1").MarkForRemoval(noon.Add(-time.Minute))
	f.Coordination = plan.CoordinationFacts{ExclusionsRead: true}
	f.Volumes = map[string]*corev1.PersistentVolumeClaim{}
	succeed(&f)
	return f
}

// succeed adds storage-9, whose process reports.
func succeed(f *Facts) {
	for id, p := range f.Database.Status.Cluster.Processes {
		if p.InstanceID() == "storage-2" {
			p.Locality = maps.Clone(p.Locality)
			p.Locality[fdb.LocalityInstanceID] = "storage-9"
			f.Database.Status.Cluster.Processes["new "+id] = p
			inspecttest.AddGroup(f.Snapshot, p)
			break
		}
	}
	f.Pods[f.Cluster.ProcessGroup("storage-9").PodName(f.Cluster)].CreationTimestamp = metav1.NewTime(noon.Add(-50 * time.Second))
}

func (f *Facts) exclude(id v1beta2.ProcessGroupID) {
	target := f.Cluster.ProcessGroup(id).ExclusionString()
	inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: target})
	f.Coordination.Exclusions = append(f.Coordination.Exclusions, target)
}

// unschedulable has a pod wait for a node.
func unschedulable(pod *corev1.Pod) {
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/5 nodes are available: 5 Insufficient cpu.", LastTransitionTime: metav1.NewTime(noon.Add(-40 * time.Second)),
	}}}
}

func TestPhasesOfAReplacementAreWhatWasObserved(t *testing.T) {
	const done, running, pending, skipped, unknown = reconcile.PhaseDone, reconcile.PhaseRunning, reconcile.PhasePending, reconcile.PhaseSkipped, reconcile.PhaseUnknown
	gone := func(f *Facts) { delete(f.Pods, f.Cluster.ProcessGroup("storage-1").PodName(f.Cluster)) }
	drained := func(f *Facts) {
		f.exclude("storage-1")
		inspecttest.Drain(f.Snapshot, "storage-1")
	}
	newPod := func(f *Facts) *corev1.Pod { return f.Pods[f.Cluster.ProcessGroup("storage-9").PodName(f.Cluster)] }
	for name, c := range map[string]struct {
		given   func(*Facts)
		want    [6]reconcile.PhaseState // marked, created, joined, drained, deleted, included
		blocker string
	}{
		"the new one reports": {given: func(*Facts) {}, want: [6]reconcile.PhaseState{done, done, done, pending, pending, pending}},
		"no other was added yet": {given: func(f *Facts) {
			f.Cluster.Status.ProcessGroups = f.Cluster.Status.ProcessGroups[:len(f.Groups())-1]
		}, want: [6]reconcile.PhaseState{done, pending, pending, pending, pending, pending}},
		"none has to be added": {given: func(f *Facts) {
			f.Cluster.Status.ProcessGroups = f.Cluster.Status.ProcessGroups[:len(f.Groups())-1]
			f.Cluster.Spec.ProcessCounts.Storage = 4
		}, want: [6]reconcile.PhaseState{done, skipped, skipped, pending, pending, pending}},
		"the new one has no pod yet": {given: func(f *Facts) { delete(f.Pods, newPod(f).Name) }, want: [6]reconcile.PhaseState{done, running, pending, pending, pending, pending}},
		"the new one does not report": {given: func(f *Facts) {
			inspecttest.Unresponsiveness(f.Snapshot, "storage-9", 0)
		}, want: [6]reconcile.PhaseState{done, done, running, pending, pending, pending}},
		"no node fits the new one": {given: func(f *Facts) {
			inspecttest.Unresponsiveness(f.Snapshot, "storage-9", 0)
			unschedulable(newPod(f))
		}, want: [6]reconcile.PhaseState{done, done, running, pending, pending, pending}, blocker: "storage-9 is Pending, no node fits: 0/5 nodes are available: 5 Insufficient cpu"},
		"the database does not answer": {given: func(f *Facts) {
			f.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			f.Coordination = plan.CoordinationFacts{}
		}, want: [6]reconcile.PhaseState{done, done, unknown, running, pending, pending}},
		"its data moves":              {given: func(f *Facts) { f.exclude("storage-1") }, want: [6]reconcile.PhaseState{done, done, done, running, pending, pending}},
		"it is drained":               {given: drained, want: [6]reconcile.PhaseState{done, done, done, done, pending, pending}},
		"no exclusions could be read": {given: func(f *Facts) { drained(f); f.Coordination = plan.CoordinationFacts{} }, want: [6]reconcile.PhaseState{done, done, done, running, pending, pending}},
		"its pod terminates": {given: func(f *Facts) {
			drained(f)
			f.Pods[f.Cluster.ProcessGroup("storage-1").PodName(f.Cluster)].DeletionTimestamp = &metav1.Time{Time: noon}
		}, want: [6]reconcile.PhaseState{done, done, done, done, running, pending}},
		"its PVC is left": {given: func(f *Facts) {
			drained(f)
			gone(f)
			name := f.Cluster.ProcessGroup("storage-1").PVCName(f.Cluster)
			f.Volumes[name] = &corev1.PersistentVolumeClaim{}
		}, want: [6]reconcile.PhaseState{done, done, done, done, running, pending}},
		"its exclusion is left":       {given: func(f *Facts) { drained(f); gone(f) }, want: [6]reconcile.PhaseState{done, done, done, done, done, running}},
		"PVCs were not read":          {given: func(f *Facts) { drained(f); gone(f); f.Volumes = nil }, want: [6]reconcile.PhaseState{done, done, done, done, unknown, pending}},
		"its pod was lost first":      {given: func(f *Facts) { gone(f) }, want: [6]reconcile.PhaseState{done, done, done, pending, pending, pending}},
		"it is removed with its data": {given: func(f *Facts) { f.Cluster.ProcessGroup("storage-1").ExclusionSkipped = true }, want: [6]reconcile.PhaseState{done, done, done, skipped, pending, pending}},
	} {
		t.Run(name, func(t *testing.T) {
			f := replacing(t)
			c.given(&f)
			all := f.Replacements(nil)
			if len(all) != 1 {
				t.Fatalf("%d replacements", len(all))
			}
			var got [6]reconcile.PhaseState
			for i, p := range all[0].Phases {
				got[i] = p.State
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			blocker := ""
			if b := all[0].Blocker; b != nil {
				blocker = BlockerWords(*b)
			}
			if blocker != c.blocker {
				t.Errorf("blocker %q, want %q", blocker, c.blocker)
			}
		})
	}
}

// 375MiB at 4.8MiB/s take 78 seconds, whatever rate the forecast assumed.
func TestTheTimeLeftOfADrainIsMeasured(t *testing.T) {
	f, h := replacing(t), &DrainHistory{}
	f.exclude("storage-1")
	soon := noon.Add(12 * time.Second)
	const rate = int64(5033164) // 4.8MiB
	var v OperationView
	for i, drift := range []int64{0, 3 << 20, -2 << 20, 1 << 20, 0} { // shards move as a whole
		left := int64(4-i)*15*rate + 375<<20 + drift
		f.Hold("storage-1", left)
		f.Database.AsOf = noon.Add(time.Duration(i-4) * 15 * time.Second)
		v.Progress = f.Observed(reconcile.OperationProgress{Targets: 1, ExpectedAt: &soon}, h)
		if words := strings.Join(v.Words(noon), ", "); i < 2 && !strings.Contains(words, "rate not measured yet") || strings.Contains(words, "12s") {
			t.Errorf("after %d samples: %s", i+1, words)
		}
	}
	left, known := v.Progress.TimeLeft(noon)
	if !known || left.Soonest < 70*time.Second || left.Soonest > 78*time.Second || left.Latest < 78*time.Second || left.Latest > 90*time.Second {
		t.Errorf("%+v, known: %t", left, known)
	}
	if got, want := strings.Join(v.Words(noon), ", "), "0 of 1 done, storage-1 is draining, 375MiB left at 4.8MiB/s, about 80s left"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A process group that is excluded and stays is part of an operation until nothing depends on it.
func TestExclusionsAreProgressOfAnOperation(t *testing.T) {
	const done, running, unknown = reconcile.PhaseDone, reconcile.PhaseRunning, reconcile.PhaseUnknown
	silent := func(f *Facts) {
		f.Database, f.Coordination = plan.DatabaseFacts{Unreachable: "timed out"}, plan.CoordinationFacts{}
	}
	before := []reconcile.Replacement{{ID: "storage-1", Phases: exclusionPhases(done, running)}}
	for name, c := range map[string]struct {
		given  func(*Facts)
		before []reconcile.Replacement
		want   []reconcile.Phase
	}{
		"its data moves":                        {given: func(f *Facts) { f.exclude("storage-1") }, want: exclusionPhases(done, running)},
		"it is drained":                         {given: func(f *Facts) { f.exclude("storage-1"); inspecttest.Drain(f.Snapshot, "storage-1") }, before: before},
		"it was included again":                 {given: func(*Facts) {}, before: before},
		"it is unknown, and was excluded":       {given: silent, before: before, want: exclusionPhases(unknown, unknown)},
		"it is unknown whether any is excluded": {given: silent},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Coordination = plan.CoordinationFacts{ExclusionsRead: true}
			c.given(&f)
			p := f.Observed(reconcile.OperationProgress{Replacements: c.before}, nil)
			var got []reconcile.Phase
			for _, r := range p.Replacements {
				if r.ID != "storage-1" {
					t.Errorf("%+v", r)
				}
				got = append(got, r.Phases...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || p.ReplacementsTotal != len(p.Replacements) {
				t.Error(diff)
			}
			if known := len(p.Replacements) > 0 && p.Replacements[0].LeftBytes != nil; known != (len(c.want) > 0 && c.want[1].State == running) {
				t.Errorf("the data left of %+v", p.Replacements)
			}
		})
	}
}

// What only waits for its inclusion is in the way of nothing that follows.
func TestReplacementsThatOnlyWaitForTheirInclusionAreLast(t *testing.T) {
	f := replacing(t)
	f.exclude("storage-1")
	inspecttest.Drain(f.Snapshot, "storage-1")
	delete(f.Pods, f.Cluster.ProcessGroup("storage-1").PodName(f.Cluster))
	f.Cluster.ProcessGroup("storage-2").MarkForRemoval(noon)
	f.exclude("storage-3")
	all := f.Observed(reconcile.OperationProgress{}, nil).Replacements
	if len(all) != 3 || all[0].ID != "storage-3" || all[1].ID != "storage-2" || all[2].State(reconcile.PhaseIncluded) != reconcile.PhaseRunning {
		t.Errorf("%+v", all)
	}
}

func TestACoordinatorChangeIsProgressOfAnOperation(t *testing.T) {
	f := healthy(t)
	if v := f.Observed(reconcile.OperationProgress{}, nil).Rollout; v != nil {
		t.Fatalf("all coordinators stay: %+v", v)
	}
	moving := v1beta2.ProcessGroupID("")
	for _, c := range NewCoordinatorListView(Metadata{}, f).Items {
		moving = v1beta2.ProcessGroupID(c.Group)
	}
	f.Cluster.ProcessGroup(moving).MarkForRemoval(noon.Add(-time.Minute))
	v := f.Observed(reconcile.OperationProgress{}, nil).Rollout
	if v == nil || v.Kind != reconcile.RolloutCoordinators || v.State(0) != reconcile.PhaseRunning || v.State(1) != reconcile.PhaseDone {
		t.Fatalf("%+v", v)
	}
	if got, want := RolloutText(*v), "coordinator change: coordinators that stay 2 of 3, answers done"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestARangeOfTimeHasOneUnit(t *testing.T) {
	for want, c := range map[string][2]time.Duration{
		"40-90s":    {40 * time.Second, 90 * time.Second},
		"1-3m":      {50 * time.Second, 167 * time.Second},
		"1-5m":      {10 * time.Second, 5 * time.Minute},
		"2-5h":      {100 * time.Minute, 290 * time.Minute},
		"about 80s": {78 * time.Second, 80 * time.Second},
		"70-90s":    {71 * time.Second, 81 * time.Second},
		"1-10s":     {time.Second, 2 * time.Second},
		"about 3m":  {170 * time.Second, 175 * time.Second},
	} {
		if got := rangeWords(c[0], c[1]); got != want {
			t.Errorf("%s to %s: %s, want %s", c[0], c[1], got, want)
		}
	}
}

func TestWhatIsUnknownOfADrainIsNotShownAsNothing(t *testing.T) {
	for want, r := range map[string]reconcile.Replacement{
		"its data left is unknown":                                    {},
		"no data left, and not proven yet that nothing depends on it": {LeftBytes: new(int64(0))},
		"4.0KiB left, rate not measured yet":                          {LeftBytes: new(int64(4096))},
		"4.0KiB left at 1.0KiB/s":                                     {LeftBytes: new(int64(4096)), RateBytesPerSecond: new(1024.0)},
		"4.0KiB left, stalled for 3m":                                 {LeftBytes: new(int64(4096)), RateBytesPerSecond: new(0.0), StalledSeconds: new(180.0)},
	} {
		if got := DrainWords(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What waits for its user is not what its run does not report.
func TestAnOperationThatWaitsForItsUserIsNotLost(t *testing.T) {
	asked := noon.Add(-6 * time.Minute)
	v := OperationView{Holder: "ann@laptop", Active: true, Progress: reconcile.OperationProgress{AskedAt: &asked, Targets: 1, WaitingFor: "data"}}
	if got, want := strings.Join(v.Words(noon), ", "), "waiting for an answer of ann@laptop for 6m, 0 of 1 done"; got != want || v.state() != "awaiting-answer" {
		t.Errorf("%s: %s, want %s", v.state(), got, want)
	}
	key := v.Key()
	v.Progress.AskedAt = nil
	if v.state() != "active" || v.Key() == key {
		t.Errorf("after the answer: %s, %s", v.state(), v.Key())
	}
	if v.Active = false; v.state() != "lost" {
		t.Errorf("its run does not report: %s", v.state())
	}
}

// A line for each phase, and none for each byte.
func TestTheKeyOfAnOperationChangesWithItsPhases(t *testing.T) {
	r := reconcile.Replacement{ID: "storage-1", LeftBytes: new(int64(9)), Phases: []reconcile.Phase{{Name: reconcile.PhaseDrained, State: reconcile.PhaseRunning}}}
	of := func(r reconcile.Replacement) string {
		return OperationView{Progress: reconcile.OperationProgress{Replacements: []reconcile.Replacement{r}}}.Key()
	}
	less, done, blocked := r, r, r
	less.LeftBytes = new(int64(1))
	done.Phases = []reconcile.Phase{{Name: reconcile.PhaseDrained, State: reconcile.PhaseDone}}
	blocked.Blocker = &reconcile.Blocker{Group: "storage-9", Code: "unscheduled"}
	if of(less) != of(r) || of(done) == of(r) || of(blocked) == of(r) {
		t.Errorf("%s, less left: %s, done: %s, blocked: %s", of(r), of(less), of(done), of(blocked))
	}
}

func TestReplacementsAtOnceAreNotCountedAsDone(t *testing.T) {
	for want, v := range map[string]ReplacingView{
		"replacing 1 of 1":                        {Marked: 1, Total: 1},
		"replacing 3 of 3":                        {Marked: 1, Done: 2, Total: 3},
		"replacing 14 process groups":             {Marked: 14, Total: 14},
		"replacing 2 process groups, 3 of 5 done": {Marked: 2, Done: 3, Total: 5},
	} {
		if got := v.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAPlannedReplacementHeadsTheStatus(t *testing.T) {
	heals := func(f *Facts) {
		f.exclude("storage-1")
		f.Database.Status.Cluster.Data.State = &fdb.DataState{Name: "healing", Healthy: new(false)}
	}
	run := func(targets int) func(*Facts) {
		return func(f *Facts) {
			f.Lease = Lease{Read: true, OperationActive: true, Operation: &reconcile.Operation{ID: "run1", Holder: "ann@laptop", Progress: reconcile.OperationProgress{Targets: targets, Reached: targets - 1}}}
		}
	}
	misses := func(messages ...string) func(*Facts) {
		return func(f *Facts) {
			g := f.Cluster.ProcessGroup("storage-1")
			g.ExclusionTimestamp = &metav1.Time{Time: noon}
			delete(f.Pods, g.PodName(f.Cluster))
			f.Database.Status.Client.DatabaseStatus.Healthy = false
			for _, name := range messages {
				f.Database.Status.Cluster.Messages = append(f.Database.Status.Cluster.Messages, fdb.Message{Name: name})
			}
		}
	}
	for name, c := range map[string]struct {
		given []func(*Facts)
		state State
		want  string
	}{
		"nothing is done yet, and no run is known":  {state: StateHealthy, want: "Healthy: "},
		"a run replaces it":                         {given: []func(*Facts){run(1)}, state: StateHealthy, want: "Replacing 1 of 1: all data has its 2 copies, safe to lose 1 more zone"},
		"data moves":                                {given: []func(*Facts){heals}, state: StateDegraded, want: "Replacing 1 of 1: all data has its 2 copies, safe to lose 1 more zone"},
		"the last of three":                         {given: []func(*Facts){heals, run(3)}, state: StateDegraded, want: "Replacing 3 of 3: "},
		"the new process does not report yet":       {given: []func(*Facts){run(1), notYet}, state: StateDegraded, want: "Replacing 1 of 1: "},
		"no node fits the new one":                  {given: []func(*Facts){run(1), notYet, unscheduled}, state: StateDegraded, want: "Degraded: "},
		"another process is lost":                   {given: []func(*Facts){heals, lose("storage-3")}, state: StateDegraded, want: "Degraded: "},
		"data has too few copies":                   {given: []func(*Facts){heals, fewCopies}, state: StateDegraded, want: "Degraded: "},
		"the copies are unknown":                    {given: []func(*Facts){heals, unknownCopies}, state: StateDegraded, want: "Degraded: "},
		"the fault tolerance is unknown":            {given: []func(*Facts){heals, unknownTolerance}, state: StateDegraded, want: "Degraded: "},
		"data heals, and nothing is being replaced": {given: []func(*Facts){heals, unmark}, state: StateDegraded, want: "Degraded: "},
		"the database misses what was removed":      {given: []func(*Facts){run(1), misses("unreachable_processes", "status_incomplete")}, state: StateDegraded, want: "Replacing 1 of 1: "},
		"it reports something else as well":         {given: []func(*Facts){run(1), misses("unreachable_processes", "storage_server_lagging")}, state: StateDegraded, want: "Degraded: "},
		"it reports no reason":                      {given: []func(*Facts){run(1), misses()}, state: StateDegraded, want: "Degraded: "},
		"the database is locked":                    {given: []func(*Facts){heals, lockedByAUser}, state: StateDegraded, want: "Available, but unusable: "},
	} {
		t.Run(name, func(t *testing.T) {
			f := replacing(t)
			for _, change := range c.given {
				change(&f)
			}
			v := NewStatusView(meta, f)
			if v.State != c.state || !strings.HasPrefix(v.Summary, c.want) {
				t.Errorf("%s: %s, want %s: %s", v.State, v.Summary, c.state, c.want)
			}
			if (v.Tone() == list.Busy) != strings.HasPrefix(c.want, "Replacing") {
				t.Errorf("tone %d", v.Tone())
			}
		})
	}
}

// notYet is a new process group before its process reports for the first time.
func notYet(f *Facts) {
	inspecttest.Unresponsiveness(f.Snapshot, "storage-9", 0)
	f.Cluster.ProcessGroup("storage-9").FaultDomain = ""
}

func unscheduled(f *Facts) {
	unschedulable(f.Pods[f.Cluster.ProcessGroup("storage-9").PodName(f.Cluster)])
}

func lose(id v1beta2.ProcessGroupID) func(*Facts) {
	return func(f *Facts) { inspecttest.Unresponsiveness(f.Snapshot, id, time.Minute) }
}

func fewCopies(f *Facts) {
	for i := range f.Database.Status.Cluster.Data.TeamTrackers {
		f.Database.Status.Cluster.Data.TeamTrackers[i].State.MinReplicasRemaining = new(1)
	}
}

func unknownCopies(f *Facts) { f.Database.Status.Cluster.Data.TeamTrackers = nil }

func unknownTolerance(f *Facts) { f.Database.Status.Cluster.FaultTolerance = nil }

func unmark(f *Facts) { f.Cluster.ProcessGroup("storage-1").RemovalTimestamp = nil }

func lockedByAUser(f *Facts) {
	f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "0123"}
}
