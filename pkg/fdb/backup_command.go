package fdb

import (
	"strconv"
	"strings"
	"time"
)

// BackupClusterFile is the cluster file in a pod of backup agents.
const BackupClusterFile = "/var/dynamic-conf/fdb.cluster"

// BackupStart has the parameters of a backup to start.
type BackupStart struct {
	URL string
	Tag string
	// Continuous backups keep running after their first snapshot, and take one every
	// Period.
	Continuous bool
	Period     time.Duration
	// EncryptionKeyFile is empty for no encryption.
	EncryptionKeyFile string
	// PartitionedLog makes backup workers read changes from the logs.
	PartitionedLog bool
}

// Command returns the command line, without the program's directory, for tools of a
// version. The encryption key is omitted for versions that cannot encrypt: the caller
// must have rejected it.
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
	// URL is empty to keep the destination.
	URL string
	// EncryptionKeyFile is for a new URL; without one the tools ignore it.
	EncryptionKeyFile string
}

// Command returns the command line. It has the destination and key only if the
// destination changes, since they make the tools access the store.
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

// RestoreStart has the parameters of a restore to start.
type RestoreStart struct {
	URL string
	// Version is the version to restore; nil for the latest restorable one.
	Version *uint64
	// Ranges are the key ranges to restore; none for everything.
	Ranges [][2]string
	// EncryptionKeyFile is empty for no encryption.
	EncryptionKeyFile string
}

// Command returns the command line.
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

// WithKnobs appends parameters to a command line, except localities, which only agents
// accept.
func WithKnobs(argv, parameters []string) []string {
	for _, p := range parameters {
		if !strings.HasPrefix(p, "locality_") && !strings.HasPrefix(p, "locality-") {
			argv = append(argv, "--"+p)
		}
	}
	return argv
}

func wholeSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
