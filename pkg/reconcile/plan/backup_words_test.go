package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// What was approved is known by its words, so whatever differs has to be printed.
func TestDifferentBackupAndRestoreActionsHaveDifferentDescriptions(t *testing.T) {
	many := func(last string) [][2]string {
		var all [][2]string
		for i := range rangesShown + 3 {
			all = append(all, [2]string{fmt.Sprint(i), fmt.Sprint(i, "z")})
		}
		return append(all, [2]string{last, "zz"})
	}
	backup := func(b fdb.BackupStart) Action { return StartBackup{Start: b} }
	restore := func(r fdb.RestoreStart) Action { return StartRestore{Start: r} }
	seen := map[string]string{}
	for name, a := range map[string]Action{
		"one snapshot":          backup(fdb.BackupStart{}),
		"a continuous backup":   backup(fdb.BackupStart{Continuous: true}),
		"another period":        backup(fdb.BackupStart{Continuous: true, Period: time.Hour}),
		"an encrypted backup":   backup(fdb.BackupStart{EncryptionKeyFile: "/key"}),
		"another key":           backup(fdb.BackupStart{EncryptionKeyFile: "/other"}),
		"partitioned logs":      backup(fdb.BackupStart{PartitionedLog: true}),
		"a move":                ModifyBackup{Change: fdb.BackupChange{URL: "blobstore://a"}},
		"an encrypted move":     ModifyBackup{Change: fdb.BackupChange{URL: "blobstore://a", EncryptionKeyFile: "/key"}},
		"a restore":             restore(fdb.RestoreStart{}),
		"an encrypted restore":  restore(fdb.RestoreStart{EncryptionKeyFile: "/key"}),
		"one range":             restore(fdb.RestoreStart{Ranges: [][2]string{{"a", "b"}}}),
		"another range":         restore(fdb.RestoreStart{Ranges: [][2]string{{"tenant", "tenanu"}}}),
		"many ranges":           restore(fdb.RestoreStart{Ranges: many("x")}),
		"many with another end": restore(fdb.RestoreStart{Ranges: many("y")}),
		"an expiry":             ExpireBackup{Before: 1},
		"one of another place":  ExpireBackup{Before: 1, URL: "blobstore://a"},
		"one of more":           ExpireBackup{Before: 2},
		"one of more snapshots": ExpireBackup{Before: 1, Snapshots: 2},
		"one that leaves some":  ExpireBackup{Before: 1, RestorableFrom: new(int64(3))},
		"a forced one":          ExpireBackup{Before: 1, Force: true},
		"a deletion":            ClearBackupData{},
		"of what is restorable": ClearBackupData{RestorableFrom: new(int64(1)), RestorableTo: new(int64(2))},
		"of newer data":         ClearBackupData{UpTo: 1},
		"of another place":      ClearBackupData{URL: "blobstore://a"},
		"an abort":              AbortRestore{UID: "1"},
		"an abort of another":   AbortRestore{UID: "2"},
	} {
		if other, twice := seen[a.Describe()]; twice {
			t.Errorf("%s and %s are both: %s", name, other, a.Describe())
		}
		seen[a.Describe()] = name
	}
}
