package fdb

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBackupAgentErrorsAreParsedFromTheStatusText(t *testing.T) {
	// 37-backup-supplement of FoundationDB 7.3.79 begins so.
	const recorded = "The backup on tag `e1' is in progress (just started) to file:///proc/nope/backup-2026-11-20-15-32-04.158939.\n" +
		"BackupUID: d0b107ec33d33cab1a385ae8c86eeb23\nBackupURL: file:///proc/nope/backup-2026-11-20-15-32-04.158939\n" +
		"Recent Errors (since initialization)\n"
	tests := map[string]struct {
		text string
		want []string
	}{
		"as recorded":          {recorded + "1.03 minute(s) ago : 'Platform error' on 'file_backup_start_5.2'\n\n\n", []string{"'Platform error' on 'file_backup_start_5.2'"}},
		"the same twice":       {recorded + "1.03 minute(s) ago : 'x' on 'y'\n2.00 second(s) ago : 'x' on 'y'\n3.1 hour(s) ago : 'z' on 'y'\n\nmore\n", []string{"'x' on 'y'", "'z' on 'y'"}},
		"with a URL in it":     {recorded + "1.0 minute(s) ago : 'x' on 'blobstore://key:hunter2@store/a'\n", []string{"'x' on 'blobstore://key:…@store/a'"}},
		"cut short":            {recorded + "1.0 minute(s) ago : 'x'", []string{"'x'"}},
		"none":                 {"The backup on tag `a' is in progress to file:///a.\nBackupUID: 1\n", nil},
		"a tag without backup": {"No previous backups found.\n", nil},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, ParseBackupErrors([]byte(tc.text))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A private key has many lines, of which only the first shows what it is.
func TestErrorsOfBackupsHaveNoSecretOfManyLines(t *testing.T) {
	text := "\nRecent Errors (since initialization)\n1.00 minute(s) ago : -----BEGIN RSA PRIVATE KEY-----\nMIIhunter2\n"
	if got := strings.Join(ParseBackupErrors([]byte(text)), "\n"); got == "" || strings.Contains(got, "hunter2") {
		t.Errorf("got %q", got)
	}
}
