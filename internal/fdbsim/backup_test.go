package fdbsim

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const backupTo = "file:///var/backups/"

// filled is a cluster with a few keys and agents.
func filled(t *testing.T) *cluster {
	t.Helper()
	c := backupCluster(t, 20, 1)
	withAgents(c)
	return c
}

// mustRun is what a backup tool printed that had to succeed.
func (c *cluster) mustRun(argv ...string) string {
	c.t.Helper()
	got := c.tool(argv...)
	if got.exit != 0 {
		c.t.Fatalf("%v: %+v", argv, got)
	}
	return got.stdout
}

func (c *cluster) backup(command string, more ...string) result {
	c.t.Helper()
	return c.tool(append([]string{"fdbbackup", command, "-C", backupFile}, more...)...)
}

func (c *cluster) restore(command string, more ...string) result {
	c.t.Helper()
	return c.tool(append([]string{"fdbrestore", command, "--dest-cluster-file", backupFile}, more...)...)
}

// backupURLOf is the URL in a status.
func (c *cluster) backupURLOf(tag string) string {
	c.t.Helper()
	_, rest, found := strings.Cut(c.backup("status", "-t", tag).stdout, "BackupURL: ")
	if !found {
		c.t.Fatalf("no backup of %s", tag)
	}
	url, _, _ := strings.Cut(rest, "\n")
	return url
}

func TestARestoreReturnsTheDataOfItsVersion(t *testing.T) {
	c := filled(t)
	c.backup("start", "-d", backupTo, "-z")
	c.Advance(30 * time.Second)
	c.exec("writemode on; set key000003 early; clear key000004")
	between := c.inner.Databases[0].VersionNow()
	c.Advance(5 * time.Second)
	c.exec("writemode on; set key000003 late")
	c.Advance(time.Minute)
	url := c.backupURLOf("default")
	c.mustRun("fdbbackup", "discontinue", "-C", backupFile)
	c.exec(`writemode on; clearrange "" \xff`)
	if got := c.restore("start", "-r", url, "-v", strconv.FormatInt(between, 10), "-w"); got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	c.must("get key000003", "`key000003' is `early'\n")
	c.must("get key000004", "`key000004': not found\n")
	c.must("get key000005", "`key000005' is `cd613e30d8f16adf91b7584a2265b1f5'\n")
}

// Agents report their backups in the status document, as the metrics of a watch show them.
func TestTheStatusDocumentHasTheBackupsOfEveryTag(t *testing.T) {
	c := filled(t)
	layer := func() *fdb.BackupLayer {
		t.Helper()
		return c.backupLayer(t)
	}
	if got := layer(); got != nil {
		t.Errorf("before the first backup: %+v", got)
	}
	c.backup("start", "-d", backupTo, "-t", "nightly", "-z")
	c.Advance(time.Minute)
	tag := layer().Tags["nightly"]
	if !*tag.RunningBackup || !*tag.RunningBackupIsRestorable || tag.LastRestorableSecondsBehind == nil || *tag.LastRestorableSecondsBehind > 60 {
		t.Errorf("a continuous backup: %+v", tag)
	}
	c.backup("abort", "-t", "nightly")
	if tag := layer().Tags["nightly"]; *tag.RunningBackup || *tag.RunningBackupIsRestorable || tag.LastRestorableSecondsBehind != nil {
		t.Errorf("an aborted backup: %+v", tag)
	}
}

func TestBackupsMakeNoProgressWithoutAgents(t *testing.T) {
	c := backupCluster(t, 20, 1)
	c.backup("start", "-d", backupTo, "-z")
	c.Advance(time.Hour)
	if got := c.backup("status").stdout; !strings.Contains(got, "(just started)") {
		t.Errorf("%s", got)
	}
	withAgents(c)
	c.Advance(time.Minute)
	if got := c.backup("status").stdout; !strings.Contains(got, "is restorable but continuing") {
		t.Errorf("%s", got)
	}
}

func TestAPausedAgentDoesNotRestore(t *testing.T) {
	c := filled(t)
	c.mustRun("fdbbackup", "start", "-C", backupFile, "-d", backupTo, "-w")
	url := c.backupURLOf("default")
	c.exec(`writemode on; clearrange "" \xff`)
	c.backup("pause")
	c.restore("start", "-r", url)
	c.Advance(time.Hour)
	if got := c.restore("status").stdout; !strings.Contains(got, "State: queued") {
		t.Errorf("%s", got)
	}
	c.backup("resume")
	c.Advance(time.Minute)
	if got := c.restore("status").stdout; !strings.Contains(got, "State: completed") {
		t.Errorf("%s", got)
	}
}

func TestAMovedBackupIsNotRestorableAtItsNewDestinationAtOnce(t *testing.T) {
	c := filled(t)
	c.backup("start", "-d", backupTo, "-z", "-s", "60")
	c.Advance(50 * time.Second)
	c.backup("modify", "-d", "file:///var/backups/second/")
	c.Advance(30 * time.Second)
	if got := c.mustRun("fdbbackup", "describe", "-d", "file:///var/backups/second/"); !strings.Contains(got, "Restorable: false") {
		t.Errorf("%s", got)
	}
	c.Advance(3 * time.Minute)
	if got := c.mustRun("fdbbackup", "describe", "-d", "file:///var/backups/second/"); !strings.Contains(got, "Restorable: true") {
		t.Errorf("%s", got)
	}
}

func TestTheSimulatedBlobStoreRejectsUnknownKeysBucketsAndHosts(t *testing.T) {
	tests := map[string]struct {
		url     string
		answers bool
	}{
		"the right key":         {"blobstore://key:secret@store:9000/b?bucket=fdb-backups&region=us", true},
		"a key from a file":     {"blobstore://key@store:9000/b?bucket=fdb-backups&region=us", true},
		"a wrong key":           {"blobstore://key:wrong@store:9000/b?bucket=fdb-backups&region=us", false},
		"an account it has not": {"blobstore://other@store:9000/b?bucket=fdb-backups&region=us", false},
		"a bucket it has not":   {"blobstore://key@store:9000/b?bucket=none&region=us", false},
		"an unknown host":       {"blobstore://key@other:9000/b?bucket=fdb-backups&region=us", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := backupCluster(t, 20, 1)
			c.AddBlobStore(BlobStore{Host: "store:9000", Secrets: map[string]string{"key": "secret"}, Buckets: []string{"fdb-backups"}})
			c.files.files["/creds.json"] = `{"accounts":{"key@store":{"secret":"secret"}}}`
			got := c.replayStep(step{
				Argv: []string{"fdbbackup", "start", "-C", backupFile, "-d", tt.url, "-z"},
				Env:  map[string]string{"FDB_BLOB_CREDENTIALS": "/creds.json"}, StoppedAfter: 20,
			}, strings.NewReader(""))
			if answered := got.exit == 0; answered != tt.answers {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAnInterruptedFdbbackupCommandMayHaveTakenEffect(t *testing.T) {
	for _, applied := range []bool{false, true} {
		c := filled(t)
		db, _ := c.Database("sample_cluster")
		db.SetFaults(Faults{DropCommands: 1, ApplyUnknown: applied})
		if got := c.backup("start", "-d", backupTo, "-z"); got.exit != model.ExitKilled || got.stdout != "" {
			t.Errorf("%+v", got)
		}
		if started := c.inner.Databases[0].Backups.Tags["default"].Active(); started != applied {
			t.Errorf("started %t, applied %t", started, applied)
		}
	}
}

func TestFdbbackupMutationLogFlagDependsOnTheVersion(t *testing.T) {
	flags := map[string]bool{"--partitioned-log-experimental": false, "--mutation-log-type=partitioned-log-experimental": true}
	for flag, newer := range flags {
		for version, desired := range map[string]bool{"7.3.79": !newer, "7.4.7": newer} {
			c := filled(t)
			var stderr bytes.Buffer
			exit := c.RunTool(context.Background(), Tool{
				Name: "fdbbackup", Version: version, Files: c.files, Stderr: &stderr,
				Args: []string{"start", "-C", "/var/dynamic-conf/none.cluster", "-d", backupTo, flag},
			})
			if known := !strings.Contains(stderr.String(), "unknown option"); known != desired || exit == 0 {
				t.Errorf("%s with %s: %d %s", flag, version, exit, stderr.String())
			}
		}
	}
}

func TestASimulatedBackupAgentRunsUntilKilled(t *testing.T) {
	c := backupCluster(t, 20, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- c.RunTool(ctx, Tool{Name: "backup_agent", Version: "7.3.79", Args: []string{"-C", backupFile}, Files: c.files})
	}()
	for c.agentsStarted() == 0 {
		time.Sleep(time.Millisecond) // the process starts
	}
	if got := c.mustRun("fdbbackup", "start", "-C", backupFile, "-d", backupTo, "-w"); !strings.Contains(got, "Submitted and now waiting") {
		t.Errorf("%s", got)
	}
	cancel()
	if exit := <-ended; exit != model.ExitKilled || c.agentsStarted() != 0 {
		t.Errorf("exit %d, %d agents left", exit, c.agentsStarted())
	}
}

// What agents reported expires; a new agent reports again.
func TestReportsOfBackupsExpireWithoutAgents(t *testing.T) {
	c := backupCluster(t, 20, 0)
	end := c.startAgent(t)
	c.backup("start", "-d", backupTo, "-z")
	c.Advance(time.Minute)
	c.backup("pause")
	if got := c.backupLayer(t); got == nil || len(got.Tags) != 1 {
		t.Errorf("while the agents are paused: %+v", got)
	}
	c.backup("resume")
	end()
	c.Advance(time.Minute)
	if got := c.backupLayer(t); got == nil || len(got.Tags) != 1 {
		t.Errorf("a minute after the last agent ended: %+v", got)
	}
	c.Advance(time.Minute)
	if got := c.backupLayer(t); got != nil {
		t.Errorf("two minutes after it ended: %+v", got)
	}
	defer c.startAgent(t)()
	c.Advance(time.Minute)
	if got := c.backupLayer(t); got == nil || len(got.Tags) != 1 {
		t.Errorf("with a new agent: %+v", got)
	}
}

func (c *cluster) backupLayer(t *testing.T) *fdb.BackupLayer {
	t.Helper()
	status, err := fdb.ParseStatus([]byte(c.exec("status json").stdout))
	if err != nil {
		t.Fatal(err)
	}
	return status.Cluster.Layers.Backup
}

// startAgent runs a backup_agent until its result is called.
func (c *cluster) startAgent(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.RunTool(ctx, Tool{Name: "backup_agent", Version: "7.3.79", Args: []string{"-C", backupFile}, Files: c.files})
	}()
	for c.agentsStarted() == 0 {
		time.Sleep(time.Millisecond) // the process starts
	}
	return func() { cancel(); <-ended }
}

func (c *cluster) agentsStarted() int {
	c.inner.Lock()
	defer c.inner.Unlock()
	return len(c.inner.Agents)
}
