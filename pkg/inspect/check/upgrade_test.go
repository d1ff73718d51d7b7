package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func TestKnownDefects(t *testing.T) {
	encrypted := func(f *Facts) { f.Backups.Backups[0].Resource.Spec.EncryptionKeyPath = "/key" }
	tests := map[string]struct {
		version  string
		given    func(*Facts)
		want     []string
		untested string
	}{
		"a version without any":                  {"7.3.79", encrypted, nil, ""},
		"what differs without harm":              {"7.4.7", func(*Facts) {}, []string{"bounce-impact-never-clean"}, ""},
		"an unencrypted backup":                  {"7.4.5", func(*Facts) {}, []string{"exclude-failed-corrupts"}, ""},
		"an encrypted backup":                    {"7.4.5", encrypted, []string{"exclude-failed-corrupts", "backup-modify-drops-key"}, ""},
		"backups that may not be listed":         {"7.4.5", func(f *Facts) { f.Backups = inspect.ClusterBackups{Unread: "forbidden"} }, []string{"exclude-failed-corrupts"}, "backup-modify-drops-key"},
		"a storage engine with a defect":         {"7.3.59", func(f *Facts) { f.Database.Status.Cluster.Configuration.StorageEngine = "ssd-sharded-rocksdb" }, []string{"exclude-failed-corrupts", "shard-location-metadata-corrupts"}, ""},
		"another storage engine of that version": {"7.3.59", func(*Facts) {}, []string{"exclude-failed-corrupts"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			for id, p := range f.Database.Status.Cluster.Processes {
				p.Version = tc.version
				f.Database.Status.Cluster.Processes[id] = p
			}
			tc.given(&f)
			findings, untested := knownDefects(f)
			var got []string
			for _, finding := range findings {
				for _, fact := range versionfacts.All() {
					if strings.Contains(finding.Message, "("+fact.ID+", ") {
						got = append(got, fact.ID)
					}
				}
				if len(finding.Subjects) != len(f.Database.Status.Cluster.Processes) {
					t.Errorf("subjects %v", finding.Subjects)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (untested == "") != (tc.untested == "") || !strings.Contains(untested, tc.untested) {
				t.Errorf("untested: %q, want %q", untested, tc.untested)
			}
		})
	}
}
