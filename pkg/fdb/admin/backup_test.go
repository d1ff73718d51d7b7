package admin_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

const nightly = "blobstore://key@store:9000/nightly?bucket=fdb-backups&region=eu"

var seven = fdb.Version{Major: 7, Minor: 3, Patch: 79}

// agentPod runs tools as a pod of backup agents does, and keeps the command lines.
type agentPod struct {
	simulated
	argv *[][]string
}

func (p agentPod) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	*p.argv = append(*p.argv, c.Argv)
	var stdout, stderr bytes.Buffer
	exitCode := p.cluster.RunCommand(ctx, admin.Wrapped(c), fdbsim.Tool{
		Version: "7.3.79", Files: p.files, Stdout: &stdout, Stderr: &stderr, Env: agentEnv(),
	})
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exitCode}, nil
}

func agentEnv() map[string]string {
	return map[string]string{"FDB_CLUSTER_FILE": fdb.BackupClusterFile, "FDB_BLOB_CREDENTIALS": "/credentials"}
}

// site is a database with agents, a store, and a client for backups.
type site struct {
	*fdbsim.Simulation
	backups *admin.Backups
	cli     *admin.FDBCLI
	pod     agentPod
}

func newSite(t *testing.T) site {
	t.Helper()
	cluster, files := newSimulation(t)
	cli := newSimulatedCLI(cluster, simulated{cluster, files})
	if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(time.Minute)
	cluster.AddBlobStore(fdbsim.BlobStore{Host: "store:9000", Secrets: map[string]string{"key": "hunter2"}, Buckets: []string{"fdb-backups"}})
	files.contents["/credentials"] = `{"accounts":{"key@store":{"secret":"hunter2"}}}`
	if agent, exit := cluster.StartBackupAgent(fdbsim.Tool{Name: "backup_agent", Version: "7.3.79", Files: files, Env: agentEnv()}); agent == nil {
		t.Fatalf("the agent ended with %d", exit)
	}
	pod := agentPod{simulated{cluster, files}, &[][]string{}}
	return site{cluster, admin.NewBackups(pod, []string{"knob_http_verbose_level=2", "locality_data_hall=x"}), cli, pod}
}

func (s site) fill(t *testing.T, line string) {
	t.Helper()
	r, err := s.pod.simulated.Run(t.Context(), admin.Command{
		Argv: []string{"fdbcli", "-C", admin.LiveClusterFile, "--exec", line}, Limit: time.Minute,
	})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %+v %v", line, r, err)
	}
}

func TestFdbbackupStartsModifiesPausesResumesAndStopsABackup(t *testing.T) {
	s := newSite(t)
	start := fdb.BackupStart{URL: nightly, Tag: "nightly", Continuous: true, Period: time.Hour}
	if err := s.backups.Start(t.Context(), start, seven); err != nil {
		t.Fatal(err)
	}
	if err := s.backups.Start(t.Context(), start, seven); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("a second backup on the tag: %v", err)
	}
	s.Advance(time.Minute)
	moved := strings.Replace(nightly, "nightly", "moved", 1)
	for what, err := range map[string]error{
		"modify": s.backups.Modify(t.Context(), fdb.BackupChange{Tag: "nightly", Period: 2 * time.Hour, URL: moved}),
		"pause":  s.backups.Pause(t.Context(), "nightly"),
		"again":  s.backups.Pause(t.Context(), "nightly"),
		"resume": s.backups.Resume(t.Context(), "nightly"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	status, err := s.backups.Status(t.Context(), "nightly")
	if err != nil || !status.CanBeRestored() || status.URL != moved || *status.SnapshotSeconds != 7200 {
		t.Errorf("%+v, %v", status, err)
	}
	if err := s.backups.Discontinue(t.Context(), "nightly"); err != nil {
		t.Error(err)
	}
	if status, err := s.backups.Status(t.Context(), "nightly"); err != nil || status.State.Name != fdb.BackupCompleted {
		t.Errorf("%+v, %v", status, err)
	}
	if err := s.backups.Abort(t.Context(), "none"); err != nil {
		t.Errorf("what is not there is aborted: %v", err)
	}
}

// unnoted is for starts that are not recorded.
func unnoted() error { return nil }

func TestClearedKeysAreRestoredAndRestoresOverDataAreRefused(t *testing.T) {
	s := newSite(t)
	s.fill(t, "writemode on; set greeting hello")
	if err := s.backups.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default"}, seven); err != nil {
		t.Fatal(err)
	}
	s.Advance(time.Minute)
	refused := s.backups.StartRestore(t.Context(), fdb.RestoreStart{URL: nightly}, unnoted)
	if admin.KindOf(refused) != admin.KindRefused || !strings.Contains(refused.Error(), "non-empty destination database") {
		t.Errorf("into a database with data: %v", refused)
	}
	s.fill(t, `writemode on; clearrange "" \xff`)
	if err := s.backups.StartRestore(t.Context(), fdb.RestoreStart{URL: nightly}, unnoted); err != nil {
		t.Fatal(err)
	}
	if err := s.backups.StartRestore(t.Context(), fdb.RestoreStart{URL: nightly}, unnoted); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("a second restore: %v", err)
	}
	s.Advance(time.Minute)
	all, err := s.backups.Restores(t.Context())
	if err != nil || len(all) != 1 || all[0].State != fdb.RestoreCompleted {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestBackupStartFailuresAreReportedAsOneClearError(t *testing.T) {
	tests := map[string]struct {
		url  string
		kind admin.Kind
		text string
	}{
		"a store that never answers": {strings.Replace(nightly, "@store:", "@nowhere:", 1), admin.KindStoreUnresponsive, "no response from the store within 45s, while the database responds; blobstore://"},
		"a bucket that is not there": {strings.Replace(nightly, "fdb-backups", "none", 1), admin.KindStoreUnresponsive, "no response from the store within 45s, while the database responds; blobstore://"},
		"a wrong key":                {strings.Replace(nightly, "key@", "other@", 1), admin.KindStoreUnresponsive, "no response from the store within 45s, while the database responds; blobstore://"},
		"no region":                  {strings.Replace(nightly, "&region=eu", "", 1), admin.KindRefused, "as region=NAME"},
		"a secret in the URL":        {strings.Replace(nightly, "key@", "key:hunter2@", 1), admin.KindBadInput, "the account must not have a secret"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			err := s.backups.Start(t.Context(), fdb.BackupStart{URL: tt.url, Tag: "default"}, seven)
			if admin.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %s: %v", admin.KindOf(err), err)
			}
			if status, err := s.backups.Status(t.Context(), "default"); err != nil || status.Known() {
				t.Errorf("a backup is there: %+v, %v", status, err)
			}
		})
	}
}

func TestBackupURLsWithSecretsAreNeverPassedAsArguments(t *testing.T) {
	s := newSite(t)
	secret := strings.Replace(nightly, "key@", "key:hunter2@", 1)
	_, deleting := s.backups.DeleteData(t.Context(), secret, time.Hour)
	_, describing := s.backups.Describe(t.Context(), secret)
	_, listing := s.backups.Found(t.Context(), secret)
	for what, err := range map[string]error{
		"describe": describing, "list": listing,
		"expire":  s.backups.Expire(t.Context(), admin.Expiry{URL: secret, Before: 1, Limit: time.Hour}),
		"start":   s.backups.Start(t.Context(), fdb.BackupStart{URL: secret, Tag: "default"}, seven),
		"modify":  s.backups.Modify(t.Context(), fdb.BackupChange{URL: secret, Tag: "default"}),
		"restore": s.backups.StartRestore(t.Context(), fdb.RestoreStart{URL: secret}, unnoted),
		"delete":  deleting,
	} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, argv := range *s.pod.argv {
		if slices.ContainsFunc(argv, func(a string) bool { return strings.Contains(a, "hunter2") }) {
			t.Errorf("ran %v", argv)
		}
	}
}

func TestBackupDataDeletionReportsWhenTheDestinationIsEmpty(t *testing.T) {
	s := newSite(t)
	if err := s.backups.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default"}, seven); err != nil {
		t.Fatal(err)
	}
	s.Advance(time.Minute)
	for i, want := range []bool{false, true, true} {
		if removed, err := s.backups.DeleteData(t.Context(), nightly, time.Hour); err != nil || removed != want {
			t.Errorf("round %d: gone %t, %v", i+1, removed, err)
		}
	}
}

// A command that is cut off may have worked. The read-back decides.
func TestABackupStartWithoutAResponseIsVerifiedByReadBack(t *testing.T) {
	for name, applied := range map[string]bool{"it was": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			db, _ := s.Database("sample_cluster")
			db.SetFaults(fdbsim.Faults{DropCommands: 1, ApplyUnknown: applied})
			err := s.backups.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default"}, seven)
			if (err == nil) != applied {
				t.Errorf("got %v", err)
			}
		})
	}
}

// scripted answers commands in the order of its answers, and keeps the last one.
type scripted struct{ answers []admin.Result }

func (s *scripted) Run(context.Context, admin.Command) (admin.Result, error) {
	r := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return r, nil
}

func (s *scripted) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("backup tools have no session")
}

func fails(text string) admin.Result { return admin.Result{ExitCode: 1, Stderr: []byte(text)} }

// What was started must not be noted as never started: only words that are known to mean
// no count as such, and only when the database can be looked at after them.
func TestARestoreRefusalRequiresAKnownErrorAndAReadBack(t *testing.T) {
	const refusal = "ERROR: Attempted to restore into a non-empty destination database"
	none := admin.Result{Stdout: []byte("\n")}
	tests := map[string]struct {
		answers []admin.Result
		want    admin.Kind
	}{
		"a refusal":                  {[]admin.Result{none, fails(refusal), none}, admin.KindRefused},
		"a refusal and no read-back": {[]admin.Result{none, fails(refusal), fails("ERROR: timed out")}, admin.KindUnknownResult},
		"unknown output":             {[]admin.Result{none, fails("ERROR: connection_failed"), none}, admin.KindUnknownResult},
		"its own first try":          {[]admin.Result{none, fails("Fatal Error: Restore duplicate request"), none}, admin.KindUnknownResult},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := admin.NewBackups(&scripted{tt.answers}, nil).StartRestore(t.Context(), fdb.RestoreStart{URL: nightly}, unnoted)
			if admin.KindOf(err) != tt.want {
				t.Errorf("got %s: %v", admin.KindOf(err), err)
			}
		})
	}
}

// What another user starts while a start is lost is not what was to be started.
func TestALostStartIsConfirmedOnlyByAMatchingBackupOrRestore(t *testing.T) {
	const uid = "b6322a78ff117ca3896cd069545eb293"
	listed := func(tag, url, version string) admin.Result {
		return admin.Result{Stdout: []byte("Tag: " + tag + "  UID: " + uid + "  State: running  Blocks: 0/0  BlocksInProgress: 0  Files: 0  BytesWritten: 0  " +
			"CurrentVersion: 0 FirstConsistentVersion: 0  ApplyVersionLag: 0  LastError: None  URL: " + url + "  Range: ''-'\\xff'  Version: " + version + "\n")}
	}
	none, lost := admin.Result{Stdout: []byte("\n")}, fails("ERROR: connection_failed")
	elsewhere := strings.Replace(nightly, "/nightly", "/other", 1)
	restores := map[string]struct {
		after admin.Result
		done  bool
	}{
		"its own":           {listed("default", nightly, "42"), true},
		"from elsewhere":    {listed("default", elsewhere, "42"), false},
		"on another tag":    {listed("theirs", nightly, "42"), false},
		"of another moment": {listed("default", nightly, "43"), false},
	}
	for name, tt := range restores {
		t.Run("a restore, "+name, func(t *testing.T) {
			b := admin.NewBackups(&scripted{[]admin.Result{none, lost, tt.after}}, nil)
			if err := b.StartRestore(t.Context(), fdb.RestoreStart{URL: nightly, Version: new(uint64(42))}, unnoted); (err == nil) != tt.done {
				t.Errorf("got %v", err)
			}
		})
	}
	for url, done := range map[string]bool{nightly: true, elsewhere: false} {
		t.Run("a backup to "+url, func(t *testing.T) {
			status := func(rest string) admin.Result {
				return admin.Result{Stdout: []byte(`{"SchemaVersion":"1.0.0","BackupAgentsPaused":false,"Tag":"default"` + rest + `}`)}
			}
			after := status(`,"UID":"` + uid + `","Status":{"Name":"Submitted","Running":true},"DestinationURL":"` + url + `"`)
			b := admin.NewBackups(&scripted{[]admin.Result{status(`,"Status":{"Name":"has never been started","Running":false}`), lost, after}}, nil)
			if err := b.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default"}, seven); (err == nil) != done {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Before an agent has started the backup, its period is not reported.
func TestABackupChangeThatTheStatusDoesNotReportIsUnknown(t *testing.T) {
	untold := `{"SchemaVersion":"1.0.0","BackupAgentsPaused":false,"Tag":"default","UID":"1","Status":{"Name":"Submitted","Running":true},"DestinationURL":"` + nightly + `"}`
	b := admin.NewBackups(&scripted{[]admin.Result{{}, {Stdout: []byte(untold)}}}, nil)
	err := b.Modify(t.Context(), fdb.BackupChange{Tag: "default", Period: time.Hour})
	if admin.KindOf(err) != admin.KindUnknownResult || !strings.Contains(err.Error(), "does not report the snapshot period") {
		t.Errorf("got %s: %v", admin.KindOf(err), err)
	}
}

func TestAbortRestoreAbortsOnlyTheRestoreWithTheGivenUID(t *testing.T) {
	s := newSite(t)
	s.fill(t, "writemode on; set greeting hello")
	if err := s.backups.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default"}, seven); err != nil {
		t.Fatal(err)
	}
	s.Advance(time.Minute)
	s.fill(t, `writemode on; clearrange "" \xff`)
	if err := s.backups.StartRestore(t.Context(), fdb.RestoreStart{URL: nightly}, unnoted); err != nil {
		t.Fatal(err)
	}
	all, err := s.backups.Restores(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := s.backups.AbortRestore(t.Context(), "default", "another"); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("another restore: %v", err)
	}
	if now, err := s.backups.Restores(t.Context()); err != nil || !now[0].Active() {
		t.Errorf("%+v, %v", now, err)
	}
	if d, err := s.backups.Database(t.Context()); err != nil || !d.Cluster.DatabaseLockState.Locked {
		t.Errorf("the database is not locked: %v", err)
	}
	for range 2 {
		if err := s.backups.AbortRestore(t.Context(), "default", all[0].UID); err != nil {
			t.Error(err)
		}
	}
	if now, err := s.backups.Restores(t.Context()); err != nil || now[0].State != fdb.RestoreAborted {
		t.Errorf("%+v, %v", now, err)
	}
	if d, err := s.backups.Database(t.Context()); err != nil || d.Cluster.DatabaseLockState.Locked {
		t.Errorf("the database is locked: %v", err)
	}
	aborts := slices.DeleteFunc(slices.Clone(*s.pod.argv), func(argv []string) bool { return !slices.Contains(argv, "abort") })
	if len(aborts) != 1 {
		t.Errorf("ran %v", aborts)
	}
}

// An abort that is cut off may have worked, and one that came too late did not.
func TestTheResultOfARestoreAbortIsReadBack(t *testing.T) {
	line := func(state string) admin.Result {
		return admin.Result{Stdout: []byte("Tag: default  UID: b6322a78ff117ca3896cd069545eb293  State: " + state + "  Blocks: 0/0  BlocksInProgress: 0  Files: 0  BytesWritten: 0  " +
			"CurrentVersion: -1 FirstConsistentVersion: 0  ApplyVersionLag: 0  LastError: None  URL: " + nightly + "  Range: ''-'\\xff'  AddPrefix: ''  RemovePrefix: ''  Version: 42\n\n\n")}
	}
	cutOff := admin.Result{ExitCode: 124}
	tests := map[string]struct {
		answers []admin.Result
		want    admin.Kind
	}{
		"it worked":              {[]admin.Result{line("running"), cutOff, line("aborted")}, ""},
		"it did not":             {[]admin.Result{line("running"), cutOff, line("running")}, admin.KindUnknownResult},
		"the result is unknown":  {[]admin.Result{line("running"), cutOff, fails("ERROR: timed out")}, admin.KindUnknownResult},
		"it was done before":     {[]admin.Result{line("completed")}, admin.KindRefused},
		"it was done meanwhile":  {[]admin.Result{line("running"), {Stdout: []byte("RESTORE_ABORT Tag: default  State: completed\n")}, line("completed")}, ""},
		"no response beforehand": {[]admin.Result{fails("ERROR: timed out")}, admin.KindUnparsed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := admin.NewBackups(&scripted{tt.answers}, nil).AbortRestore(t.Context(), "default", "b6322a78ff117ca3896cd069545eb293")
			if admin.KindOf(err) != tt.want {
				t.Errorf("got %s: %v", admin.KindOf(err), err)
			}
		})
	}
}

func TestBackupsInAStoreAreFoundDescribedAndExpired(t *testing.T) {
	s := newSite(t)
	if there, err := s.backups.Describe(t.Context(), nightly); err != nil || there != nil {
		t.Errorf("nothing is there, and yet: %+v, %v", there, err)
	}
	s.fill(t, "writemode on; set greeting hello")
	if err := s.backups.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default", Continuous: true, Period: time.Minute}, seven); err != nil {
		t.Fatal(err)
	}
	s.Advance(10 * time.Minute)
	there, err := s.backups.Describe(t.Context(), nightly)
	if err != nil || there == nil || len(there.Snapshots) < 3 || there.ExpiredEnd != nil {
		t.Fatalf("%+v, %v", there, err)
	}
	found, err := s.backups.Found(t.Context(), "blobstore://key@store:9000/?bucket=fdb-backups&region=eu")
	if err != nil || len(found) != 1 || !fdb.SameBackupPlace(found[0], nightly) {
		t.Errorf("%v, %v", found, err)
	}
	if tags, err := s.backups.Tags(t.Context()); err != nil || len(tags) != 1 || tags[0] != "default" {
		t.Errorf("%q, %v", tags, err)
	}
	before := there.Snapshots[2].Start.Version
	if err := s.backups.Expire(t.Context(), admin.Expiry{URL: nightly, Before: before, Limit: time.Hour}); err != nil {
		t.Fatal(err)
	}
	after, err := s.backups.Describe(t.Context(), nightly)
	if err != nil || after.ExpiredEnd == nil || after.ExpiredEnd.Version != before || len(after.Snapshots) != len(there.Snapshots)-2 {
		t.Errorf("%+v, %v", after, err)
	}
	unsafe := after.MaxLogEnd.Version
	if err := s.backups.Expire(t.Context(), admin.Expiry{URL: nightly, Before: unsafe, Limit: time.Hour}); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("nothing could be restored afterwards: %v", err)
	}
	if err := s.backups.Expire(t.Context(), admin.Expiry{URL: nightly, Before: unsafe, Force: true, Limit: time.Hour}); err != nil {
		t.Errorf("forced: %v", err)
	}
}

// The tools print the secrets that are in the files of an agent.
func TestBackupsFoundInAStoreContainNoSecret(t *testing.T) {
	printed := admin.Result{Stdout: []byte("blobstore://key:hunter2@store:9000/nightly?bucket=fdb-backups&region=eu\n")}
	found, err := admin.NewBackups(&scripted{[]admin.Result{printed}}, nil).Found(t.Context(), nightly)
	if err != nil || len(found) != 1 || strings.Contains(found[0], "hunter2") || !fdb.SameBackupPlace(found[0], nightly) {
		t.Errorf("%v, %v", found, err)
	}
}

func TestAnInvalidBackupDescriptionIsAnError(t *testing.T) {
	const good = `{"SchemaVersion":"1.0.0","URL":"` + nightly + `","Restorable":false,"Snapshots":[]}`
	for name, text := range map[string]string{
		"another version": strings.Replace(good, "1.0.0", "2.0.0", 1),
		"cut short":       good[:40],
		"another place":   strings.Replace(good, "/nightly", "/other", 1),
		"no snapshots":    strings.Replace(good, `,"Snapshots":[]`, "", 1),
		"nothing":         "",
	} {
		if d, err := admin.NewBackups(&scripted{[]admin.Result{{Stdout: []byte(text)}}}, nil).Describe(t.Context(), nightly); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d, err := admin.NewBackups(&scripted{[]admin.Result{{Stdout: []byte(good)}}}, nil).Describe(t.Context(), nightly); err != nil || d == nil {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestBackupDescribeWithTimesAddsTimestamps(t *testing.T) {
	s := newSite(t)
	s.fill(t, "writemode on; set greeting hello")
	if err := s.backups.Start(t.Context(), fdb.BackupStart{URL: nightly, Tag: "default", Continuous: true, Period: time.Minute}, seven); err != nil {
		t.Fatal(err)
	}
	s.Advance(10 * time.Minute)
	plain, err := s.backups.Describe(t.Context(), nightly)
	if err != nil || plain.MaxRestorable.EpochSeconds != nil {
		t.Fatalf("%+v, %v", plain, err)
	}
	timed, err := s.backups.Describe(t.Context(), nightly, fdb.DescribeTimes...)
	if err != nil || timed.MaxRestorable.EpochSeconds == nil {
		t.Fatalf("%+v, %v", timed, err)
	}
	if lag := s.Now().Sub(time.Unix(*timed.MaxRestorable.EpochSeconds, 0)); lag < 0 || lag > time.Minute {
		t.Errorf("the newest version is %s old", lag)
	}
}

func TestALineOfAStoreThatIsNoBackupIsUnexpected(t *testing.T) {
	printed := admin.Result{Stdout: []byte("blobstore://key@store:443/nightly\nMIIhunter2\n")}
	if found, err := admin.NewBackups(&scripted{[]admin.Result{printed}}, nil).Found(t.Context(), nightly); err == nil {
		t.Errorf("found %q", found)
	}
}
