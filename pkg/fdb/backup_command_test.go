package fdb

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackupCommands(t *testing.T) {
	const url = "blobstore://key@store:443/nightly?bucket=b"
	older, newer := Version{Major: 7, Minor: 3, Patch: 79}, Version{Major: 7, Minor: 4, Patch: 7}
	version := uint64(42)
	tests := map[string]struct {
		got, want []string
	}{
		"a continuous backup": {
			BackupStart{URL: url, Tag: "t", Continuous: true, Period: time.Hour}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "-s", "3600", "-z"},
		},
		"one snapshot": {
			BackupStart{URL: url, Tag: "t", Period: time.Hour}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t"},
		},
		"encrypted": {
			BackupStart{URL: url, Tag: "t", EncryptionKeyFile: "/key"}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "--encryption-key-file", "/key"},
		},
		"from the logs, as older tools want it": {
			BackupStart{URL: url, Tag: "t", PartitionedLog: true}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "--partitioned-log-experimental"},
		},
		"from the logs, as newer tools want it": {
			BackupStart{URL: url, Tag: "t", PartitionedLog: true}.Command(newer),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "--mutation-log-type", "partitioned-log-experimental"},
		},
		"another period": {
			BackupChange{Tag: "t", Period: time.Minute, EncryptionKeyFile: "/key"}.Command(),
			[]string{"fdbbackup", "modify", "-t", "t", "-s", "60"},
		},
		"another place": {
			BackupChange{Tag: "t", Period: time.Minute, URL: url, EncryptionKeyFile: "/key"}.Command(),
			[]string{"fdbbackup", "modify", "-t", "t", "-s", "60", "-d", url, "--encryption-key-file", "/key"},
		},
		"a restore of everything": {
			RestoreStart{URL: url}.Command(),
			[]string{"fdbrestore", "start", "--dest_cluster_file", BackupClusterFile, "-r", url},
		},
		"a restore of two ranges as of a version": {
			RestoreStart{URL: url, Version: &version, Ranges: [][2]string{{"a", "b"}, {`\x15`, `\x16`}}, EncryptionKeyFile: "/key"}.Command(),
			[]string{
				"fdbrestore", "start", "--dest_cluster_file", BackupClusterFile, "-r", url, "--encryption-key-file", "/key", "-v", "42",
				"-k", `a b;\x15 \x16`,
			},
		},
		"knobs, and no localities": {
			WithKnobs([]string{"fdbbackup", "pause"}, []string{"knob_a=1", "locality_data_hall=x", "locality-rack=y"}),
			[]string{"fdbbackup", "pause", "--knob_a=1"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
