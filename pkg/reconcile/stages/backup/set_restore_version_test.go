package backup

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// mistake is the time to restore: half an hour ago.
var mistake = stagestest.Noon.Add(-30 * time.Minute)

// timed is a backup of the last hour, whose versions grew by 1,000,000 a second.
func timed(s *plan.Snapshot) {
	at := func(ago time.Duration, version int64) *fdb.DescribedVersion {
		return &fdb.DescribedVersion{Version: version, EpochSeconds: new(stagestest.Noon.Add(-ago).Unix())}
	}
	s.RestoreTimes = plan.TimeFacts{Read: true, There: &fdb.BackupDescription{
		Restorable: true, MinRestorable: at(time.Hour, 1_000_000_000), MaxRestorable: at(0, 4_600_000_000), MaxLogEnd: at(0, 4_600_000_000),
	}}
}

func withTimes(facts plan.TimeFacts) change { return func(s *plan.Snapshot) { s.RestoreTimes = facts } }

// chosen is a restore whose version was chosen for a time.
func chosen(at time.Time, version uint64) change {
	return func(s *plan.Snapshot) {
		*s = plan.SetRestoreVersion{Chosen: plan.RestoreTime{Time: at, Version: version}}.Apply(*s)
	}
}

func TestSetRestoreVersion(t *testing.T) {
	const span = "restorable is 2026-01-02T11:00:01Z (version 1000000000) to 2026-01-02T12:00:00Z (version 4600000000)"
	when := strings.NewReplacer("2026-01-02", stagestest.Noon.Format(time.DateOnly)).Replace
	started := recorded(v1beta2.RestoreStateRunning, true)
	checkRestore(t, setRestoreVersion(mistake), map[string]backupRow{
		"chooses the version of the time": {given: timed, does: []string{when("set spec.backupVersion of FoundationDBRestore again: unset → 2799000000, the version of 2026-01-02T11:30:00Z")}},
		"replaces another version": {
			given: changed(timed, restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.BackupVersion = new(uint64(42)) })),
			does:  []string{when("set spec.backupVersion of FoundationDBRestore again: 42 → 2799000000, the version of 2026-01-02T11:30:00Z")},
		},
		"keeps what it chose before":         {given: changed(timed, chosen(mistake, 2_798_000_000))},
		"keeps it while the restore runs":    {given: changed(chosen(mistake, 2_798_000_000), started)},
		"chooses again for another time":     {given: changed(timed, chosen(mistake.Add(time.Second), 7)), does: []string{when("set spec.backupVersion of FoundationDBRestore again: 7 → 2799000000, the version of 2026-01-02T11:30:00Z")}},
		"changes no restore that was begun":  {given: changed(timed, started), holds: "a restore is started once", manual: true},
		"changes no restore of another time": {given: changed(timed, chosen(mistake.Add(time.Second), 7), started), holds: "a restore is started once", manual: true},
		"refuses what no snapshot is before": {given: withTimes(plan.TimeFacts{Read: true, There: &fdb.BackupDescription{}}), holds: "no snapshot is complete with its log", manual: true},
		"refuses what has no times": {
			given: changed(timed, func(s *plan.Snapshot) { s.RestoreTimes.There.MinRestorable.EpochSeconds = nil }),
			holds: "versions 1000000000 to 4600000000 can be restored, and the database has recorded too few of their times: set spec.backupVersion instead", manual: true,
		},
		"refuses a source without a backup":     {given: withTimes(plan.TimeFacts{Read: true}), holds: "the source of the restore has no backup", manual: true},
		"refuses versions of another database":  {given: withTimes(plan.TimeFacts{Foreign: "another one wrote it"}), holds: "another one wrote it", manual: true},
		"waits while the times are unknown":     {given: withTimes(plan.TimeFacts{Unreachable: "timed out"}), holds: "cannot determine which version is of " + when("2026-01-02T11:30:00Z") + ": timed out"},
		"waits while no agent is there":         {given: withTimes(plan.TimeFacts{NotAsked: "no pod is ready"}), holds: "no pod is ready"},
		"leaves a resource alone that is going": {given: changed(timed, func(s *plan.Snapshot) { s.Restore.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} }), holds: "being deleted", manual: true},
	})
	for name, at := range map[string]time.Time{"before the first": stagestest.Noon.Add(-time.Hour), "after the last": stagestest.Noon.Add(time.Second)} {
		t.Run("refuses a time "+name, func(t *testing.T) {
			s := newRestore()
			timed(&s)
			checkDecision(t, setRestoreVersion(at), s, backupRow{holds: rfc3339(at) + " cannot be restored: " + when(span), manual: true})
		})
	}
}

// The latest version has the mistake that a user restores a time for.
func TestRestoreAtStartsOnlyWithTheVersionOfItsTime(t *testing.T) {
	start := "restore everything as of version 2799000000 from " + nightlyURL + " into sample, which is locked until the restore is complete"
	checkRestore(t, startRestoreAt(mistake), map[string]backupRow{
		"starts with the version of the time": {given: chosen(mistake, 2_799_000_000), does: []string{start}},
		"starts nothing before it is set":     {given: timed, holds: "spec.backupVersion is not the version of"},
		"starts nothing of another time":      {given: chosen(mistake.Add(time.Second), 2_799_000_000), holds: "spec.backupVersion is not the version of"},
		"starts nothing that a user has changed since": {
			given: changed(chosen(mistake, 2_799_000_000), restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.BackupVersion = new(uint64(42)) })),
			holds: "spec.backupVersion is not the version of",
		},
		"never overwrites data": {given: changed(chosen(mistake, 2_799_000_000), occupied), holds: "holds data", manual: true},
	})
	names := func(stages []plan.Stage) (all []plan.StageName) {
		for _, s := range stages {
			all = append(all, s.Name)
		}
		return all
	}
	if want := append([]plan.StageName{plan.StageSetRestoreVersion}, names(Restore())...); !slices.Equal(names(RestoreAt(mistake)), want) {
		t.Errorf("stages %v, want %v", names(RestoreAt(mistake)), want)
	}
}
