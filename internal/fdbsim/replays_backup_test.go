package fdbsim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
)

const backupFile = "/var/dynamic-conf/fdb.cluster"

// backupCluster is the cluster of three on which backups were recorded, with as
// many keys, each value as many words of 32 characters.
func backupCluster(t *testing.T, keys, words int) *cluster {
	t.Helper()
	c := newCluster(t, "sample_cluster:recbackup2@127.0.3.1:4501,127.0.3.2:4501,127.0.3.3:4501")
	for i := 1; i <= 3; i++ {
		c.start(fmt.Sprintf("storage-%d", i), "storage", fmt.Sprintf("127.0.3.%d:4501", i), fmt.Sprintf("zone-%d", i))
	}
	c.files.files["/var/dynamic-conf/bad.cluster"] = "garbage\n"
	c.files.files["/var/dynamic-conf/dead.cluster"] = "dead:dead@127.0.3.250:4501\n"
	c.files.files["/var/fdb/afile"] = "text"
	c.files.files["/var/fdb/encryption-key"] = strings.Repeat("k", 32)
	c.Advance(12 * time.Second)
	c.must("configure new double ssd", "Database created\n")
	c.Advance(time.Minute)
	value := []byte(strings.Repeat("cd613e30d8f16adf91b7584a2265b1f5", words))
	var mutations []keyspace.Mutation
	for i := range keys {
		mutations = append(mutations, keyspace.Mutation{Key: fmt.Sprintf("key%06d", i), Value: value})
	}
	c.inner.Databases[0].Commit(mutations)
	return c
}

// withAgents starts two agents.
func withAgents(c *cluster) {
	for i := 1; i <= 2; i++ {
		running, exit := c.StartBackupAgent(Tool{
			Name: "backup_agent", Version: "7.3.79", Files: c.files,
			Args: []string{"-C", backupFile, "--log", "--logdir", "/var/log/fdb-trace-logs", "--locality_zoneid=backup", fmt.Sprintf("--locality_machineid=backup-agent-%d", i)},
		})
		if running == nil {
			c.t.Fatalf("the agent ended with %d", exit)
		}
		c.agents = append(c.agents, running)
	}
}

func withoutAgents(c *cluster) {
	for _, a := range c.agents {
		a.Stop()
	}
	c.agents = nil
}

// backedUp is a cluster with a finished backup, known under the recorded name.
func backedUp(t *testing.T, recorded string, words int) *cluster {
	t.Helper()
	c := backupCluster(t, 500, words)
	withAgents(c)
	got := c.tool("fdbbackup", "start", "-C", backupFile, "-d", "file:///var/backups/", "-w")
	if got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	c.learnFirst(recorded)
	return c
}

// learnFirst notes what the model calls the first backup in the store.
func (c *cluster) learnFirst(recorded string) {
	c.t.Helper()
	names := backupNames.FindAllString(c.tool("fdbbackup", "list", "-b", "file:///var/backups/").stdout, 1)
	if len(names) == 0 {
		c.t.Fatal("no backup in the store")
	}
	c.renamed[recorded] = names[0]
}

// learnVersions notes the first and last restorable version of a backup.
func (c *cluster) learnVersions(name, first, last string) {
	c.t.Helper()
	from, to, ok := c.inner.Stores.At("file:///var/backups/" + c.renamed[name]).Restorable()
	if !ok {
		c.t.Fatal("the backup cannot be restored")
	}
	c.renamed[first], c.renamed[last] = strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)
}

// unfinished is a backup that ended before it could be restored.
func (c *cluster) unfinished(recorded string) {
	c.t.Helper()
	c.tool("fdbbackup", "start", "-C", backupFile, "-d", "file:///var/backups/", "-t", "enc", "-z")
	c.Advance(time.Second)
	c.tool("fdbbackup", "abort", "-C", backupFile, "-t", "enc")
	names := backupNames.FindAllString(c.tool("fdbbackup", "list", "-b", "file:///var/backups/").stdout, -1)
	c.renamed[recorded] = names[len(names)-1]
}

// tool runs one of the backup tools.
func (c *cluster) tool(argv ...string) result {
	c.t.Helper()
	return c.replayStep(step{Argv: argv}, strings.NewReader(""))
}

var backupNames = regexp.MustCompile(`backup-\d{4}(-\d\d){5}\.\d{6}`)

// learnNames notes what the model calls the backups of a recording.
func (c *cluster) learnNames(want, got string) {
	recorded, modeled := backupNames.FindAllString(want, -1), backupNames.FindAllString(got, -1)
	if len(recorded) != len(modeled) {
		return
	}
	for i, name := range recorded {
		if _, known := c.renamed[name]; !known {
			c.renamed[name] = modeled[i]
		}
	}
}

// translated is a command line with the model's names of backups.
func (c *cluster) translated(argv []string) []string {
	argv = slices.Clone(argv)
	for i := range argv {
		for recorded, modeled := range c.renamed {
			argv[i] = strings.ReplaceAll(argv[i], recorded, modeled)
		}
	}
	return argv
}

func isBackupTool(s step) bool {
	return len(s.Argv) > 0 && (s.Argv[0] == "fdbbackup" || s.Argv[0] == "fdbrestore" || s.Argv[0] == "backup_agent")
}

// canonicalBackup replaces what differs from run to run in what backup tools
// print: names made of times, versions, times, sizes.
func canonicalBackup(s string) string {
	for _, r := range backupRules {
		s = r.pattern.ReplaceAllString(s, r.with)
	}
	return canonical(s)
}

var backupRules = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{backupNames, "backup-TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "UID"},
	{regexp.MustCompile(`\d{4}/\d\d/\d\d\.[\d:]{8}\+0000`), "TIME"},
	{regexp.MustCompile(`"(Version|EpochSeconds|LagSeconds|RangeBytesWritten|TotalBytes|TotalSnapshotBytes)":\d+`), `"$1":N`},
	{regexp.MustCompile(`"RelativeDays":-?[\d.e-]+`), `"RelativeDays":N`},
	{regexp.MustCompile(`"ExpectedProgress":(\d{1,2}|0)\.[\d.e-]+`), `"ExpectedProgress":N`},
	{regexp.MustCompile(`"ShardsBehind":\d+`), `"ShardsBehind":N`},
	{regexp.MustCompile(`(SnapshotBytes:|progress target is|version:?|Version:)( *)[\d.]{3,}`), "$1${2}N"},
	{regexp.MustCompile(`(RangeBytes written -) \d+`), "$1 N"},
	{regexp.MustCompile(`(startVersion|endVersion|totalBytes)=\d+`), "$1=N"},
	{regexp.MustCompile(`(timestamp +-) \d+,`), "$1 N,"},
	{regexp.MustCompile(`Version:  +N`), "Version: N"},
	{regexp.MustCompile(`\d+ objects`), "N objects"},
	{regexp.MustCompile(`[\d.]+ minute`), "N minute"},
	{regexp.MustCompile(`Blocks: \d+/[1-9]\d*`), "Blocks: N"},
	{regexp.MustCompile(`(BlocksInProgress|Files|BytesWritten|CurrentVersion): [1-9][\d/]*`), "$1: N"},
	{regexp.MustCompile(`\d+s ago`), "Ns ago"},
}

func init() { //nolint:gochecknoinits // the table of replays is split by subject
	maps.Copy(replays, backupReplays)
}

// backupReplays are the recorded scenarios with backups and restores.
var backupReplays = map[string]replay{
	"30-backup-lifecycle": {
		setup:    func(t *testing.T) *cluster { t.Helper(); return backupCluster(t, 300, 60) },
		before:   map[int]func(*cluster){27: withAgents, 165: withoutAgents},
		noStatus: true,
	},
	"31-restore": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			const finished = "backup-2026-11-20-15-31-28.277553"
			c := backedUp(t, finished, 62)
			c.learnVersions(finished, "128536773", "148459860")
			c.unfinished("backup-2026-11-20-15-35-42.874101")
			return c
		},
		before:   map[int]func(*cluster){26: withoutAgents, 66: withAgents},
		noStatus: true,
	},
	"37-backup-supplement": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			c := backupCluster(t, 500, 62)
			c.inner.Pace.BackupBytesPerSecond = 2500 << 10
			withAgents(c)
			return c
		},
		noStatus: true,
	},
	"38-restore-abort": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			c := backupCluster(t, 500, 62)
			c.inner.Pace.BackupBytesPerSecond = 1 << 20
			withAgents(c)
			return c
		},
		before:   map[int]func(*cluster){2: func(c *cluster) { withoutAgents(c); c.learnFirst("backup-2026-11-20-15-39-51.383820") }, 16: withAgents, 18: wait(400 * time.Millisecond), 41: withoutAgents},
		skip:     map[int]string{38: "the passphrase is read from stdout: TestUnlockRequiresThePassphrase"},
		noStatus: true,
	},
	"39-restore-and-foreign-lock": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			c := backedUp(t, "backup-2026-11-20-15-23-29.124158", 60)
			c.learnVersions("backup-2026-11-20-15-23-29.124158", "107510897", "167469305")
			c.tool("fdbbackup", "expire", "-d", "file:///var/backups/"+c.renamed["backup-2026-11-20-15-23-29.124158"], "--expire-before-version", "1")
			c.tool("fdbbackup", "start", "-C", backupFile, "-d", "file:///var/backups/")
			c.tool("fdbbackup", "abort", "-C", backupFile)
			return c
		},
		before:   map[int]func(*cluster){26: wait(time.Second), 81: withoutAgents},
		noStatus: true,
	},
}
