package fdbsim

import (
	"strconv"
	"strings"
	"time"
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

// withDestination wants the cluster file named, and there.
func (c *backupTool) withDestination(run func(*backupTool) int) int {
	if c.opts.clusterFile == "" {
		c.errorf("Restore destination cluster file must be specified explicitly.")
		return exitFailed
	}
	if _, err := c.tool.Files.ReadFile(c.opts.clusterFile); err != nil {
		c.errorf("Restore destination cluster file '%s' does not exist.", c.opts.clusterFile)
		return exitFailed
	}
	return c.runCommandOf(run, true)
}

func (c *backupTool) restoreStatus() int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	if c.given("tagname") {
		c.print(db.statusLine(db.restoreOf(c.tag())) + "\n\n\n")
		return exitOK
	}
	var lines []string
	for _, r := range db.restores {
		lines = append(lines, db.statusLine(r)+"\n\n")
	}
	c.print(strings.Join(lines, "") + "\n")
	return exitOK
}

func (c *backupTool) abortRestore() int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	r := db.restoreOf(c.tag())
	if r.runnable() {
		if err := c.change(db, func() { db.abort(r) }); err != nil {
			return exitCode(err)
		}
	}
	c.printf("RESTORE_ABORT Tag: %s  State: %s\n", c.tag(), r.stateText())
	return exitOK
}

func (c *backupTool) waitForRestore() int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	r := db.restoreOf(c.tag())
	if r == nil {
		c.printf("waitRestore: Tag: %s  State: %s\n", c.tag(), restoreNone)
		return exitOK
	}
	return exitCode(c.follow(db, r))
}

// follow shows a restore until it is over, once a second and when its state
// changes.
func (c *backupTool) follow(db *database, r *restore) error {
	for {
		c.print(db.progressLine(r) + "\n")
		if !r.runnable() {
			return nil
		}
		was := r.state
		if _, err := c.wait(c.w.now.Add(time.Second), func() bool { return r.state != was }); err != nil {
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
	r := &restore{
		tag: c.tag(), url: found.url, ranges: ranges, whole: !c.given("keys"), addPrefix: c.values["add_prefix"], removePrefix: c.values["remove_prefix"],
	}
	if exit, done := c.chooseVersion(found, r); done {
		return exit
	}
	return c.queueRestore(r)
}

func (c *backupTool) sourceIsSane() bool {
	_, err := parseBackupURL(c.values["backup_source"])
	return err == nil
}

// chooseVersion finds the version to restore, and says what there is.
func (c *backupTool) chooseVersion(found *container, r *restore) (exit int, done bool) {
	_, latest, ok := found.restorable()
	if version, err := strconv.ParseInt(c.values["target_version"], 10, 64); err == nil {
		r.version = version
	} else {
		if !ok {
			c.errorf("The specified backup is not restorable to any version.")
			return c.errorOut("Restore error"), true
		}
		r.version = latest
		c.printf("Ussing target restore version %d\n", latest)
	}
	if c.given("dryrun") {
		c.printf("Backup can be used to restore to version %d\n", r.version)
		return exitOK, true
	}
	c.print("Backup Description\n" + description{container: found, relative: found.logEnd()}.text())
	if found.runFor(r.version) == nil {
		c.errorf("ERROR: Restore version %d is not possible from %s", r.version, found.url)
		return c.errorOut("Invalid restore version"), true
	}
	c.printf("Restoring backup to version: %d\n", r.version)
	return exitOK, false
}

// Reasons not to start a restore, in the words of the tools.
const (
	duplicateRestore = "Restore duplicate request"
	notEmpty         = "Attempted to restore into a non-empty destination database"
)

// queueRestore submits a restore. A database that somebody else has locked keeps
// it waiting for ever.
func (c *backupTool) queueRestore(r *restore) int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	if refusal := db.refuseRestore(r); refusal != "" {
		return c.errorOut(refusal)
	}
	if _, err := c.wait(time.Time{}, func() bool { return db.lockUID() == "" }); err != nil {
		return exitCode(err)
	}
	if err := c.change(db, func() { db.queue(r) }); err != nil {
		return exitCode(err)
	}
	if !c.given("wait") {
		return exitOK
	}
	if err := c.follow(db, r); err != nil {
		return exitCode(err)
	}
	if r.state != restoreCompleted {
		return exitFailed
	}
	c.printf("Restored to version %d\n", r.version)
	return exitOK
}

// refuseRestore says why a restore is not started, "" where it is.
func (db *database) refuseRestore(r *restore) string {
	if db.restoreOf(r.tag).runnable() {
		return duplicateRestore
	}
	for _, k := range r.ranges {
		begin, end := r.addPrefix+strings.TrimPrefix(k.begin, r.removePrefix), r.addPrefix+strings.TrimPrefix(k.end, r.removePrefix)
		if len(db.keys.latestRange(begin, min(end, userEnd))) > 0 {
			return notEmpty
		}
	}
	return ""
}
