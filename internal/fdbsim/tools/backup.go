package tools

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
)

// backupCommand is one command of fdbbackup.
type backupCommand struct {
	options options
	run     func(*backupTool) int
	// asks is whether the command requires the database.
	asks bool
}

// exitBadDestination is how `fdbbackup start` ends when the destination is at
// fault.
const exitBadDestination = 10

func backupCommands() map[string]backupCommand {
	tagged := options{"cluster_file": true, "tagname": true}
	return map[string]backupCommand{
		"start": {with(tagged, "destcontainer=", "snapshot_interval=", "initial_snapshot_interval=", "keys=", "wait", "no_stop_when_done",
			"dryrun", "encryption_key_file=", "partitioned_log_experimental", "mutation_log_type="), (*backupTool).startBackup, true},
		"modify": {with(tagged, "destcontainer=", "snapshot_interval=", "active_snapshot_interval=", "verify_uid=",
			"encryption_key_file="), (*backupTool).modifyBackup, true},
		"status":      {with(tagged, "errorlimit=", "json"), (*backupTool).backupStatus, true},
		"abort":       {tagged, (*backupTool).abortBackup, true},
		"discontinue": {with(tagged, "wait"), (*backupTool).discontinueBackup, true},
		"wait":        {with(tagged, "no_stop_when_done"), (*backupTool).waitForBackup, true},
		"pause":       {options{"cluster_file": true}, (*backupTool).pauseAgents, true},
		"resume":      {options{"cluster_file": true}, (*backupTool).resumeAgents, true},
		"tags":        {options{"cluster_file": true}, (*backupTool).listTags, true},
		"list":        {options{"base_url": true}, (*backupTool).listBackups, false},
		"delete":      {options{"destcontainer": true}, (*backupTool).deleteBackup, false},
		"describe":    {with(options{"cluster_file": true, "destcontainer": true}, "json", "version_timestamps"), (*backupTool).describeBackup, false},
		"expire": {
			with(options{"cluster_file": true, "destcontainer": true}, "expire_before_version=", "delete_before_days=", "force"),
			(*backupTool).expireBackup, false,
		},
	}
}

// with adds options: those that end in an equals sign have a value.
func with(base options, more ...string) options {
	all := options{}
	maps.Copy(all, base)
	for _, name := range more {
		plain, takes := strings.CutSuffix(name, "=")
		all[plain] = takes
	}
	return all
}

// backupMain is fdbbackup.
func backupMain(c *backupTool) int {
	if len(c.tool.Args) == 0 {
		c.print(c.usageText())
		return exitFailed
	}
	if strings.HasPrefix(c.tool.Args[0], "-") {
		exit, _ := c.parse(options{})
		return exit
	}
	c.command = c.tool.Args[0]
	if c.command == "query" || c.command == "cleanup" {
		return c.unsupported(c.command)
	}
	command, known := backupCommands()[c.command]
	if !known {
		return c.badUsage("unknown option `%s'", c.command)
	}
	c.tool.Args = c.tool.Args[1:]
	if exit, done := c.parse(c.forVersion(command.options)); done {
		return exit
	}
	if c.command == "start" && c.values["destcontainer"] == "" { // before the cluster file is read
		c.badUsage("No backup destination was specified.")
		return exitBadDestination
	}
	if command.asks {
		return c.runOnDatabase(command.run)
	}
	return c.runCommand(command.run)
}

// forVersion leaves out the options that the version does not have.
func (c *backupTool) forVersion(all options) options {
	known := with(all)
	if !c.Release.SupportsBackupEncryption() {
		delete(known, "encryption_key_file")
	}
	if c.Release.HasMutationLogType() {
		delete(known, "partitioned_log_experimental")
	} else {
		delete(known, "mutation_log_type")
	}
	return known
}

// runOnDatabase runs a command that needs the database.
func (c *backupTool) runOnDatabase(run func(*backupTool) int) int {
	return c.runAfter(c.findDatabase, run)
}

// runCommand runs a command that needs no database.
func (c *backupTool) runCommand(run func(*backupTool) int) int {
	return c.runAfter(func() (int, bool) { return exitOK, false }, run)
}

func (c *backupTool) findDatabase() (exit int, stopped bool) {
	if !c.readClusterFile() {
		return exitFailed, true
	}
	return c.checkTLS()
}

func (c *backupTool) runAfter(first func() (exit int, stopped bool), run func(*backupTool) int) int {
	if exit, done := c.checkNumbers(); done {
		return exit
	}
	if exit, stopped := first(); stopped {
		return exit
	}
	if err := c.Pause(client.Startup); err != nil {
		return c.exitCode(err)
	}
	return run(c)
}

func (c *backupTool) checkNumbers() (exit int, done bool) {
	for name, what := range map[string]string{"snapshot_interval": "snapshot interval", "target_version": "database version"} {
		if text, ok := c.values[name]; ok {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return c.badUsage("Could not parse %s `%s'", what, text), true
			}
		}
	}
	return exitOK, false
}

// reachDatabase waits, without a limit, until the database can be written.
func (c *backupTool) reachDatabase() (*model.Database, error) {
	return c.Database((*model.Database).Writable)
}

// change runs what changes something, or is cut off with or without its effect.
func (c *backupTool) change(db *model.Database, apply func()) error {
	if !db.Faults.TakeDrop() {
		apply()
		return nil
	}
	if db.Faults.ApplyUnknown {
		apply()
	}
	return client.ErrKilled
}

// keyRanges are the ranges of -k. Without it, all keys of users.
func (c *backupTool) keyRanges() (ranges []keyspace.Range, exit int, ok bool) {
	text, given := c.values["keys"]
	if !given {
		return []keyspace.Range{{Begin: "", End: store.UserEnd}}, exitOK, true
	}
	for part := range strings.SplitSeq(text, ";") {
		words := strings.Fields(part)
		switch len(words) {
		case 1:
			ranges = append(ranges, keyspace.Range{Begin: words[0], End: model.PrefixEnd(words[0])})
		case 2:
			ranges = append(ranges, keyspace.Range{Begin: words[0], End: words[1]})
		default:
			// The line break is missing there, too.
			fmt.Fprintf(c.err, "ERROR: Invalid key range identified with %d keys", len(words))
			c.hint()
			return nil, exitFailed, false
		}
	}
	return ranges, exitOK, true
}

func (c *backupTool) listTags() int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	for _, tag := range db.TagNames() {
		c.printf("%s\n", tag)
	}
	return exitOK
}

func (c *backupTool) pauseAgents() int {
	return c.changeAgents((*model.Database).PauseBackups, "paused")
}

func (c *backupTool) resumeAgents() int {
	return c.changeAgents((*model.Database).ResumeBackups, "resumed")
}

func (c *backupTool) changeAgents(change func(*model.Database), changed string) int {
	db, err := c.reachDatabase()
	if err == nil {
		err = c.change(db, func() { change(db) })
	}
	if err != nil {
		return c.exitCode(err)
	}
	c.printf("All backup agents have been %s.\n", changed)
	return exitOK
}

func (c *backupTool) usageText() string {
	first, _, _ := strings.Cut(versionText("FoundationDB", c.tool.Version), "\n")
	return first + "\n" + texts.Usage(c.tool.Name)
}
