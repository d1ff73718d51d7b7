package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// restrictedCases are clusters whose data is safe, and what their clients or their operators feel.
var restrictedCases = map[string]struct {
	given   func(*testing.T, *Facts)
	code    RestrictionCode
	healthy bool
	// summary is a part of the first sentence, which names what ends the restriction.
	summary []string
}{
	"full disks": {func(t *testing.T, f *Facts) {
		t.Helper()
		f.Database.Status.Cluster.QoS = inspecttest.Recorded(t, "97-full-disks").Cluster.QoS
	}, RestrictionNoTransactions, false, []string{"Available, but unusable: the database starts no transactions: Storage server running out of space", "ended by larger volumes or more storage processes"}},
	"a limit below one transaction": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.QoS.TransactionsPerSecondLimit = new(0.5)
	}, RestrictionNoTransactions, false, []string{"starts no transactions"}},
	"a limit that is used up": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: "storage_server_write_queue_size"}
	}, RestrictionRatekeeper, false, []string{"Degraded: ratekeeper limits how many transactions start: storage_server_write_queue_size", "ended by less load"}},
	"no figures of ratekeeper": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.QoS = nil
	}, RestrictionNoTransactions, false, []string{"cannot determine whether transactions start"}},
	"no limit of ratekeeper": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.QoS.TransactionsPerSecondLimit = nil
	}, RestrictionNoTransactions, false, []string{"cannot determine whether transactions start"}},
	"no reason of ratekeeper": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.QoS.PerformanceLimitedBy = nil
	}, RestrictionNoTransactions, false, []string{"cannot determine whether transactions start"}},
	"a locked database": {func(t *testing.T, f *Facts) {
		t.Helper()
		f.Database.Status.Cluster.DatabaseLockState = inspecttest.Recorded(t, "50-locked").Cluster.DatabaseLockState
	}, RestrictionLocked, false, []string{"Available, but unusable: the database is locked with UID", "fdbcli unlock"}},
	"a zone under maintenance": {func(t *testing.T, f *Facts) {
		t.Helper()
		with := inspecttest.Recorded(t, "30-maintenance-on").Cluster
		f.Database.Status.Cluster.MaintenanceZone, f.Database.Status.Cluster.MaintenanceSecondsRemaining = with.MaintenanceZone, with.MaintenanceSecondsRemaining
	}, RestrictionMaintenance, false, []string{"Degraded: zone zone-5 is under maintenance, 5", " left (ended by kubectl fdb maintenance off)"}},
	"data distribution that is off": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.DataDistributionDisabled = new(true)
	}, RestrictionDataDistribution, false, []string{"data distribution is switched off", "fdbcli datadistribution on"}},
	"failures of storage processes that are ignored": {func(_ *testing.T, f *Facts) {
		f.Database.Status.Cluster.DataDistributionDisabledForSSFailures = new(true)
	}, RestrictionStorageFailures, false, []string{"ignores failures of storage processes", "fdbcli datadistribution enable ssfailure"}},
	"an overdue pause": {func(_ *testing.T, f *Facts) {
		pause(f, f.Now.Add(-time.Hour))
	}, RestrictionPauseOverdue, false, []string{"Degraded: the pause of operators is overdue: by eve until 2026-11-20T11:00:00Z: upgrade (ended by kubectl fdb resume)"}},
	"a pause": {func(_ *testing.T, f *Facts) {
		pause(f, f.Now.Add(time.Hour))
	}, RestrictionPaused, true, []string{"Healthy: operators are paused by eve until 2026-11-20T13:00:00Z: upgrade (ended by kubectl fdb resume); all data has its 2 copies"}},
}

func pause(f *Facts, until time.Time) {
	f.Cluster.Spec.Skip = true
	f.Cluster.Annotations = map[string]string{
		plan.AnnotationPausedBy: "eve", plan.AnnotationPausedReason: "upgrade", plan.AnnotationPausedUntil: until.UTC().Format(time.RFC3339),
	}
}

func TestAClusterIsNotHealthyUnlessItsClientsAreServed(t *testing.T) {
	for name, tc := range restrictedCases {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(t, &f)
			v := NewStatusView(Metadata{Namespace: "fdb", Cluster: "sample"}, f)
			if len(v.Restrictions) == 0 || v.Restrictions[0].Code != tc.code {
				t.Fatalf("restrictions %+v, want %s first", v.Restrictions, tc.code)
			}
			if got := v.State == StateHealthy; got != tc.healthy {
				t.Errorf("state %s, want healthy %t", v.State, tc.healthy)
			}
			for _, want := range tc.summary {
				if !strings.Contains(v.Summary, want) {
					t.Errorf("summary %q lacks %q", v.Summary, want)
				}
			}
			if want := string(v.State) + " (" + string(tc.code) + ")"; v.Cell() != want {
				t.Errorf("cell %q, want %q", v.Cell(), want)
			}
		})
	}
}

// A restriction that stops clients is named before one that does not, and before all other reasons.
func TestTheRestrictionThatStopsClientsComesFirst(t *testing.T) {
	f := healthy(t)
	f.Database.Status.Cluster.MaintenanceZone, f.Database.Status.Cluster.MaintenanceSecondsRemaining = "zone-5", new(60.0)
	f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"}
	f.Database.Status.Cluster.QoS.TransactionsPerSecondLimit = new(0.0)
	pause(&f, f.Now.Add(time.Hour))
	inspecttest.Unresponsiveness(f.Snapshot, "storage-3", time.Minute)
	var codes []RestrictionCode
	for _, r := range f.Restrictions() {
		codes = append(codes, r.Code)
	}
	want := []RestrictionCode{RestrictionNoTransactions, RestrictionLocked, RestrictionMaintenance, RestrictionPaused}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("restrictions differ (-want +got):\n%s", diff)
	}
	if v := NewStatusView(Metadata{}, f); !strings.HasPrefix(v.Summary, "Available, but unusable: the database starts no transactions") {
		t.Errorf("summary %q", v.Summary)
	}
}

func TestADatabaseThatDoesNotAnswerHasNoRestrictionsOfItsOwn(t *testing.T) {
	f := healthy(t)
	f.Database.Status = nil
	if got := f.Restrictions(); len(got) != 0 {
		t.Errorf("restrictions %+v of a database that does not answer", got)
	}
}
