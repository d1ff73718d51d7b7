package dashboard_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
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
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		v := g.After(time.Second)
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
		commandstest.Valid(t, "a frame", ui.Line(v))
		g.Times(plan.Database)
		g.Times(plan.Pods)
		before := len(g.Entries)
		g.After(20 * time.Second)
		if n := g.Times(plan.Database); n != 10 {
			t.Errorf("the database was queried %d times in 20 s at an interval of 2 s", n)
		}
		if n := g.Times(plan.Pods); n != 0 {
			t.Errorf("pods were listed %d times though nothing changed", n)
		}
		if n := len(g.Entries) - before; n > 14 {
			t.Errorf("%d frames in 20 s", n)
		}
	})
}

func TestTheDashboardContinuesWhileTheDatabaseHangs(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		g.Hang(plan.Database)
		if v := g.After(4 * time.Second); v.Source(frame.SourceOfDatabase).RequestedAt == nil {
			t.Error("that an answer is awaited does not show")
		}
		v := g.After(6 * time.Second)
		if v.Status.Database.Available != nil || v.Status.State != inspect.StateUnknown {
			t.Errorf("a database that does not answer is %s: %s", v.Status.State, v.Status.Summary)
		}
		for _, group := range v.Groups.Items {
			if group.LastReport == nil || group.Roles != nil || !group.ConditionsUnknown {
				t.Errorf("%s: roles %v, last known %+v", group.ID, group.Roles, group.LastReport)
			}
		}
		if !strings.Contains(v.Status.Database.UnknownReason, "waiting for database status") || v.Source(frame.SourceOfDatabase).AsOf == nil {
			t.Errorf("%s, %+v", v.Status.Database.UnknownReason, v.Source(frame.SourceOfDatabase))
		}
		if n := g.Times(plan.Database); n == 0 {
			t.Error("no query")
		}
		g.After(time.Minute)
		if n := g.Times(plan.Database); n != 2 {
			t.Errorf("asked %d times in a minute without an answer, want again each time that the limit of a view is over", n)
		}
		g.Change(func() { g.Cluster.Resource.Spec.ProcessCounts.Storage++ })
		if v := g.After(3 * time.Second); v.Status.ProcessGroups.Desired != 10 {
			t.Errorf("a change of the record does not show: %d", v.Status.ProcessGroups.Desired)
		}
	})
}

// What was excluded before it stopped answering may not be so any more, and vice versa.
func TestExclusionsAreUnverifiedWhileTheDatabaseHangs(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		leaves := g.Cluster.Resource.Status.ProcessGroups[0]
		leaves.MarkForRemoval(time.Now())
		_, end := g.Follow(2 * time.Second)
		defer end()
		if v := g.After(time.Second).Exclusions; len(v.Items) != 1 || v.Items[0].State != inspect.ExclusionPending {
			t.Fatalf("%+v", v)
		}
		g.Hang(plan.Database)
		v := g.After(10 * time.Second).Exclusions
		if v.Safe != nil || len(v.Items) != 1 || v.Items[0].State != inspect.ExclusionUnverified || !strings.Contains(v.Items[0].Reason, "waiting for database status") {
			t.Errorf("%+v", v)
		}
	})
}

func TestTheDashboardShowsThatItWaitsForTheAPIServer(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		g.Hang(plan.ClusterResource)
		_, end := g.Follow(2 * time.Second)
		defer end()
		v := g.After(5 * time.Second)
		if v.Status.State != inspect.StateUnknown || !strings.Contains(v.Status.Summary, "waiting for the API server") {
			t.Errorf("%s: %s", v.Status.State, v.Status.Summary)
		}
		if s := v.Source(frame.SourceOfKubernetes); s.RequestedAt == nil || s.AsOf != nil {
			t.Errorf("%+v", s)
		}
		commandstest.Valid(t, "a frame of nothing", ui.Line(v))
	})
}

// The database is queried through the API server, and need not be the one that is slow.
func TestASlowAPIServerIsNotBlamedOnTheDatabase(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		g.Hang(plan.ClusterResource | plan.Database)
		v := g.After(12 * time.Second)
		if v.Status.State != inspect.StateUnknown || !strings.HasPrefix(v.Status.Summary, "Unknown: no answer from the API server: no answer for ") {
			t.Errorf("%s: %s", v.Status.State, v.Status.Summary)
		}
		for _, warning := range v.Groups.Warnings {
			if strings.Contains(warning, "from the database") {
				t.Error(warning)
			}
		}
	})
}

func TestTheDashboardShowsHowToLogInAgain(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		g.Fail(apierrors.NewUnauthorized("Unauthorized"))
		g.Hang(plan.Database)
		v := g.After(12 * time.Second)
		if s := v.Source(frame.SourceOfKubernetes); s.Problem != live.LoggedOut {
			t.Errorf("%+v", s)
		}
		if !strings.Contains(v.Status.Summary, "from the API server: "+live.LoggedOut) {
			t.Error(v.Status.Summary)
		}
	})
}

func TestDashboardErrorsAreShownAndRetriedWithBackoff(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		g.Fail(errors.New("quota"))
		v := g.After(10 * time.Second)
		if s := v.Source(frame.SourceOfKubernetes); s.Problem != "quota" || s.AsOf == nil {
			t.Errorf("%+v", s)
		}
		g.Times(plan.ClusterResource)
		g.After(time.Minute)
		if n := g.Times(plan.ClusterResource); n > 4 {
			t.Errorf("asked %d times in a minute", n)
		}
		g.Fail(nil)
		if v := g.After(monitor.LongestBackOff); v.Source(frame.SourceOfKubernetes).Problem != "" {
			t.Errorf("%+v", v.Sources)
		}
	})
}

func TestTheDashboardShowsThatTheClusterWasDeleted(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		g.Fail(&live.NotFoundError{})
		if v := g.After(10 * time.Second); !strings.Contains(v.Status.Summary, "the cluster was deleted") || len(v.Groups.Items) > 0 {
			t.Errorf("%s, %d groups", v.Status.Summary, len(v.Groups.Items))
		}
	})
}

func TestTheDashboardReadsChangesBeforeTheIntervalEnds(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(time.Hour)
		defer end()
		g.After(time.Second)
		g.Times(plan.Pods)
		for range 100 { // a rollout has many events
			g.Follower.Changed(plan.Pods)
			g.After(10 * time.Millisecond)
		}
		if n := g.Times(plan.Pods); n < 1 || n > 4 {
			t.Errorf("pods were listed %d times in a second of changes", n)
		}
	})
}

func TestPodsAreListedPeriodicallyIfTheirWatchFails(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		g.Times(plan.Pods)
		g.Follower.Problem(plan.Pods, errors.New("forbidden"))
		g.After(time.Minute)
		if n := g.Times(plan.Pods); n < 5 || n > 7 {
			t.Errorf("pods were listed %d times in a minute", n)
		}
	})
}

func TestARefreshQueriesTheDatabaseAtOnce(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		feed, end := g.Follow(time.Hour)
		defer end()
		g.After(time.Second)
		g.Times(plan.Database)
		feed.Refresh()
		g.After(time.Second)
		if n := g.Times(plan.Database); n != 1 {
			t.Errorf("the database was queried %d times", n)
		}
	})
}

func TestTheDashboardKeepsTheAgeOfAnUnrecordedCondition(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(time.Second)
		id := g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID
		g.Change(func() { delete(g.Cluster.Pods, g.Cluster.Resource.Status.ProcessGroups[0].PodName(g.Cluster.Resource)) })
		g.Follower.Changed(plan.Pods)
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
		first := since(g.After(3 * time.Second))
		if again := since(g.After(30 * time.Second)); !again.Equal(first) {
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
			got := monitor.CurrentDatabase(tc.reported, a, &monitor.SourceState{}, now)
			if holds := got.Status == tc.reported.Status && got.Why() == tc.reported.Why(); holds != tc.holds {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What was read of a cluster proves nothing about another one of its name, also if it is read in the same second.
func TestTheDashboardForgetsAClusterWhenAnotherOneTakesItsName(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		f := g.After(20 * time.Second)
		if f.Plan == nil || f.Status.Database.Available == nil {
			t.Fatalf("the first cluster was not read: %+v", f.Status.Database)
		}
		g.Hang(plan.Database)
		g.Change(func() { commandstest.Remake(g.Cluster.Resource) })
		f = g.After(3 * time.Second)
		if f.UID != string(g.Cluster.Resource.UID) {
			t.Fatalf("the frame is of %q, want %q", f.UID, g.Cluster.Resource.UID)
		}
		if f.Plan != nil || f.Why != nil || f.Status.Database.Available != nil || f.Source(frame.SourceOfDatabase).AsOf != nil {
			t.Errorf("of the cluster before: plan %t, why %t, database %+v", f.Plan != nil, f.Why != nil, f.Status.Database)
		}
	})
}

// An answer about the cluster before comes after another one was read.
func TestTheDashboardDropsALateAnswerAboutTheClusterBefore(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.Hang(plan.Database)
		g.After(10 * time.Second) // the query that hangs is answered by its limit
		g.Change(func() { commandstest.Remake(g.Cluster.Resource) })
		g.Hang(0)
		f := g.After(session.ViewLimit)
		if f.Status.Database.Available == nil || f.UID != string(g.Cluster.Resource.UID) {
			t.Errorf("the database of %q is unknown because of %q", f.UID, f.Status.Database.UnknownReason)
		}
	})
}
