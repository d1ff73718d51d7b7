package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
)

// restoreMain is fdbrestore.
func restoreMain(c *backupTool) int {
	if len(c.tool.Args) == 0 {
		c.print(c.usageText())
		return exitFailed
	}
	if strings.HasPrefix(c.tool.Args[0], "-") {
		exit, _ := c.parse(options{})
		return exit
	}
	c.command = c.tool.Args[0]
	tagged := options{"dest_cluster_file": true, "tagname": true}
	commands := map[string]backupCommand{
		"start": {options: with(tagged, "backup_source=", "target_version=", "keys=", "wait", "dryrun", "add_prefix=", "remove_prefix=",
			"encryption_key_file="), run: (*backupTool).startRestore},
		"status": {options: tagged, run: (*backupTool).restoreStatus},
		"abort":  {options: tagged, run: (*backupTool).abortRestore},
		"wait":   {options: tagged, run: (*backupTool).waitForRestore},
	}
	command, known := commands[c.command]
	if !known {
		return c.badUsage("unknown option `%s'", c.command)
	}
	c.tool.Args = c.tool.Args[1:]
	if exit, done := c.parse(c.forVersion(command.options)); done {
		return exit
	}
	if exit, done := c.checkNumbers(); done {
		return exit
	}
	return c.withDestination(command.run)
}

// withDestination requires a cluster file on the command line that exists.
func (c *backupTool) withDestination(run func(*backupTool) int) int {
	if c.ClusterFile == "" {
		c.errorf("Restore destination cluster file must be specified explicitly.")
		return exitFailed
	}
	if _, err := c.Files.ReadFile(c.ClusterFile); err != nil {
		c.errorf("Restore destination cluster file '%s' does not exist.", c.ClusterFile)
		return exitFailed
	}
	return c.runOnDatabase(run)
}

func (c *backupTool) restoreStatus() int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	if c.given("tagname") {
		c.print(statusLine(db, db.RestoreOf(c.tag())) + "\n\n\n")
		return exitOK
	}
	var lines []string
	for _, r := range db.Restores {
		lines = append(lines, statusLine(db, r)+"\n\n")
	}
	c.print(strings.Join(lines, "") + "\n")
	return exitOK
}

func (c *backupTool) abortRestore() int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	r := db.RestoreOf(c.tag())
	if r.Runnable() {
		if err := c.change(db, func() { db.Abort(r) }); err != nil {
			return c.exitCode(err)
		}
	}
	c.printf("RESTORE_ABORT Tag: %s  State: %s\n", c.tag(), r.StateText())
	return exitOK
}

func (c *backupTool) waitForRestore() int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	r := db.RestoreOf(c.tag())
	if r == nil {
		c.printf("waitRestore: Tag: %s  State: %s\n", c.tag(), model.RestoreUnknown)
		return exitOK
	}
	return c.exitCode(c.follow(db, r))
}

// follow shows a restore until it is over, once a second and when its state
// changes.
func (c *backupTool) follow(db *model.Database, r *model.Restore) error {
	for {
		c.print(progressLine(db, r) + "\n")
		if !r.Runnable() {
			return nil
		}
		was := r.State
		if _, err := c.Wait(c.Simulation.Now.Add(time.Second), func() bool { return r.State != was }); err != nil {
			return err
		}
	}
}

func (c *backupTool) startRestore() int {
	ranges, exit, ok := c.keyRanges()
	if !ok {
		return exit
	}
	if !c.given("target_version") && c.sourceIsSane() {
		c.print("No restore target version given, will use maximum restorable version from backup description.\n")
	}
	found, exit := c.existing()
	if found == nil {
		return exit
	}
	r := &model.Restore{
		Tag: c.tag(), URL: found.URL, Ranges: ranges, Whole: !c.given("keys"), AddPrefix: c.values["add_prefix"], RemovePrefix: c.values["remove_prefix"],
	}
	if exit, done := c.chooseVersion(found, r); done {
		return exit
	}
	return c.queueRestore(r)
}

func (c *backupTool) sourceIsSane() bool {
	_, err := store.ParseURL(c.values["backup_source"])
	return err == nil
}

// chooseVersion finds the version to restore, and prints the available ones.
func (c *backupTool) chooseVersion(found *store.Container, r *model.Restore) (exit int, done bool) {
	_, latest, ok := found.Restorable()
	if version, err := strconv.ParseInt(c.values["target_version"], 10, 64); err == nil {
		r.Version = version
	} else {
		if !ok {
			c.errorf("The specified backup is not restorable to any version.")
			return c.errorOut("Restore error"), true
		}
		r.Version = latest
		c.printf("Ussing target restore version %d\n", latest)
	}
	if c.given("dryrun") {
		c.printf("Backup can be used to restore to version %d\n", r.Version)
		return exitOK, true
	}
	c.print("Backup Description\n" + description{Container: found, relative: found.LogEnd()}.text())
	if found.RunFor(r.Version) == nil {
		c.errorf("ERROR: Restore version %d is not possible from %s", r.Version, found.URL)
		return c.errorOut("Invalid restore version"), true
	}
	c.printf("Restoring backup to version: %d\n", r.Version)
	return exitOK, false
}

// Reasons not to start a restore, in the words of the tools.
const (
	duplicateRestore = "Restore duplicate request"
	notEmpty         = "Attempted to restore into a non-empty destination database"
)

// queueRestore submits a restore. A database with another lock keeps it waiting
// forever.
func (c *backupTool) queueRestore(r *model.Restore) int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	if refusal := refuseRestore(db, r); refusal != "" {
		return c.errorOut(refusal)
	}
	if _, err := c.Wait(time.Time{}, func() bool { return db.LockUID() == "" }); err != nil {
		return c.exitCode(err)
	}
	if err := c.change(db, func() { db.Queue(r) }); err != nil {
		return c.exitCode(err)
	}
	if !c.given("wait") {
		return exitOK
	}
	if err := c.follow(db, r); err != nil {
		return c.exitCode(err)
	}
	if r.State != model.RestoreCompleted {
		return exitFailed
	}
	c.printf("Restored to version %d\n", r.Version)
	return exitOK
}

// refuseRestore returns why a restore is not started, "" if it is.
func refuseRestore(db *model.Database, r *model.Restore) string {
	if db.RestoreOf(r.Tag).Runnable() {
		return duplicateRestore
	}
	for _, k := range r.Ranges {
		begin, end := r.AddPrefix+strings.TrimPrefix(k.Begin, r.RemovePrefix), r.AddPrefix+strings.TrimPrefix(k.End, r.RemovePrefix)
		if len(db.Keys.LatestRange(begin, min(end, store.UserEnd))) > 0 {
			return notEmpty
		}
	}
	return ""
}

// statusLine is a restore in one line.
func statusLine(db *model.Database, r *model.Restore) string {
	shown := model.Restore{Ranges: []keyspace.Range{{}}}
	if r != nil {
		shown = *r
	}
	ranges := shown.Ranges
	if shown.Whole {
		ranges = append(slices.Clone(ranges), systemRanges...)
	}
	var line strings.Builder
	line.WriteString(progressLine(db, r) + "  URL: " + shown.URL)
	for _, k := range ranges {
		fmt.Fprintf(&line, "  Range: '%s'-'%s'", syntax.Printable(k.Begin), syntax.Printable(k.End))
	}
	return line.String() + fmt.Sprintf("  AddPrefix: '%s'  RemovePrefix: '%s'  Version: %d", syntax.Printable(shown.AddPrefix), syntax.Printable(shown.RemovePrefix), shown.Version)
}

// progressLine is a restore in one line, without the request.
func progressLine(db *model.Database, r *model.Restore) string {
	if r == nil {
		r = &model.Restore{State: model.RestoreUnknown, UID: strings.Repeat("0", 2*model.UIDBytes)}
	}
	done, all := r.Blocks()
	busy, current := int64(0), int64(-1)
	switch {
	case r.State == model.RestoreCompleted:
		current = r.Version
	case r.State == model.RestoreRunning:
		current = r.First
		if r.Written > 0 {
			busy = all - done
		}
	case !r.AbortedAt.IsZero():
		busy = all - done
	}
	failure := "None"
	if !r.AbortedAt.IsZero() {
		failure = fmt.Sprintf("''Task execution stopped due to timeout, abort, or completion by another worker' on 'restore_range_data'' %ds ago.\n",
			int64(db.Simulation.Now.Sub(r.AbortedAt).Seconds()))
	}
	return fmt.Sprintf("Tag: %s  UID: %s  State: %s  Blocks: %d/%d  BlocksInProgress: %d  Files: %d  BytesWritten: %d  "+
		"CurrentVersion: %d FirstConsistentVersion: %d  ApplyVersionLag: 0  LastError: %s",
		r.Tag, r.UID, r.State, done, all, busy, r.Files, r.Bytes, current, r.First, failure)
}

// systemRanges are the system keys that a whole restore restores.
var systemRanges = []keyspace.Range{
	{Begin: "\xff\x02/blobRange/", End: "\xff\x02/blobRange0"},
	{Begin: "\xff/metacluster/clusterRegistration", End: "\xff/metacluster/clusterRegistration\x00"},
	{Begin: "\xff/tagQuota/", End: "\xff/tagQuota0"},
	{Begin: "\xff/tenant/", End: "\xff/tenant0"},
}
