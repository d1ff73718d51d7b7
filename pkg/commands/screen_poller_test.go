package commands

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestDashboardFramesAreCompleteAndReadOnlyChanges(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		v := g.after(time.Second)
		if v.Status.State != inspect.StateHealthy || len(v.Groups.Items) == 0 || len(v.Nodes.Items) == 0 || len(v.Coordinators.Items) == 0 {
			t.Errorf("%s: %s, %d groups, %d nodes", v.Status.State, v.Status.Summary, len(v.Groups.Items), len(v.Nodes.Items))
		}
		if v.Plan == nil || v.Why == nil || v.Why.State != why.Ready {
			t.Errorf("no preview: %+v, %+v", v.Plan, v.Why)
		}
		for _, s := range v.Sources {
			if s.AsOf == nil || s.Problem != "" {
				t.Errorf("%s: %+v", s.Name, s)
			}
		}
		valid(t, "a frame", ui.Line(v))
		g.times(plan.Database)
		g.times(plan.Pods)
		before := len(g.entries)
		g.after(20 * time.Second)
		if n := g.times(plan.Database); n != 10 {
			t.Errorf("the database was queried %d times in 20 s at an interval of 2 s", n)
		}
		if n := g.times(plan.Pods); n != 0 {
			t.Errorf("pods were listed %d times though nothing changed", n)
		}
		if n := len(g.entries) - before; n > 14 {
			t.Errorf("%d frames in 20 s", n)
		}
	})
}

func TestTheDashboardContinuesWhileTheDatabaseHangs(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		g.after(time.Second)
		g.hang(plan.Database)
		if v := g.after(4 * time.Second); v.Source(frame.SourceOfDatabase).RequestedAt == nil {
			t.Error("that an answer is awaited does not show")
		}
		v := g.after(6 * time.Second)
		if v.Status.Database.Available != nil || v.Status.State != inspect.StateUnknown {
			t.Errorf("a database that does not answer is %s: %s", v.Status.State, v.Status.Summary)
		}
		if !strings.Contains(v.Status.Database.UnknownReason, "waiting for database status") || v.Source(frame.SourceOfDatabase).AsOf == nil {
			t.Errorf("%s, %+v", v.Status.Database.UnknownReason, v.Source(frame.SourceOfDatabase))
		}
		if n := g.times(plan.Database); n == 0 {
			t.Error("no query")
		}
		g.after(time.Minute)
		if n := g.times(plan.Database); n != 2 {
			t.Errorf("asked %d times in a minute without an answer, want again each time that the limit of a view is over", n)
		}
		g.change(func() { g.cluster.Resource.Spec.ProcessCounts.Storage++ })
		if v := g.after(3 * time.Second); v.Status.ProcessGroups.Desired != 10 {
			t.Errorf("a change of the record does not show: %d", v.Status.ProcessGroups.Desired)
		}
	})
}

// What was excluded before it stopped answering may not be so any more, and vice versa.
func TestExclusionsAreUnverifiedWhileTheDatabaseHangs(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		leaves := g.cluster.Resource.Status.ProcessGroups[0]
		leaves.MarkForRemoval(time.Now())
		_, end := g.follow(2 * time.Second)
		defer end()
		if v := g.after(time.Second).Exclusions; len(v.Items) != 1 || v.Items[0].State != inspect.ExclusionPending {
			t.Fatalf("%+v", v)
		}
		g.hang(plan.Database)
		v := g.after(10 * time.Second).Exclusions
		if v.Safe != nil || len(v.Items) != 1 || v.Items[0].State != inspect.ExclusionUnverified || !strings.Contains(v.Items[0].Reason, "waiting for database status") {
			t.Errorf("%+v", v)
		}
	})
}

func TestTheDashboardShowsThatItWaitsForTheAPIServer(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		g.hang(plan.ClusterResource)
		_, end := g.follow(2 * time.Second)
		defer end()
		v := g.after(5 * time.Second)
		if v.Status.State != inspect.StateUnknown || !strings.Contains(v.Status.Summary, "waiting for the API server") {
			t.Errorf("%s: %s", v.Status.State, v.Status.Summary)
		}
		if s := v.Source(frame.SourceOfKubernetes); s.RequestedAt == nil || s.AsOf != nil {
			t.Errorf("%+v", s)
		}
		valid(t, "a frame of nothing", ui.Line(v))
	})
}

func TestDashboardErrorsAreShownAndRetriedWithBackoff(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		g.after(time.Second)
		g.fail(errors.New("quota"))
		v := g.after(10 * time.Second)
		if s := v.Source(frame.SourceOfKubernetes); s.Problem != "quota" || s.AsOf == nil {
			t.Errorf("%+v", s)
		}
		g.times(plan.ClusterResource)
		g.after(time.Minute)
		if n := g.times(plan.ClusterResource); n > 4 {
			t.Errorf("asked %d times in a minute", n)
		}
		g.fail(nil)
		if v := g.after(monitor.LongestBackOff); v.Source(frame.SourceOfKubernetes).Problem != "" {
			t.Errorf("%+v", v.Sources)
		}
	})
}

func TestTheDashboardShowsThatTheClusterWasDeleted(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		g.after(time.Second)
		g.fail(&live.NotFoundError{})
		if v := g.after(10 * time.Second); !strings.Contains(v.Status.Summary, "the cluster was deleted") || len(v.Groups.Items) > 0 {
			t.Errorf("%s, %d groups", v.Status.Summary, len(v.Groups.Items))
		}
	})
}

func TestTheDashboardReadsChangesBeforeTheIntervalEnds(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(time.Hour)
		defer end()
		g.after(time.Second)
		g.times(plan.Pods)
		for range 100 { // a rollout has many events
			g.follower.changed(plan.Pods)
			g.after(10 * time.Millisecond)
		}
		if n := g.times(plan.Pods); n < 1 || n > 4 {
			t.Errorf("pods were listed %d times in a second of changes", n)
		}
	})
}

func TestPodsAreListedPeriodicallyIfTheirWatchFails(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		g.after(time.Second)
		g.times(plan.Pods)
		g.follower.problem(plan.Pods, errors.New("forbidden"))
		g.after(time.Minute)
		if n := g.times(plan.Pods); n < 5 || n > 7 {
			t.Errorf("pods were listed %d times in a minute", n)
		}
	})
}

func TestARefreshQueriesTheDatabaseAtOnce(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		feed, end := g.follow(time.Hour)
		defer end()
		g.after(time.Second)
		g.times(plan.Database)
		feed.Refresh()
		g.after(time.Second)
		if n := g.times(plan.Database); n != 1 {
			t.Errorf("the database was queried %d times", n)
		}
	})
}

func TestTheDashboardKeepsTheAgeOfAnUnrecordedCondition(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		g.after(time.Second)
		id := g.cluster.Resource.Status.ProcessGroups[0].ProcessGroupID
		g.change(func() { delete(g.cluster.Pods, g.cluster.Resource.Status.ProcessGroups[0].PodName(g.cluster.Resource)) })
		g.follower.changed(plan.Pods)
		since := func(v frame.Frame) time.Time {
			t.Helper()
			for _, group := range v.Groups.Items {
				if group.ID == string(id) && len(group.Conditions) > 0 && group.Conditions[0].Since != nil {
					return *group.Conditions[0].Since
				}
			}
			t.Fatalf("%s has no condition since a known time: %s", id, v.Status.Summary)
			return time.Time{}
		}
		first := since(g.after(3 * time.Second))
		if again := since(g.after(30 * time.Second)); !again.Equal(first) {
			t.Errorf("began %s, then %s", first, again)
		}
	})
}

func TestTheLastDatabaseAnswerIsValidUntilTheNextIsLate(t *testing.T) {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	up, down := &fdb.Status{}, &fdb.Status{}
	up.Client.DatabaseStatus.Available = true
	up.Cluster.Processes = map[string]fdb.Process{"a": {}}
	tests := map[string]struct {
		reported  plan.DatabaseFacts
		requested time.Duration // ago; 0 is not now
		holds     bool
	}{
		"nothing is read":                     {plan.DatabaseFacts{Status: up, AsOf: now.Add(-time.Hour)}, 0, true},
		"the next answer is not late":         {plan.DatabaseFacts{Status: up, AsOf: now.Add(-6 * time.Second)}, 4 * time.Second, true},
		"the next answer is late":             {plan.DatabaseFacts{Status: up, AsOf: now.Add(-7 * time.Second)}, 5 * time.Second, false},
		"it was down, and still may be":       {plan.DatabaseFacts{Status: down, AsOf: now.Add(-20 * time.Second)}, 18 * time.Second, true},
		"it was down too long ago":            {plan.DatabaseFacts{Status: down, AsOf: now.Add(-40 * time.Second)}, 38 * time.Second, false},
		"it could not be asked before either": {plan.DatabaseFacts{Unreachable: "no pod"}, time.Minute, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &monitor.SourceState{}
			if tc.requested > 0 {
				a.Begin(now.Add(-tc.requested))
			}
			got := monitor.CurrentDatabase(tc.reported, a, now)
			if holds := got.Status == tc.reported.Status && got.Why() == tc.reported.Why(); holds != tc.holds {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What was read of a cluster proves nothing about another one of its name, also if it is read in the same second.
func TestTheDashboardForgetsAClusterWhenAnotherOneTakesItsName(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		f := g.after(20 * time.Second)
		if f.Plan == nil || f.Status.Database.Available == nil {
			t.Fatalf("the first cluster was not read: %+v", f.Status.Database)
		}
		g.hang(plan.Database)
		g.change(func() { remake(g.cluster.Resource) })
		f = g.after(3 * time.Second)
		if f.UID != string(g.cluster.Resource.UID) {
			t.Fatalf("the frame is of %q, want %q", f.UID, g.cluster.Resource.UID)
		}
		if f.Plan != nil || f.Why != nil || f.Status.Database.Available != nil || f.Source(frame.SourceOfDatabase).AsOf != nil {
			t.Errorf("of the cluster before: plan %t, why %t, database %+v", f.Plan != nil, f.Why != nil, f.Status.Database)
		}
	})
}

// An answer about the cluster before comes after another one was read.
func TestTheDashboardDropsALateAnswerAboutTheClusterBefore(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		g.hang(plan.Database)
		g.after(10 * time.Second) // the query that hangs is answered by its limit
		g.change(func() { remake(g.cluster.Resource) })
		g.hang(0)
		f := g.after(session.ViewLimit)
		if f.Status.Database.Available == nil || f.UID != string(g.cluster.Resource.UID) {
			t.Errorf("the database of %q is unknown because of %q", f.UID, f.Status.Database.UnknownReason)
		}
	})
}
