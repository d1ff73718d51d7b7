package admin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

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
