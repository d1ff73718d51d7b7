package tools

import (
	"errors"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// respondTimeout is how long `start` waits for an agent to say something.
const respondTimeout = 5 * time.Second

// defaultSnapshotInterval is ten days, in seconds.
const defaultSnapshotInterval = 864000

// badURL returns what is wrong with a URL.
func (c *backupTool) badURL(url string, err error) {
	detail := ""
	if err.Error() != "" {
		detail = ": " + err.Error()
	}
	c.errorf("ERROR: 'Backup Container URL invalid' on URL '%s'%s", url, detail)
	c.hint()
}

func (c *backupTool) startBackup() int {
	ranges, exit, ok := c.keyRanges()
	if !ok {
		return exit
	}
	url := c.values["destcontainer"]
	if url == "" {
		c.badUsage("No backup destination was specified.")
		return exitBadDestination
	}
	u, err := store.ParseURL(url)
	if err != nil {
		c.badURL(url, err)
		return exitBadDestination
	}
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	if db.Backups.Tags[c.tag()].Active() {
		c.errorf("ERROR: A backup is already running on tag `%s'", c.tag())
		return c.fatal("Backup error")
	}
	if c.given("dryrun") {
		return c.conclude(c.Pause(respondTimeout/10), "The backup on tag `%s' was successfully submitted. (DRY RUN)\n")
	}
	if exit, failed := c.createContainer(u); failed {
		return exit
	}
	return c.submit(db, url, ranges)
}

// conclude prints a sentence about the tag, unless there was an error.
func (c *backupTool) conclude(err error, format string) int {
	if err != nil {
		return c.exitCode(err)
	}
	c.printf(format, c.tag())
	return exitOK
}

// createContainer goes to the store. One that never responds keeps the tool
// waiting forever.
func (c *backupTool) createContainer(u store.URL) (exit int, failed bool) {
	if key := c.values["encryption_key_file"]; key != "" {
		if _, err := c.Files.ReadFile(key); err != nil {
			c.errorf("ERROR: Could not create backup container: File not found\nERROR: An error was encountered during submission")
			return c.fatal("Backup error"), true
		}
	}
	err := c.reachStore(u)
	if errors.Is(err, store.ErrNotADirectory) {
		c.errorf("ERROR: Platform error")
		return c.fatal("Backup error"), true
	}
	return c.exitCode(err), err != nil
}

// reachStore waits until the store of a URL answers.
func (c *backupTool) reachStore(u store.URL) error {
	var err error
	_, ended := c.Wait(time.Time{}, func() bool {
		err = c.Simulation.Stores.Reach(u, c.Files, c.tool.Env)
		return !errors.Is(err, store.ErrUnresponsive)
	})
	if ended != nil {
		return ended
	}
	return err
}

func (c *backupTool) submit(db *model.Database, url string, ranges []keyspace.Range) int {
	b := &model.Backup{
		Tag: c.tag(), URL: url, Interval: c.snapshotInterval(), StopAfter: !c.given("no_stop_when_done"), Ranges: ranges,
		Encrypted: c.given("encryption_key_file"), Partitioned: c.given("partitioned_log_experimental") || c.given("mutation_log_type"),
	}
	if err := c.change(db, func() { db.Submit(b) }); err != nil {
		return c.exitCode(err)
	}
	if c.given("wait") {
		c.printf("Submitted and now waiting for the backup on tag `%s' to complete.\n", c.tag())
		_, err := c.Wait(time.Time{}, func() bool { return !b.Active() })
		return c.exitCode(err)
	}
	if err := c.Pause(respondTimeout / 10); err != nil {
		return c.exitCode(err)
	}
	responding, err := c.Wait(c.Simulation.Now.Add(respondTimeout*9/10), func() bool { return len(db.Agents()) > 0 })
	if !responding {
		return c.conclude(err, "The backup on tag `%s' was successfully submitted but no backup agents are responding.\n")
	}
	return c.conclude(err, "The backup on tag `%s' was successfully submitted.\n")
}

// snapshotInterval is the option in seconds; it was checked to be a number.
func (c *backupTool) snapshotInterval() int64 {
	if n, err := strconv.ParseInt(c.values["snapshot_interval"], 10, 64); err == nil {
		return n
	}
	return defaultSnapshotInterval
}

func (c *backupTool) modifyBackup() int {
	url := c.values["destcontainer"]
	if c.given("encryption_key_file") && url == "" {
		c.print(" Encryption key file specified without a new destination URL. The encryption key will not be used.\n")
	}
	if url == "" && !c.given("snapshot_interval") {
		c.errorf("No changes were specified, nothing to do!")
		return c.fatal("Backup error")
	}
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	b := db.Backups.Tags[c.tag()]
	if refusal := refuseModification(b, c.tag()); refusal != "" {
		c.errorf("%s", refusal)
		return c.fatal("Backup error")
	}
	if url != "" {
		if exit, failed := c.openDestination(url); failed {
			return exit
		}
	}
	return c.exitCode(c.change(db, func() { c.modify(db, b, url) }))
}

func (c *backupTool) openDestination(url string) (exit int, failed bool) {
	u, err := store.ParseURL(url)
	if err != nil {
		c.badURL(url, err)
		return c.fatal("Backup Container URL invalid"), true
	}
	if err = c.reachStore(u); errors.Is(err, store.ErrNotADirectory) || store.Unwritable(u) {
		return c.fatal("Platform error"), true
	}
	return c.exitCode(err), err != nil
}

func refuseModification(b *model.Backup, tag string) string {
	switch {
	case b == nil:
		return "No backup exists on tag '" + tag + "'"
	case b.State == model.BackupAborted:
		return "Cannot modify aborted backup on tag '" + tag + "'"
	case !b.Active():
		return "Backup on tag '" + tag + "' is not runnable."
	}
	return ""
}

func (c *backupTool) modify(db *model.Database, b *model.Backup, url string) {
	if c.given("snapshot_interval") {
		b.Interval = c.snapshotInterval()
	}
	if url != "" {
		db.Retarget(b, url)
	}
}

func (c *backupTool) abortBackup() int {
	return c.endBackup("ERROR: A backup was not running on tag `%s'", "The backup on tag `%s' was successfully aborted.\n",
		func(_ *model.Database, b *model.Backup) { b.State = model.BackupAborted })
}

func (c *backupTool) discontinueBackup() int {
	if c.given("wait") {
		return c.unsupported("discontinue --wait")
	}
	return c.endBackup("ERROR: A backup in not running on tag `%s'", "The backup on tag `%s' was successfully discontinued.\n",
		(*model.Database).Discontinue)
}

// endBackup ends the backup of the tag in one way or the other.
func (c *backupTool) endBackup(none, done string, end func(*model.Database, *model.Backup)) int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	b := db.Backups.Tags[c.tag()]
	if !b.Active() {
		c.errorf(none, c.tag())
		return c.fatal("Backup unneeded request")
	}
	if c.command == "discontinue" && b.StopAfter {
		c.errorf("ERROR: The backup on tag `%s' is already discontinued", c.tag())
		return c.fatal("Backup duplicate request")
	}
	return c.conclude(c.change(db, func() { end(db, b) }), done)
}

func (c *backupTool) waitForBackup() int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	b := db.Backups.Tags[c.tag()]
	if b == nil {
		return c.unsupported("waiting for a tag without a backup")
	}
	if _, err := c.Wait(time.Time{}, func() bool { return !b.Active() }); err != nil {
		return c.exitCode(err)
	}
	c.printf("The backup on tag `%s' %s.\n", c.tag(), model.BackupStates[b.State].Description)
	return exitOK
}
