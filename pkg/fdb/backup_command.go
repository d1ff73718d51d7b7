package fdb

import (
	"strconv"
	"strings"
	"time"
)

// BackupClusterFile is the cluster file in a pod of backup agents.
const BackupClusterFile = "/var/dynamic-conf/fdb.cluster"

// BackupStart is what a backup is started with.
type BackupStart struct {
	URL string
	Tag string
	// Continuous backups go on after their first snapshot, and make one every Period.
	Continuous bool
	Period     time.Duration
	// EncryptionKeyFile is empty for no encryption.
	EncryptionKeyFile string
	// PartitionedLog has backup workers read changes from the logs.
	PartitionedLog bool
}

// Command is the command line, without the program's directory, for tools of a version.
// A version that cannot encrypt is not asked to: its caller has to have refused.
func (b BackupStart) Command(v Version) []string {
	argv := []string{"fdbbackup", "start", "-d", b.URL, "-t", b.Tag}
	if b.Continuous {
		argv = append(argv, "-s", wholeSeconds(b.Period), "-z")
	}
	if b.EncryptionKeyFile != "" {
		argv = append(argv, "--encryption-key-file", b.EncryptionKeyFile)
	}
	switch {
	case b.PartitionedLog && v.HasMutationLogType():
		argv = append(argv, "--mutation-log-type", "partitioned-log-experimental")
	case b.PartitionedLog:
		argv = append(argv, "--partitioned-log-experimental")
	}
	return argv
}

// BackupChange is a change of a running backup.
type BackupChange struct {
	Tag    string
	Period time.Duration
	// URL is empty to leave the backup where it is.
	URL string
	// EncryptionKeyFile goes with a new URL; without one the tools do not use it.
	EncryptionKeyFile string
}

// Command is the command line. The place is named only where it changes: naming it makes
// the tools ask the store, and the key with it.
func (b BackupChange) Command() []string {
	argv := []string{"fdbbackup", "modify", "-t", b.Tag, "-s", wholeSeconds(b.Period)}
	if b.URL == "" {
		return argv
	}
	argv = append(argv, "-d", b.URL)
	if b.EncryptionKeyFile != "" {
		argv = append(argv, "--encryption-key-file", b.EncryptionKeyFile)
	}
	return argv
}

// RestoreStart is what a restore is started with.
type RestoreStart struct {
	URL string
	// Version is what is restored; nil for the latest that can be.
	Version *uint64
	// Ranges are what is restored; none for everything.
	Ranges [][2]string
	// EncryptionKeyFile is empty for no encryption.
	EncryptionKeyFile string
}

// Command is the command line.
func (r RestoreStart) Command() []string {
	argv := []string{"fdbrestore", "start", "--dest_cluster_file", BackupClusterFile, "-r", r.URL}
	if r.EncryptionKeyFile != "" {
		argv = append(argv, "--encryption-key-file", r.EncryptionKeyFile)
	}
	if r.Version != nil {
		argv = append(argv, "-v", strconv.FormatUint(*r.Version, 10))
	}
	if len(r.Ranges) > 0 {
		ranges := make([]string, len(r.Ranges))
		for i, keys := range r.Ranges {
			ranges[i] = keys[0] + " " + keys[1]
		}
		argv = append(argv, "-k", strings.Join(ranges, ";"))
	}
	return argv
}

// WithKnobs adds parameters to a command line, as far as its tools take them: those of
// localities are for agents only.
func WithKnobs(argv, parameters []string) []string {
	for _, p := range parameters {
		if !strings.HasPrefix(p, "locality_") && !strings.HasPrefix(p, "locality-") {
			argv = append(argv, "--"+p)
		}
	}
	return argv
}

func wholeSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
