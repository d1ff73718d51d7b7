package backup

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

const nightlyURL = "blobstore://key@store:443/nightly?bucket=fdb-backups"

// runningBackup returns a continuous backup that matches its resource.
func runningBackup(t *testing.T) plan.Snapshot {
	t.Helper()
	b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "ns", UID: "backup-uid", Generation: 3}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.ImageType = "7.3.79", "sample", new(v1beta2.ImageTypeUnified)
	b.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store"}
	b.Status = v1beta2.FoundationDBBackupStatus{
		AgentCount: 2, DeploymentConfigured: true, Generations: v1beta2.BackupGenerationStatus{Reconciled: 3},
		BackupDetails: &v1beta2.FoundationDBBackupStatusBackupDetails{URL: nightlyURL, Running: true, SnapshotTime: 864000, Restorable: true, Tag: "default"},
	}
	s := plan.Snapshot{Now: stagestest.Noon, Backup: b, OtherBackups: plan.OtherBackupFacts{Read: true}, BackupUse: plan.UseFacts{Read: true}}
	s.BackupStatus.Status = &fdb.BackupStatus{
		Tag: "default", UID: "1", Restorable: new(true), LatestRestorable: &fdb.BackupMoment{Version: 7}, URL: nightlyURL,
		StopAfterSnapshot: new(false), SnapshotSeconds: new(int64(864000)),
	}
	s.BackupStatus.Status.State.Name, s.BackupStatus.Status.State.Running = fdb.BackupDifferential, true
	s.Agents.Deployment = deployed(t, b)
	return s
}

// deployed returns the Deployment of a backup with all agents ready.
func deployed(t *testing.T, b *v1beta2.FoundationDBBackup) *appsv1.Deployment {
	t.Helper()
	d, err := objects.AgentDeployment(b)
	if err != nil {
		t.Fatal(err)
	}
	d.Generation, d.Status = 1, appsv1.DeploymentStatus{ObservedGeneration: 1, ReadyReplicas: 2, UpdatedReplicas: 2, Replicas: 2}
	return d
}

type change = func(*plan.Snapshot)

func changed(all ...change) change {
	return func(s *plan.Snapshot) {
		for _, c := range all {
			c(s)
		}
	}
}

func spec(change func(*v1beta2.FoundationDBBackupSpec)) change {
	return func(s *plan.Snapshot) { change(&s.Backup.Spec) }
}

func state(desired v1beta2.BackupState) change {
	return spec(func(b *v1beta2.FoundationDBBackupSpec) { b.BackupState = desired })
}

func neverRan(s *plan.Snapshot) {
	s.BackupStatus.Status = &fdb.BackupStatus{Tag: "default"}
	s.Backup.Status = v1beta2.FoundationDBBackupStatus{}
}

func hasFinished(s *plan.Snapshot) {
	live := s.BackupStatus.Status
	live.State.Name, live.State.Running, live.StopAfterSnapshot, live.SnapshotSeconds = fdb.BackupCompleted, false, nil, nil
}

// beginning is a backup whose first snapshot is being written.
func beginning(s *plan.Snapshot) {
	live := s.BackupStatus.Status
	live.State.Name, live.Restorable, live.LatestRestorable = fdb.BackupRunning, new(false), nil
}

func toAnotherPlace(s *plan.Snapshot) {
	s.BackupStatus.Status.URL = "blobstore://key@store:443/other?bucket=b"
}

// wasMoved is a backup after its move to the destination of its spec; the database reports the
// same as before.
func wasMoved(s *plan.Snapshot) {
	const former = "blobstore://key@store:443/former?bucket=b"
	live := s.BackupStatus.Status
	live.LatestSnapshotEnd, live.LatestRestorable = &fdb.BackupMoment{Version: 1_000}, &fdb.BackupMoment{Version: 1_600}
	live.Snapshot = &fdb.BackupSnapshot{Begin: fdb.BackupMoment{Version: 1_001}}
	live.URL, s.Backup.Status.BackupDetails.URL = former, former
	note := plan.MoveTo(s.Backup, live, nightlyURL).Note()
	live.URL, s.Backup.Status.BackupDetails.URL = nightlyURL, nightlyURL
	s.Backup.Annotations = map[string]string{plan.AnnotationBackupMove: note}
	s.Backup.Annotations[plan.AnnotationBackupMove] = plan.NoteOfMove(s.Backup, live)
}

// moveIsOver is a move after which two snapshots were completed, with a pass between them.
func moveIsOver(s *plan.Snapshot) {
	wasMoved(s)
	live := s.BackupStatus.Status
	live.LatestSnapshotEnd.Version, live.Snapshot.Begin.Version, live.LatestRestorable.Version = 2_000, 2_001, 2_600
	s.Backup.Annotations[plan.AnnotationBackupMove] = plan.NoteOfMove(s.Backup, live)
	live.LatestSnapshotEnd.Version, live.Snapshot.Begin.Version, live.LatestRestorable.Version = 3_000, 3_001, 3_600
}

// toAnotherTag is the state of a tag without a backup, which the spec now has.
func toAnotherTag(s *plan.Snapshot) {
	s.Backup.Spec.Tag = new(v1beta2.BackupTag("weekly"))
	s.BackupStatus.Status = &fdb.BackupStatus{Tag: "weekly"}
}

func unasked(s *plan.Snapshot) { s.BackupStatus = plan.BackupFacts{NotQueried: "no agent runs"} }

func unmanaged(s *plan.Snapshot) { s.Backup.Spec.BackupType = new(v1beta2.BackupTypeUnmanaged) }

func oneTime(s *plan.Snapshot) { s.Backup.Spec.BackupMode = new(v1beta2.BackupModeOneTime) }

func policy(p v1beta2.BackupDeletionPolicy) change {
	return spec(func(b *v1beta2.FoundationDBBackupSpec) { b.DeletionPolicy = &p })
}

func deleting(s *plan.Snapshot) {
	s.Backup.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon}
	s.Backup.Finalizers = []string{v1beta2.FinalizerBackup}
}

// tooManyTags is the state where not every tag is read: only restores are known.
func tooManyTags(s *plan.Snapshot) {
	s.BackupUse.Read, s.BackupUse.RestoresRead, s.BackupUse.Lasting, s.BackupUse.NotRead = false, true, true, "there are too many tags"
}

// besides adds another resource of the namespace.
func besides(edit func(*v1beta2.FoundationDBBackup)) change {
	return func(s *plan.Snapshot) {
		other := v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "ns"}}
		other.Spec.Version, other.Spec.ClusterName = "7.3.79", "sample"
		other.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store"}
		edit(&other)
		s.OtherBackups.All = append(s.OtherBackups.All, other)
	}
}

// backupRow is the expected decision of one stage about a changed running backup.
type backupRow struct {
	given  change
	does   []string
	holds  string // a part of the reason; "" for none
	manual bool
}

func checkBackup(t *testing.T, stage plan.Stage, rows map[string]backupRow) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s := runningBackup(t)
			row.given(&s)
			checkDecision(t, stage, s, row)
		})
	}
}

func checkDecision(t *testing.T, stage plan.Stage, s plan.Snapshot, row backupRow) {
	t.Helper()
	all := plan.Everything | plan.EverythingOfBackups
	d := stage.Decide(s.Without(all &^ stage.Facets(s)))
	var does []string
	for _, a := range d.Actions {
		does = append(does, a.Describe())
	}
	if diff := cmp.Diff(row.does, does); diff != "" {
		t.Errorf("does (-want +got):\n%s", diff)
	}
	switch {
	case row.holds == "" && d.Hold != nil:
		t.Errorf("holds: %s", d.Hold.Text())
	case row.holds != "" && (d.Hold == nil || !strings.Contains(d.Hold.Text(), row.holds) || d.Hold.Manual != row.manual):
		t.Errorf("holds: %+v", d.Hold)
	}
	stagestest.Explained(t, d)
}

func same(*plan.Snapshot) {}

func reportedToEnd(s *plan.Snapshot) { s.BackupStatus.Status.StopAfterSnapshot = new(true) }

func notRestorable(s *plan.Snapshot) {
	s.BackupStatus.Status.Restorable, s.BackupStatus.Status.LatestRestorable = new(false), nil
}

func TestStartBackup(t *testing.T) {
	const to = "start a backup on tag default to " + nightlyURL + ": "
	const start, once = to + "continuous, a snapshot every 240h0m0s, not encrypted", to + "one snapshot, not encrypted"
	checkBackup(t, startBackup, map[string]backupRow{
		"leaves a running backup alone":                   {given: same},
		"starts one that never ran":                       {given: neverRan, does: []string{start}, holds: "not restorable before"},
		"starts one that is to be paused":                 {given: changed(neverRan, state(v1beta2.BackupStatePaused)), does: []string{start}, holds: "not restorable"},
		"starts one again that ended":                     {given: hasFinished, does: []string{start}, holds: "not restorable"},
		"does not start one that is stopped":              {given: changed(neverRan, state(v1beta2.BackupStateStopped))},
		"starts one snapshot once":                        {given: changed(neverRan, oneTime), does: []string{once}, holds: "not restorable"},
		"does not repeat one snapshot":                    {given: changed(hasFinished, oneTime)},
		"waits while the state is unknown":                {given: unasked, holds: "cannot determine whether the backup runs: no agent runs"},
		"leaves an unmanaged backup alone":                {given: changed(neverRan, unmanaged)},
		"leaves a record alone that is deleted":           {given: changed(neverRan, deleting)},
		"waits for the end of one that was stopped":       {given: reportedToEnd, holds: "another one starts after that"},
		"does not wait for the end of one that is paused": {given: changed(reportedToEnd, state(v1beta2.BackupStatePaused))},
		"leaves one snapshot to its end":                  {given: changed(reportedToEnd, notRestorable, oneTime)},
		"waits while the tag is another's":                {given: toAnotherPlace, holds: "neither in the spec nor in the status", manual: true},
		"takes no snapshot of another for its own": {given: changed(hasFinished, oneTime, toAnotherPlace, func(s *plan.Snapshot) {
			s.Backup.Status.BackupDetails = nil
		}), does: []string{once}, holds: "not restorable"},
		"never makes a URL with a header": {given: changed(neverRan, spec(func(b *v1beta2.FoundationDBBackupSpec) {
			b.BlobStoreConfiguration.URLParameters = []v1beta2.URLParameter{"header=Authorization:Bearer-hunter2"}
		})), holds: "the account must not have a secret, and parameters must not set a header", manual: true},
		"never makes a URL with a secret":         {given: changed(neverRan, spec(func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.AccountName = "key:hunter2@store" })), holds: "the account must not have a secret", manual: true},
		"does not make an encrypted backup plain": {given: changed(neverRan, spec(func(b *v1beta2.FoundationDBBackupSpec) { b.Version, b.EncryptionKeyPath = "7.3.60", "/key" })), holds: "cannot encrypt backups", manual: true},
	})
}

func TestStopBackup(t *testing.T) {
	stopped := state(v1beta2.BackupStateStopped)
	checkBackup(t, stopBackup, map[string]backupRow{
		"leaves a backup alone that should run": {given: same},
		"ends one that should not":              {given: stopped, does: []string{"end the backup on tag default once it is restorable"}},
		"does nothing once it has ended":        {given: changed(stopped, hasFinished)},
		"does nothing twice":                    {given: changed(stopped, func(s *plan.Snapshot) { s.BackupStatus.Status.StopAfterSnapshot = new(true) }), holds: "ends once it is restorable"},
		"warns that nothing can be restored after a move": {given: changed(stopped, wasMoved), does: []string{
			"end the backup on tag default before it is restorable from its destination: it was moved to " + nightlyURL +
				" and is not restorable from there before a full snapshot that began after the move is complete, even if the database reports it restorable; " +
				"no such snapshot has begun yet; data from before the move is at blobstore://key@store:443/former?bucket=b",
		}},
		"ends one whose move is over":                {given: changed(stopped, moveIsOver), does: []string{"end the backup on tag default once it is restorable"}},
		"waits for the only snapshot after a move":   {given: changed(oneTime, wasMoved, func(s *plan.Snapshot) { s.Backup.Status.BackupDetails.Restorable = false })},
		"ends a move that has the snapshot it is to": {given: changed(oneTime, moveIsOver), does: []string{"end the backup on tag default once it is restorable"}},
		"never ends the backup of another record":    {given: changed(stopped, toAnotherPlace), holds: "neither in the spec nor in the status", manual: true},
		"ends one at its last place": {given: changed(stopped, toAnotherPlace, func(s *plan.Snapshot) {
			s.Backup.Status.BackupDetails.URL = s.BackupStatus.Status.URL
		}), does: []string{"end the backup on tag default once it is restorable"}},
		"waits while the state is unknown": {given: changed(stopped, unasked), holds: "cannot determine whether the backup runs"},
	})
}

func TestToggleBackupPaused(t *testing.T) {
	paused := func(s *plan.Snapshot) { s.BackupStatus.Status.AgentsPaused = true }
	checkBackup(t, toggleBackupPaused, map[string]backupRow{
		"leaves running agents alone": {given: same},
		"pauses":                      {given: state(v1beta2.BackupStatePaused), does: []string{"pause all backup agents of the database"}},
		"pauses once":                 {given: changed(state(v1beta2.BackupStatePaused), paused)},
		"resumes":                     {given: paused, does: []string{"resume all backup agents of the database"}},
		"resumes for a restore into a stopped backup": {given: changed(paused, state(v1beta2.BackupStateStopped)), does: []string{"resume all backup agents of the database"}},
		"leaves an unmanaged backup alone":            {given: changed(paused, unmanaged)},
	})
}

// One switch is for all agents of a database: two resources with different states would toggle
// it continuously, and the running one would fall behind.
func TestBackupsOfAClusterMustAgreeToPauseAgents(t *testing.T) {
	paused := func(s *plan.Snapshot) { s.BackupStatus.Status.AgentsPaused = true }
	other := func(state v1beta2.BackupState, edits ...func(*v1beta2.FoundationDBBackup)) change {
		return besides(func(b *v1beta2.FoundationDBBackup) {
			b.Spec.ClusterName, b.Spec.BackupState = "sample", state
			for _, edit := range edits {
				edit(b)
			}
		})
	}
	toPause, goOn := []string{"pause all backup agents of the database"}, []string{"resume all backup agents of the database"}
	asksToPause := state(v1beta2.BackupStatePaused)
	checkBackup(t, toggleBackupPaused, map[string]backupRow{
		"no pause while another is to run":      {given: changed(asksToPause, other(v1beta2.BackupStateRunning)), holds: "FoundationDBBackup other is Running", manual: true},
		"nor where another has no state":        {given: changed(asksToPause, other("")), holds: "set both to the same state", manual: true},
		"no end of another's pause":             {given: changed(paused, other(v1beta2.BackupStatePaused)), holds: "FoundationDBBackup other is Paused", manual: true},
		"one that stopped leaves it as it is":   {given: changed(paused, state(v1beta2.BackupStateStopped), other(v1beta2.BackupStatePaused))},
		"a pause that both ask for":             {given: changed(asksToPause, other(v1beta2.BackupStatePaused)), does: toPause},
		"one that stopped does not matter":      {given: changed(asksToPause, other(v1beta2.BackupStateStopped)), does: toPause},
		"nor one that is invalid and never ran": {given: changed(asksToPause, other(v1beta2.BackupStateRunning, func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "my-bucket" })), does: toPause},
		"nor one of another cluster":            {given: changed(asksToPause, other(v1beta2.BackupStateRunning, func(b *v1beta2.FoundationDBBackup) { b.Spec.ClusterName = "c2" })), does: toPause},
		"nor one that goes":                     {given: changed(paused, other(v1beta2.BackupStatePaused, func(b *v1beta2.FoundationDBBackup) { b.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} })), does: goOn},
		"nothing while others are unknown": {given: changed(asksToPause, func(s *plan.Snapshot) {
			s.OtherBackups = plan.OtherBackupFacts{NotRead: "forbidden"}
		}), holds: "unknown: forbidden", manual: true},
	})
}

func TestModifyBackup(t *testing.T) {
	hourly := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.SnapshotPeriodSeconds = new(3600) })
	moved := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.Bucket = "archive" })
	emptyKey := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.AccountName = "@store" })
	const there = "blobstore://key@store:443/nightly?bucket=archive"
	checkBackup(t, modifyBackup, map[string]backupRow{
		"leaves a backup alone that matches the spec": {given: same},
		"changes the period":                          {given: hourly, does: []string{"change the backup on tag default: a snapshot every 1h0m0s"}},
		"moves it":                                    {given: moved, does: []string{"change the backup on tag default: a snapshot every 240h0m0s, to " + there + ", not encrypted; not restorable from there before the next full snapshot is complete"}, holds: "a complete snapshot that began after the move"},
		"leaves one snapshot alone":                   {given: changed(hourly, oneTime)},
		"leaves one alone that ended":                 {given: changed(moved, hasFinished)},
		"waits until an agent has taken it up":        {given: changed(hourly, func(s *plan.Snapshot) { s.BackupStatus.Status.SnapshotSeconds = nil })},
		"never moves the backup of another record":    {given: toAnotherPlace, holds: "neither in the spec nor in the status", manual: true},
		"keeps a backup with an empty key where the operator started it": {given: changed(emptyKey, func(s *plan.Snapshot) {
			s.BackupStatus.Status.URL = "blobstore://@store:443/nightly?bucket=fdb-backups"
		})},
		"signs what an empty key left unsigned": {given: changed(emptyKey, func(s *plan.Snapshot) {
			s.BackupStatus.Status.URL = "blobstore://store:443/nightly?bucket=fdb-backups"
			s.Backup.Status.BackupDetails.URL = s.BackupStatus.Status.URL
		}), does: []string{"change the backup on tag default: a snapshot every 240h0m0s, to blobstore://@store:443/nightly?bucket=fdb-backups, not encrypted; not restorable from there before the next full snapshot is complete"}, holds: "a complete snapshot that began after the move"},
		"does not care for the order of parameters": {given: changed(spec(func(b *v1beta2.FoundationDBBackupSpec) {
			b.BlobStoreConfiguration.URLParameters = []v1beta2.URLParameter{"region=eu"}
		}), func(s *plan.Snapshot) {
			s.BackupStatus.Status.URL = "blobstore://key@store:443/nightly?region=eu&bucket=fdb-backups"
		})},
	})
}

// Two backups in one destination cannot be distinguished when one of them is restored.
func TestNoBackupUsesTheDestinationOfAnotherResource(t *testing.T) {
	moved := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.Bucket = "archive" })
	hourly := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.SnapshotPeriodSeconds = new(3600) })
	other := func(bucket string, edits ...func(*v1beta2.FoundationDBBackup)) change {
		return besides(func(b *v1beta2.FoundationDBBackup) {
			b.Spec.BlobStoreConfiguration.Bucket, b.Spec.BlobStoreConfiguration.BackupName = bucket, "nightly"
			for _, edit := range edits {
				edit(b)
			}
		})
	}
	stopped := func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped }
	removed := func(b *v1beta2.FoundationDBBackup) { b.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} }
	ending := func(b *v1beta2.FoundationDBBackup) {
		b.Status.BackupDetails = &v1beta2.FoundationDBBackupStatusBackupDetails{URL: nightlyURL, Running: true}
	}
	invalid := func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "my-bucket" }
	start := []string{"start a backup on tag default to " + nightlyURL + ": continuous, a snapshot every 240h0m0s, not encrypted"}
	const taken, restorable = "FoundationDBBackup other does, or may; set another destination", "not restorable"
	t.Run("start", func(t *testing.T) {
		checkBackup(t, startBackup, map[string]backupRow{
			"waits where another's is to run":                 {given: changed(neverRan, other("")), holds: taken, manual: true},
			"waits where another's still runs":                {given: changed(neverRan, other("", stopped, ending)), holds: taken, manual: true},
			"waits where an invalid one still runs":           {given: changed(neverRan, other("", invalid, ending)), holds: "does, or may (its spec is invalid)", manual: true},
			"is not blocked by an invalid one that never ran": {given: changed(neverRan, other("", invalid)), does: start, holds: restorable},
			"waits while others cannot be read":               {given: changed(neverRan, othersUnread), holds: "unknown: forbidden", manual: true},
			"takes the place of one that is stopped":          {given: changed(neverRan, other("", stopped)), does: start, holds: restorable},
			"takes the place of one that is deleted":          {given: changed(neverRan, other("", removed)), does: start, holds: restorable},
			"does not care for other buckets":                 {given: changed(neverRan, other("b2")), does: start, holds: restorable},
		})
	})
	t.Run("move", func(t *testing.T) {
		checkBackup(t, modifyBackup, map[string]backupRow{
			"waits where another's is to run":   {given: changed(moved, other("archive")), holds: taken, manual: true},
			"waits while others cannot be read": {given: changed(moved, othersUnread), holds: "unknown: forbidden", manual: true},
			"changes the period all the same":   {given: changed(hourly, other(""), othersUnread), does: []string{"change the backup on tag default: a snapshot every 1h0m0s"}},
		})
	})
}

func TestCarryOutDeletion(t *testing.T) {
	const add, remove = "add the finalizer to FoundationDBBackup nightly", "remove the finalizer from FoundationDBBackup nightly"
	abort := "abort the backup on tag default"
	stop, cleanup := policy(v1beta2.BackupDeletionPolicyStop), policy(v1beta2.BackupDeletionPolicyCleanup)
	kept := func(s *plan.Snapshot) { s.Backup.Finalizers = []string{v1beta2.FinalizerBackup} }
	checkBackup(t, carryOutDeletion, map[string]backupRow{
		"needs nothing to leave a backup alone":    {given: same},
		"takes a finalizer off that is not needed": {given: kept, does: []string{remove}},
		"keeps what is to be stopped":              {given: stop, does: []string{add}},
		"keeps what is to be deleted":              {given: cleanup, does: []string{add}},
		"does not keep what others look after":     {given: changed(cleanup, kept, unmanaged), does: []string{remove}},
		"adds nothing while the record is deleted": {given: changed(stop, deleting, func(s *plan.Snapshot) { s.Backup.Finalizers = nil })},
		"aborts before it forgets":                 {given: changed(stop, deleting), does: []string{abort}, holds: "until its backup has ended"},
		"aborts before it deletes data":            {given: changed(cleanup, deleting), does: []string{abort}, holds: "until its backup has ended"},
		"forgets what has ended":                   {given: changed(stop, deleting, hasFinished), does: []string{remove}},
		"requires agents where the spec has none": {
			given: changed(cleanup, deleting, unasked, spec(func(b *v1beta2.FoundationDBBackupSpec) { b.AgentCount = new(0) })),
			holds: "spec.agentCount is 0; set it to 1", manual: true,
		},
		"deletes nothing after a change of the tag": {
			given: changed(cleanup, deleting, toAnotherTag), holds: "last observed on tag default, where it may still run", manual: true,
		},
		"keeps the record after a change of the tag": {
			given: changed(stop, deleting, toAnotherTag), holds: "set spec.tag to default", manual: true,
		},
		"forgets what never ran":               {given: changed(stop, deleting, neverRan), does: []string{remove}},
		"deletes the data of what has ended":   {given: changed(cleanup, deleting, hasFinished), does: []string{"delete all data of the backup at " + nightlyURL + ", then remove the finalizer from FoundationDBBackup nightly"}},
		"deletes nothing where it never wrote": {given: changed(cleanup, deleting, neverRan), holds: "no backup of this resource was ever observed", manual: true},
		"deletes nothing at a place that was edited": {given: changed(cleanup, deleting, hasFinished, spec(func(b *v1beta2.FoundationDBBackupSpec) {
			b.BlobStoreConfiguration.BackupName = "prod"
		})), holds: "its last observed destination is " + nightlyURL, manual: true},
		"deletes nothing at a place that another record names": {given: changed(cleanup, deleting, hasFinished, besides(func(b *v1beta2.FoundationDBBackup) {
			b.Spec.BlobStoreConfiguration.BackupName = "nightly"
		})), holds: "FoundationDBBackup other does", manual: true},
		"deletes nothing where another record was seen": {given: changed(cleanup, deleting, hasFinished, besides(func(b *v1beta2.FoundationDBBackup) {
			b.Status.BackupDetails = &v1beta2.FoundationDBBackupStatusBackupDetails{URL: nightlyURL}
		})), holds: "FoundationDBBackup other does", manual: true},
		"deletes nothing while others cannot be read": {given: changed(cleanup, deleting, hasFinished, func(s *plan.Snapshot) {
			s.OtherBackups = plan.OtherBackupFacts{NotRead: "forbidden"}
		}), holds: "unknown: forbidden", manual: true},
		"deletes data beside records of other places":    {given: changed(cleanup, deleting, hasFinished, besides(func(*v1beta2.FoundationDBBackup) {})), does: []string{"delete all data of the backup at " + nightlyURL + ", then remove the finalizer from FoundationDBBackup nightly"}},
		"deletes nothing while the state is unknown":     {given: changed(cleanup, deleting, unasked), holds: "cannot determine whether its backup runs"},
		"never aborts the backup of another record":      {given: changed(cleanup, deleting, toAnotherPlace), holds: "neither in the spec nor in the status", manual: true},
		"lets go of a backup that is to be left running": {given: deleting, does: []string{remove}},
	})
}

// The deletion of a resource keeps what is still in use: the data of a restore that reads it,
// and the agents of one that has no others.
func TestABackupDeletionWaitsWhileItsDataOrAgentsAreInUse(t *testing.T) {
	const remove, place = "remove the finalizer from FoundationDBBackup nightly", "blobstore://key@store:443/elsewhere?bucket=b"
	stop, cleanup := policy(v1beta2.BackupDeletionPolicyStop), policy(v1beta2.BackupDeletionPolicyCleanup)
	wipe := "delete all data of the backup at " + nightlyURL + ", then " + remove
	ended := changed(deleting, hasFinished)
	writing := func(s *plan.Snapshot) {
		s.BackupUse.Backups = []fdb.BackupStatus{{Tag: "by-hand", URL: nightlyURL}}
	}
	agents := func(cluster string, edits ...func(*v1beta2.FoundationDBBackup)) change {
		return besides(func(b *v1beta2.FoundationDBBackup) {
			b.Spec.ClusterName, b.Status.AgentCount = cluster, 2
			for _, edit := range edits {
				edit(b)
			}
		})
	}
	removed := func(b *v1beta2.FoundationDBBackup) { b.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} }
	none := func(b *v1beta2.FoundationDBBackup) { b.Status.AgentCount = 0 }
	checkBackup(t, carryOutDeletion, map[string]backupRow{
		"deletes nothing that a restore reads":         {given: changed(cleanup, ended, agents("sample"), restoringFrom(nightlyURL)), holds: "the restore on tag default is running"},
		"deletes nothing that another tag writes":      {given: changed(cleanup, ended, writing), holds: "the backup on tag by-hand does"},
		"deletes nothing while uses are unknown":       {given: changed(cleanup, ended, agents("sample"), useUnread), holds: "unknown: timed out"},
		"deletes data beside a restore from elsewhere": {given: changed(cleanup, ended, agents("sample"), restoringFrom(place)), does: []string{wipe}},
		"keeps the last agents with cleanup":           {given: changed(cleanup, ended, restoringFrom(place)), holds: "the resource and its agents stay"},
		"keeps the last agents with stop":              {given: changed(stop, ended, restoringFrom(place)), holds: "the resource and its agents stay"},
		"keeps agents while restores are unknown":      {given: changed(stop, ended, useUnread), holds: "cannot determine whether a restore runs: timed out"},
		"deletes nothing where uses stay unknown":      {given: changed(cleanup, ended, agents("sample"), tooManyTags), holds: "there are too many tags", manual: true},
		"names a restore from there before its many tags": {
			given: changed(cleanup, ended, agents("sample"), restoringFrom(nightlyURL), tooManyTags), holds: "the restore on tag default is running", manual: true,
		},
		"lets a record go without asking its many tags":   {given: changed(stop, ended, tooManyTags), does: []string{remove}},
		"keeps the last agents beside many tags":          {given: changed(stop, ended, restoringFrom(place), tooManyTags), holds: "those of other namespaces are unknown"},
		"counts no agents of another cluster":             {given: changed(stop, ended, agents("c2"), restoringFrom(place)), holds: "the resource and its agents stay"},
		"counts no agents of a record that goes":          {given: changed(stop, ended, agents("sample", removed), restoringFrom(place)), holds: "the resource and its agents stay"},
		"counts no agents that are not ready":             {given: changed(stop, ended, agents("sample", none), restoringFrom(place)), holds: "the resource and its agents stay"},
		"lets the record go where others have agents":     {given: changed(stop, ended, agents("sample"), restoringFrom(place)), does: []string{remove}},
		"reads no uses of a resource that is not deleted": {given: changed(stop, useUnread), does: []string{"add the finalizer to FoundationDBBackup nightly"}},
	})
}

func TestUpdateBackupStatus(t *testing.T) {
	checkBackup(t, updateBackupStatus, map[string]backupRow{
		"writes nothing twice":                               {given: same},
		"records what runs":                                  {given: func(s *plan.Snapshot) { s.Backup.Status.BackupDetails = nil }, does: []string{"update status: running: true; restorable: true; a snapshot every 864000 s; destination: " + nightlyURL}},
		"records that it ended":                              {given: changed(hasFinished, state(v1beta2.BackupStateStopped)), does: []string{"update status: running: false; a snapshot every 0 s"}},
		"records agents":                                     {given: func(s *plan.Snapshot) { s.Agents.Deployment.Status.ReadyReplicas = 1 }, does: []string{"update status: 1 agent ready"}},
		"records a new generation":                           {given: func(s *plan.Snapshot) { s.Backup.Generation = 4 }, does: []string{"update status: generation 4 reconciled"}},
		"reaches no generation while it waits for something": {given: changed(func(s *plan.Snapshot) { s.Backup.Generation = 4 }, state(v1beta2.BackupStateStopped)), does: []string{"update status: what the spec waits for"}},
		"keeps the last known state of the backup":           {given: unasked, holds: "the last known state of the backup"},
		"records no secret": {given: func(s *plan.Snapshot) {
			s.BackupStatus.Status.URL = strings.Replace(nightlyURL, "key@", "key:hunter2@", 1)
		}, does: []string{"update status: destination: " + strings.Replace(nightlyURL, "key@", "key:…@", 1)}},
		"ends the pass when the tag changed": {given: spec(func(b *v1beta2.FoundationDBBackupSpec) { b.Tag = new(v1beta2.BackupTag("other")) }), holds: "a tag cannot be changed", manual: true},
		"never records what is another's": {given: changed(toAnotherPlace, func(s *plan.Snapshot) {
			s.Backup.Status.BackupDetails, s.Backup.Status.Generations = nil, v1beta2.BackupGenerationStatus{Reconciled: 2, NeedsBackupStart: 3, NeedsBackupModification: 3}
		}), holds: "neither in the spec nor in the status", manual: true},
		"keeps its own place beside another's": {given: toAnotherPlace, does: []string{"update status: running: false; a snapshot every 0 s"}, holds: "neither in the spec", manual: true},
		"waits for the first snapshot":         {given: beginning, does: []string{"update status: restorable: false"}, holds: "before its first snapshot is written"},
		"reports what prevents it": {given: changed(beginning, func(s *plan.Snapshot) {
			s.BackupStatus.Errors = []string{"'Platform error'"}
		}), does: []string{"update status: restorable: false"}, holds: "errors of agents: 'Platform error'"},
		"waits for the only snapshot":       {given: changed(beginning, oneTime), does: []string{"update status: restorable: false"}, holds: "before its first snapshot is written"},
		"waits for a snapshot after a move": {given: wasMoved, does: []string{"update status: restorable: false"}, holds: "no such snapshot has begun yet"},
		"notes how far a move is": {given: changed(wasMoved, func(s *plan.Snapshot) {
			s.BackupStatus.Status.Snapshot.Begin.Version = 2_001
		}), does: []string{"update status: restorable: false; progress of its move"}, holds: "that snapshot is being written"},
		"notes a move without a note": {given: changed(wasMoved, func(s *plan.Snapshot) {
			s.Backup.Annotations, s.Backup.Status.BackupDetails.URL = nil, "blobstore://key@store:443/former?bucket=b"
		}), does: []string{"update status: restorable: false; destination: " + nightlyURL + "; progress of its move"}, holds: "data from before the move is at blobstore://key@store:443/former"},
		"forgets a move that is over":           {given: moveIsOver, does: []string{"update status: its move is over"}},
		"forgets no move without an answer":     {given: changed(wasMoved, unasked), holds: "the last known state of the backup"},
		"forgets no move beside another's":      {given: changed(wasMoved, toAnotherPlace, func(s *plan.Snapshot) { s.BackupStatus.Status.UID = "2" }), does: []string{"update status: running: false; a snapshot every 0 s"}, holds: "neither in the spec", manual: true},
		"waits for no snapshot while it pauses": {given: changed(beginning, state(v1beta2.BackupStatePaused)), does: []string{"update status: restorable: false"}},
		"waits for no snapshot of an unmanaged": {given: changed(beginning, unmanaged), does: []string{"update status: restorable: false"}},
		"leaves a record alone that goes":       {given: changed(deleting, func(s *plan.Snapshot) { s.Backup.Status = v1beta2.FoundationDBBackupStatus{} })},
	})
}

func TestUpdateBackupAgents(t *testing.T) {
	none := func(s *plan.Snapshot) { s.Agents.Deployment = nil }
	noneDesired := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.AgentCount = new(0) })
	more := spec(func(b *v1beta2.FoundationDBBackupSpec) { b.AgentCount = new(5) })
	failed := func(age time.Duration) change {
		return func(s *plan.Snapshot) {
			s.Agents.Deployment.Status.ReadyReplicas = 1
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "agent", Labels: objects.AgentLabels(s.Backup), CreationTimestamp: metav1.Time{Time: stagestest.Noon.Add(-age)}}}
			pod.Status.Phase = corev1.PodFailed
			s.Agents.Pods = map[string]*corev1.Pod{"agent": pod}
		}
	}
	checkBackup(t, updateBackupAgents, map[string]backupRow{
		"leaves agents alone that match the spec": {given: same},
		"creates them":                                            {given: none, does: []string{"create Deployment nightly-backup-agents with 2 agents"}, holds: "no agent runs yet"},
		"creates none where the spec has none":                    {given: changed(none, noneDesired)},
		"deletes them where the spec has none":                    {given: noneDesired, does: []string{"delete Deployment nightly-backup-agents: no agents are desired"}},
		"scales them":                                             {given: more, does: []string{"update Deployment nightly-backup-agents with 5 agents"}, holds: "the agents restart"},
		"reverts a manual change of the scale":                    {given: func(s *plan.Snapshot) { s.Agents.Deployment.Spec.Replicas = new(int32(9)) }, does: []string{"update Deployment nightly-backup-agents with 2 agents"}, holds: "the agents restart"},
		"leaves labels of others alone":                           {given: func(s *plan.Snapshot) { s.Agents.Deployment.Labels["other"] = "x" }},
		"leaves those of a deleted record as they are":            {given: changed(deleting, more)},
		"creates those that carry out a deletion":                 {given: changed(deleting, none), does: []string{"create Deployment nightly-backup-agents with 2 agents"}, holds: "no agent runs yet"},
		"creates none for a deleted resource without a finalizer": {given: changed(deleting, none, func(s *plan.Snapshot) { s.Backup.Finalizers = nil })},
		"waits for agents":                                        {given: func(s *plan.Snapshot) { s.Agents.Deployment.Status.ReadyReplicas = 1 }, holds: "1 of 2 agents ready"},
		"deletes a pod that has ended":                            {given: failed(time.Minute), does: []string{"delete terminated pod agent"}, holds: "1 of 2"},
		"leaves a pod that just ended":                            {given: failed(time.Second), holds: "1 of 2"},
		"never takes the deployment of others":                    {given: func(s *plan.Snapshot) { s.Agents.Deployment.OwnerReferences = nil }, holds: "does not belong to this backup", manual: true},
		"keeps agents while the record goes":                      {given: changed(noneDesired, deleting)},
		"looks after unmanaged agents too":                        {given: changed(none, unmanaged), does: []string{"create Deployment nightly-backup-agents with 2 agents"}, holds: "no agent runs yet"},
	})
}

func TestBackupStagesArePureAndReadOnlyDeclaredFacets(t *testing.T) {
	changes := []change{
		same, neverRan, hasFinished, toAnotherPlace, unasked, unmanaged, oneTime, deleting, state(v1beta2.BackupStatePaused), state(v1beta2.BackupStateStopped),
		policy(v1beta2.BackupDeletionPolicyStop), policy(v1beta2.BackupDeletionPolicyCleanup),
	}
	all := plan.Everything | plan.EverythingOfBackups
	for _, first := range changes {
		for _, second := range changes {
			given := func() plan.Snapshot {
				s := runningBackup(t)
				first(&s)
				if s.BackupStatus.Status != nil {
					second(&s)
				}
				return s
			}
			s := given()
			for _, stage := range Backup() {
				if diff := cmp.Diff(stage.Decide(s), stage.Decide(s.Without(all&^stage.Facets(s)))); diff != "" {
					t.Errorf("%s looked past what it reads: %s", stage.Name, diff)
				}
			}
			if diff := cmp.Diff(given(), s); diff != "" {
				t.Errorf("a stage changed the snapshot: %s", diff)
			}
		}
	}
}

// A stopped backup runs until its end: a backup requested again must be started after that.
func TestABackupThatIsEndingIsNotReconciled(t *testing.T) {
	s := runningBackup(t)
	if got := OutstandingOfBackup(s); len(got) > 0 {
		t.Errorf("of one that matches the spec: %q", got)
	}
	reportedToEnd(&s)
	if got := OutstandingOfBackup(s); len(got) != 1 || got[0] != endsUnrequestedReason {
		t.Errorf("got %q", got)
	}
	checkDecision(t, updateBackupStatus, s, backupRow{does: []string{"update status: what the spec waits for"}})
	if d := updateBackupStatus.Decide(s); d.Actions[0].(plan.WriteBackupStatus).Status.Generations.NeedsBackupStart != s.Backup.Generation {
		t.Errorf("the status does not record that it waits for a start: %+v", d.Actions[0])
	}
}
