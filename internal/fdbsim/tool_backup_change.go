package fdbsim

import (
	"errors"
	"strconv"
	"time"
)

// respondPatience is how long `start` waits for an agent to say something.
const respondPatience = 5 * time.Second

// defaultSnapshotInterval is ten days, in seconds.
const defaultSnapshotInterval = 864000

// badURL says what is wrong with a URL.
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
	u, err := parseBackupURL(url)
	if err != nil {
		c.badURL(url, err)
		return exitBadDestination
	}
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	if db.backups.tags[c.tag()].active() {
		c.errorf("ERROR: A backup is already running on tag `%s'", c.tag())
		return c.fatal("Backup error")
	}
	if c.given("dryrun") {
		return c.said(c.pause(respondPatience/10), "The backup on tag `%s' was successfully submitted. (DRY RUN)\n")
	}
	if exit, failed := c.createContainer(u); failed {
		return exit
	}
	return c.submit(db, url, ranges)
}

// said prints a sentence about the tag, unless something was wrong.
func (c *backupTool) said(err error, format string) int {
	if err != nil {
		return exitCode(err)
	}
	c.printf(format, c.tag())
	return exitOK
}

// createContainer goes to the store. One that never answers keeps the tool for
// ever.
func (c *backupTool) createContainer(u backupURL) (exit int, failed bool) {
	if key := c.values["encryption_key_file"]; key != "" {
		if _, err := c.tool.Files.ReadFile(key); err != nil {
			c.errorf("ERROR: Could not create backup container: File not found\nERROR: An error was encountered during submission")
			return c.fatal("Backup error"), true
		}
	}
	err := c.reachStore(u)
	if errors.Is(err, errNotADirectory) {
		c.errorf("ERROR: Platform error")
		return c.fatal("Backup error"), true
	}
	return exitCode(err), err != nil
}

// reachStore waits until the store of a URL answers.
func (c *backupTool) reachStore(u backupURL) error {
	var err error
	_, ended := c.wait(time.Time{}, func() bool {
		err = c.w.stores.reach(u, c.tool.Files, c.tool.Env)
		return !errors.Is(err, errStoreSilent)
	})
	if ended != nil {
		return ended
	}
	return err
}

func (c *backupTool) submit(db *database, url string, ranges []keyRange) int {
	b := &backup{
		tag: c.tag(), url: url, interval: c.snapshotInterval(), stopAfter: !c.given("no_stop_when_done"), ranges: ranges,
		encrypted: c.given("encryption_key_file"), partitioned: c.given("partitioned_log_experimental") || c.given("mutation_log_type"),
	}
	if err := c.change(db, func() { db.submit(b) }); err != nil {
		return exitCode(err)
	}
	if c.given("wait") {
		c.printf("Submitted and now waiting for the backup on tag `%s' to complete.\n", c.tag())
		_, err := c.wait(time.Time{}, func() bool { return !b.active() })
		return exitCode(err)
	}
	if err := c.pause(respondPatience / 10); err != nil {
		return exitCode(err)
	}
	responding, err := c.wait(c.w.now.Add(respondPatience*9/10), func() bool { return len(db.agents()) > 0 })
	if !responding {
		return c.said(err, "The backup on tag `%s' was successfully submitted but no backup agents are responding.\n")
	}
	return c.said(err, "The backup on tag `%s' was successfully submitted.\n")
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
	if url != "" {
		if exit, failed := c.openDestination(url); failed {
			return exit
		}
	}
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	b := db.backups.tags[c.tag()]
	if refusal := refuseModification(b, c.tag()); refusal != "" {
		c.errorf("%s", refusal)
		return c.fatal("Backup error")
	}
	return exitCode(c.change(db, func() { c.modify(db, b, url) }))
}

func (c *backupTool) openDestination(url string) (exit int, failed bool) {
	u, err := parseBackupURL(url)
	if err != nil {
		c.badURL(url, err)
		return c.fatal("Backup Container URL invalid"), true
	}
	if err = c.reachStore(u); errors.Is(err, errNotADirectory) || unwritable(u) {
		return c.fatal("Platform error"), true
	}
	return exitCode(err), err != nil
}

func refuseModification(b *backup, tag string) string {
	switch {
	case b == nil:
		return "No backup exists on tag '" + tag + "'"
	case b.state == backupAborted:
		return "Cannot modify aborted backup on tag '" + tag + "'"
	case !b.active():
		return "Backup on tag '" + tag + "' is not runnable."
	}
	return ""
}

func (c *backupTool) modify(db *database, b *backup, url string) {
	if c.given("snapshot_interval") {
		b.interval = c.snapshotInterval()
	}
	if url != "" {
		db.retarget(b, url)
	}
}

func (c *backupTool) abortBackup() int {
	return c.endBackup("ERROR: A backup was not running on tag `%s'", "The backup on tag `%s' was successfully aborted.\n",
		func(_ *database, b *backup) { b.state = backupAborted })
}

func (c *backupTool) discontinueBackup() int {
	if c.given("wait") {
		return c.unsupported("discontinue --wait")
	}
	return c.endBackup("ERROR: A backup in not running on tag `%s'", "The backup on tag `%s' was successfully discontinued.\n",
		(*database).discontinue)
}

// endBackup ends the backup of the tag in one way or the other.
func (c *backupTool) endBackup(none, done string, end func(*database, *backup)) int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	b := db.backups.tags[c.tag()]
	if !b.active() {
		c.errorf(none, c.tag())
		return c.fatal("Backup unneeded request")
	}
	if c.command == "discontinue" && b.stopAfter {
		c.errorf("ERROR: The backup on tag `%s' is already discontinued", c.tag())
		return c.fatal("Backup duplicate request")
	}
	return c.said(c.change(db, func() { end(db, b) }), done)
}

func (c *backupTool) waitForBackup() int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	b := db.backups.tags[c.tag()]
	if b == nil {
		return c.unsupported("waiting for a tag without a backup")
	}
	if _, err := c.wait(time.Time{}, func() bool { return !b.active() }); err != nil {
		return exitCode(err)
	}
	c.printf("The backup on tag `%s' %s.\n", c.tag(), backupStates[b.state].description)
	return exitOK
}
