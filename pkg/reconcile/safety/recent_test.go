package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestADatabaseStatusOlderThanAMinuteIsNoProof(t *testing.T) {
	for age, want := range map[time.Duration]bool{0: true, time.Minute: true, time.Minute + time.Nanosecond: false, -time.Nanosecond: false} {
		s := draining(t)
		s.Database.AsOf = evening.Add(-age)
		if c := RecentProof(s); c.OK != want || c.Evidence == "" {
			t.Errorf("%s: %+v, want %t", age, c, want)
		}
	}
	if c := RecentProof(plan.Snapshot{Database: plan.DatabaseFacts{Unreachable: "timed out"}}); c.OK || c.Evidence != "no database status: timed out" {
		t.Errorf("without a document: %+v", c)
	}
}

func TestWhichRecoveryStatesAllowAnInclusion(t *testing.T) {
	for state, want := range map[string]bool{
		fdb.RecoveryFullyRecovered: true, fdb.RecoveryAllLogsRecruited: true, "accepting_commits": false, "storage_recovered": false, "": false,
	} {
		d := healthy(t)
		d.Status.Cluster.RecoveryState.Name = state
		if c := Recovered(d); c.OK != want || c.Evidence != "recovery state is "+phrase.Or(state, phrase.Unknown) {
			t.Errorf("%q: %+v, want %t", state, c, want)
		}
	}
	if c := Recovered(plan.DatabaseFacts{Unreachable: "timed out"}); c.OK || c.Evidence != "no database status: timed out" {
		t.Errorf("without a document: %+v", c)
	}
}
