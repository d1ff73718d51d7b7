package backups_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestBackupDescribe(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitUnreachable, "cannot determine what is in the store: no pod of a backup agent is ready", "backup", "describe", "nightly")
	if d := v.Described(); d.Exists != nil || d.Restorable != nil || d.Snapshots != nil {
		t.Errorf("got %+v", d)
	}
	v = commandstest.BackedUp(t)
	v.Must(exit.ExitDone, "are restorable", "backup", "describe", "nightly")
	d := v.Described()
	if !*d.Exists || !*d.Restorable || len(d.Snapshots) < 2 || d.RestorableFrom == nil || *d.RestorableTo.SecondsBeforeNewest != 0 || d.ExpiredBefore != nil {
		t.Errorf("got %+v", d)
	}
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "elsewhere" })
	v.Must(exit.ExitNo, "the store has no backup", "backup", "describe", "nightly")
	if d := v.Described(); *d.Exists || *d.Restorable {
		t.Errorf("got %+v", d)
	}
}

func TestBackupExpireDeletesOldDataAndKeepsTheRestRestorable(t *testing.T) {
	v := commandstest.BackedUp(t)
	before := v.Described()
	path := v.Planned("backup", "expire", "nightly", "--older-than", "5m")
	v.Must(exit.ExitDone, "are restorable, 5m", "backup", "expire", "nightly", "--older-than", "5m", "--yes", "--confirm", "nightly", "--plan", path, "--reason", "thirty days")
	after := v.Described()
	switch {
	case len(after.Snapshots) >= len(before.Snapshots), after.ExpiredBefore == nil:
		t.Errorf("nothing went: %+v", after)
	case *after.RestorableFrom.SecondsBeforeNewest < 300:
		t.Errorf("the last 5 minutes cannot be restored: %+v", after.RestorableFrom)
	}
	v.Input = new("nightly\n")
	v.Must(exit.ExitDone, "nothing left to delete", "backup", "expire", "nightly", "--older-than", "5m")
	if n := len(v.Deletions()); n != 1 {
		t.Errorf("ran %v", v.Deletions())
	}
}

func TestBackupDeleteAndExpireRefuseDataInUseAndInvalidFlags(t *testing.T) {
	other := func(v *commandstest.Vault, edit func(*v1beta2.FoundationDBBackup)) {
		b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "fdb"}}
		b.Spec.Version, b.Spec.ClusterName = "7.3.79", "sample"
		b.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly", URLParameters: []v1beta2.URLParameter{"region=eu"}}
		edit(b)
		if err := v.API.Create(v.T.Context(), b); err != nil {
			v.T.Fatal(err)
		}
	}
	shared := func(v *commandstest.Vault) { other(v, func(*v1beta2.FoundationDBBackup) {}) }
	moved := func(v *commandstest.Vault) {
		v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "theirs" })
		v.Tool(v.T.Context(), "fdbbackup", "start", "-t", "theirs", "-d", "blobstore://key@store:443/theirs?bucket=fdb-backups&region=eu")
		v.Cluster.FDB.Advance(time.Minute)
	}
	byHand := func(v *commandstest.Vault) {
		v.Tool(v.T.Context(), "fdbbackup", "start", "-t", "byhand", "-d", "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu", "-z")
		v.Cluster.FDB.Advance(time.Minute)
	}
	restoring := func(v *commandstest.Vault) {
		v.Fdbcli(`writemode on; clearrange "" \xff`)
		v.Must(exit.ExitDone, "", "restore", "start", "again", "--yes")
		v.Tool(v.T.Context(), "fdbbackup", "pause")
	}
	manyTags := func(v *commandstest.Vault) {
		for i := range 33 {
			tag := fmt.Sprint("old-", i)
			v.Tool(v.T.Context(), "fdbbackup", "start", "-t", tag, "-d", "blobstore://key@store:443/"+tag+"?bucket=fdb-backups&region=eu")
			v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", tag)
		}
	}
	tests := map[string]struct {
		given func(*testing.T) *commandstest.Vault
		and   func(*commandstest.Vault)
		args  []string
		want  int
		says  string
	}{
		"of a backup that runs":              {given: commandstest.BackedUp, args: []string{"delete"}, want: exit.ExitRefused, says: "a backup runs on tag default; stop it first"},
		"of one that is about to":            {given: commandstest.Stopped, and: func(v *commandstest.Vault) { v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = "" }) }, args: []string{"delete"}, want: exit.ExitRefused, says: "which the next pass would start; stop it first"},
		"where another record writes":        {given: commandstest.Stopped, and: shared, args: []string{"delete"}, want: exit.ExitRefused, says: "FoundationDBBackup other does, or may"},
		"where this record never wrote":      {given: commandstest.Stopped, and: moved, args: []string{"delete"}, want: exit.ExitRefused, says: "its last observed destination is"},
		"where a backup goes of another tag": {given: commandstest.Stopped, and: byHand, args: []string{"delete"}, want: exit.ExitRefused, says: "the backup on tag byhand does"},
		"where a restore reads":              {given: commandstest.Stopped, and: restoring, args: []string{"delete"}, want: exit.ExitRefused, says: "the restore on tag default is queued"},
		"where so many tags are not asked about": {given: commandstest.Stopped, and: manyTags, args: []string{"delete"}, want: exit.ExitRefused, says: "to list all: " +
			"kubectl exec deployment/nightly-backup-agents -c foundationdb -n fdb --context test -- sh -c 'for tag in $(fdbbackup tags); do fdbbackup status -t \"$tag\"; done'; " +
			"if no backup writes to this destination and no restore of any database reads from it, delete all of its data with: kubectl exec deployment/nightly-backup-agents -c foundationdb -n fdb --context test -- " +
			"fdbbackup delete -d 'blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu'"},
		"without agents":                          {given: commandstest.NewVault, args: []string{"delete"}, want: exit.ExitWaiting, says: "cannot determine whether the backup runs"},
		"old data, where another record writes":   {given: commandstest.BackedUp, and: shared, args: []string{"expire", "--older-than", "5m"}, want: exit.ExitRefused, says: "FoundationDBBackup other does, or may"},
		"old data, where this record never wrote": {given: commandstest.Stopped, and: moved, args: []string{"expire", "--before-version", "5"}, want: exit.ExitRefused, says: "its last observed destination is"},
		"old data, where a restore reads":         {given: commandstest.Stopped, and: restoring, args: []string{"expire", "--older-than", "5m"}, want: exit.ExitRefused, says: "the restore on tag default is queued"},
		"old data, which a restore needs":         {given: commandstest.BackedUp, args: []string{"expire", "--before-version", "LAST"}, want: exit.ExitRefused, says: "no complete snapshot begins at or after that version"},
		"what is yet to come":                     {given: commandstest.BackedUp, args: []string{"expire", "--before-version", "999999999999999", "--force"}, want: exit.ExitRefused, says: "its log ends at version"},
		"nothing, where nothing is that old":      {given: commandstest.BackedUp, args: []string{"expire", "--older-than", "720h"}, says: "nothing left to delete"},
		"old data of nothing": {given: commandstest.BackedUp, and: func(v *commandstest.Vault) {
			v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "none" })
		}, args: []string{"expire", "--older-than", "1h"}, want: exit.ExitRefused, says: "no backup at"},
		"without saying what is old": {given: commandstest.NewVault, args: []string{"expire"}, want: exit.ExitUsage, says: "exactly one of --older-than and --before-version"},
		"by both":                    {given: commandstest.NewVault, args: []string{"expire", "--older-than", "1h", "--before-version", "5"}, want: exit.ExitUsage, says: "exactly one"},
		"by time with force":         {given: commandstest.NewVault, args: []string{"expire", "--older-than", "1h", "--force"}, want: exit.ExitUsage, says: "--force requires --before-version"},
		"by no time":                 {given: commandstest.NewVault, args: []string{"expire", "--older-than", "0"}, want: exit.ExitUsage, says: "--older-than must be positive"},
		"by no version":              {given: commandstest.NewVault, args: []string{"expire", "--before-version", "0"}, want: exit.ExitUsage, says: "--before-version must be positive"},
		"without the right to read other records ": {given: commandstest.Stopped, and: func(v *commandstest.Vault) { v.Denied = []string{"list foundationdbbackups.apps.foundationdb.org"} }, args: []string{"delete"}, want: exit.ExitForbidden, says: "list foundationdbbackups"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := tt.given(t)
			last := "1"
			if tt.want == exit.ExitRefused {
				if d := v.Described(); d.RestorableTo != nil {
					last = fmt.Sprint(d.RestorableTo.Version)
				}
			}
			if tt.and != nil {
				tt.and(v)
			}
			args := []string{"backup", tt.args[0], "nightly"}
			for _, arg := range tt.args[1:] {
				args = append(args, strings.ReplaceAll(arg, "LAST", last))
			}
			v.Input = new("nightly\n")
			v.Must(tt.want, tt.says, args...)
			if len(v.Deletions()) > 0 {
				t.Errorf("ran %v", v.Deletions())
			}
			if output := v.Out.String() + v.Err.String(); strings.Contains(output, "force") && tt.want == exit.ExitRefused {
				t.Errorf("force is offered: %s", output)
			}
		})
	}
}

func TestBackupDeleteRequiresMoreThanYesToConfirm(t *testing.T) {
	tests := map[string]struct {
		args    []string // PLAN is a plan of it
		typed   string   // on a terminal; empty for none
		want    int
		says    string
		deleted bool
	}{
		"all four":                          {args: []string{"--yes", "--confirm", "nightly", "--plan", "PLAN", "--reason", "moved"}, says: "the store has no backup", deleted: true},
		"without a plan":                    {args: []string{"--yes", "--confirm", "nightly", "--reason", "x"}, want: exit.ExitUnconfirmed, says: "all of these flags are required: --yes --confirm NAME --plan FILE --reason TEXT"},
		"with another name":                 {args: []string{"--yes", "--confirm", "other", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed, says: "does not match the name of the backup, which is nightly"},
		"the name is typed":                 {typed: "nightly\n", says: "Type the name of the backup", deleted: true},
		"--yes on a terminal is not enough": {args: []string{"--yes"}, typed: "y\n", want: exit.ExitUnconfirmed, says: "the answer does not match nightly"},
		"a dry run needs none of it":        {args: []string{"--dry-run"}, want: exit.ExitNo, says: "data-loss"},
		"prints what is deleted before it":  {args: []string{"--dry-run"}, want: exit.ExitNo, says: "restorable now from version"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.Stopped(t)
			path := v.Planned("backup", "delete", "nightly")
			args := []string{"backup", "delete", "nightly"}
			for _, arg := range tt.args {
				args = append(args, strings.ReplaceAll(arg, "PLAN", path))
			}
			if tt.typed != "" {
				v.Input = &tt.typed
			}
			v.Must(tt.want, tt.says, args...)
			v.Input = nil
			if d := v.Described(); *d.Exists == tt.deleted {
				t.Errorf("got %+v", d)
			}
		})
	}
	v := commandstest.Stopped(t)
	v.Input = new("nightly\n")
	v.Must(exit.ExitDone, "the store has no backup", "backup", "delete", "nightly")
	v.Must(exit.ExitDone, "the store has no backup; the database still reports the backup as restorable, but it is not", "backup", "delete", "nightly")
	v.Input = nil
	v.Must(exit.ExitDone, "warning: fdb/nightly: reported restorable by the database, but its store holds no data of it", "backup", "list", "--store")
}

func TestAForcedExpiryWarnsThatTheBackupIsNoLongerRestorable(t *testing.T) {
	v := commandstest.Stopped(t)
	last := fmt.Sprint(v.Described().RestorableTo.Version)
	v.Must(exit.ExitNo, "not restorable afterwards, until another snapshot is complete; forced", "backup", "expire", "nightly", "--before-version", last, "--force", "--dry-run")
	v.Input = new("nightly\n")
	v.Must(exit.ExitDone, "", "backup", "expire", "nightly", "--before-version", last, "--force")
	if d := v.Described(); *d.Restorable {
		t.Errorf("got %+v", d)
	}
}

func TestTheListOfBackupsHasTheirLabelsAndSelects(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Labels = map[string]string{"team": "red"} })
	for args, want := range map[string]string{"-L team": "TEAM", "--show-labels": "team=red", "--field-selector cluster=sample -L team": "red", "-o jsonpath={.items[0].labels.team}": "red"} {
		v.Must(exit.ExitDone, want, append([]string{"backup", "list"}, strings.Fields(args)...)...)
	}
	if out := v.Must(exit.ExitDone, "", "backup", "list", "--field-selector", "cluster=other"); out != "" {
		t.Errorf("prints %q", out)
	}
}

func TestBackupList(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitDone, "sample    Running   no-agents   ?", "backup", "list")
	commandstest.Valid(t, "backup list", []byte(v.Must(exit.ExitDone, "", "backup", "list", "--store", "-o", "json")))
	v = commandstest.BackedUp(t)
	v.Tool(v.T.Context(), "fdbbackup", "start", "-t", "byhand", "-d", "blobstore://key@store:443/byhand?bucket=fdb-backups&region=eu")
	v.Cluster.FDB.Advance(time.Minute)
	text := v.Must(exit.ExitDone, "running", "backup", "list", "-A", "--store", "-o", "wide")
	for _, want := range []string{"/nightly?bucket=fdb-backups   fdb/nightly", "/byhand?bucket=fdb-backups    -", "1/1"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	document := v.Must(exit.ExitDone, "", "backup", "list", "--store", "-o", "json")
	commandstest.Valid(t, "backup list", []byte(document))
	var got lists.BackupListView
	if err := json.Unmarshal([]byte(document), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 1 || got.Items[0].LatestRestorable == nil || len(got.Stores) != 1 || len(got.Stores[0].Found) != 2 {
		t.Errorf("got %s", document)
	}
}
