package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/console"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// backupTool is one run of fdbbackup, fdbrestore or backup_agent.
type backupTool struct {
	*cli
	command string
	values  map[string]string // options by their long names
}

// newBackupTool prepares a run; nil when it cannot begin.
func newBackupTool(ctx context.Context, w *model.Simulation, t Tool) (*backupTool, int) {
	c, err := newCLI(ctx, w, t, console.Unbuffered)
	if err != nil {
		fmt.Fprintf(t.Stderr, "ERROR: %v\n", err)
		return nil, exitFailed
	}
	return &backupTool{values: map[string]string{}, cli: c}, exitOK
}

// runBackupTool runs fdbbackup or fdbrestore to its end.
func runBackupTool(ctx context.Context, w *model.Simulation, t Tool, main func(*backupTool) int) int {
	c, exit := newBackupTool(ctx, w, t)
	if c == nil {
		return exit
	}
	w.Lock()
	exit = main(c)
	w.Unlock()
	if ctx.Err() != nil && exit == model.ExitKilled {
		return model.ExitKilled
	}
	c.finish()
	return exit
}

// options are what a command takes: long names, and whether they have a value.
type options map[string]bool

// commonOptions are taken by every command of every tool.
var commonOptions = options{
	"log": false, "logdir": true, "loggroup": true, "trace_format": true, "tls_certificate_file": true, "tls_key_file": true,
	"tls_ca_file": true, "tls_verify_peers": true, "tls_password": true, "blob_credentials": true, "memory": true, "help": false,
	"version": false, "build_flags": false, "quiet": false,
}

// shortOptions are the short forms.
var shortOptions = map[string]string{
	"C": "cluster_file", "d": "destcontainer", "b": "base_url", "t": "tagname", "s": "snapshot_interval", "k": "keys", "w": "wait",
	"z": "no_stop_when_done", "n": "dryrun", "f": "force", "e": "errorlimit", "r": "backup_source", "v": "version", "h": "help", "q": "quiet",
	"waitfordone": "wait", "cluster": "cluster_file",
}

// agentOptions are what backup_agent takes besides localities and knobs.
var agentOptions = options{"cluster_file": true}

// parse reads the options of a command. It returns what is wrong with them.
func (c *backupTool) parse(known options) (exit int, done bool) {
	args := c.tool.Args
	for len(args) > 0 {
		name, value, inline := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		long := c.longName(name)
		takes, ok := known[long]
		if !ok {
			takes, ok = commonOptions[long]
		}
		free := strings.HasPrefix(long, "knob_") || strings.HasPrefix(long, "locality_")
		if !strings.HasPrefix(args[0], "-") || !ok && !free {
			return c.badUsage("unknown option `%s'", args[0]), true
		}
		if (takes || free) && !inline {
			if len(args) < 2 || strings.HasPrefix(args[1], "-") && !negative(long) {
				return c.badUsage("invalid argument to option `%s'", args[0]), true
			}
			value, args = args[1], args[1:]
		}
		args = args[1:]
		c.set(long, value)
		if exit, done := c.aboutItself(long); done {
			return exit, true
		}
	}
	return exitOK, false
}

// negative are options whose values may begin with a dash.
func negative(name string) bool { return name == "target_version" || name == "keys" }

func (c *backupTool) longName(name string) string {
	name = strings.ReplaceAll(name, "-", "_")
	if c.tool.Name == "fdbrestore" && name == "v" {
		return "target_version"
	}
	if long, ok := shortOptions[name]; ok {
		return long
	}
	return name
}

func (c *backupTool) set(name, value string) {
	if knob, ok := strings.CutPrefix(name, "knob_"); ok && !knownKnobs[knob] {
		c.errorf("WARNING: Invalid knob option '%s'", knob)
	}
	c.values[name] = value
	switch name {
	case "cluster_file", "dest_cluster_file":
		c.ClusterFile = value
	case "tls_certificate_file", "tls_key_file", "tls_ca_file":
		if c.opts.tls == nil {
			c.opts.tls = map[string]string{}
		}
		c.opts.tls[name] = value
	}
}

func (c *backupTool) aboutItself(name string) (exit int, done bool) {
	switch name {
	case "version":
		c.print(versionText("FoundationDB", c.tool.Version))
		return exitOK, true
	case "help":
		c.print(c.usageText())
		return exitOK, true
	case "build_flags":
		return c.unsupported("--build-flags"), true
	}
	return exitOK, false
}

func (c *backupTool) given(name string) bool {
	_, ok := c.values[name]
	return ok
}

// tag is the tag to act on. Default: default.
func (c *backupTool) tag() string {
	if t := c.values["tagname"]; t != "" {
		return t
	}
	return "default"
}

// badUsage prints what is wrong with the command line.
func (c *backupTool) badUsage(format string, args ...any) int {
	c.errorf("ERROR: "+format, args...)
	c.hint()
	return exitFailed
}

func (c *backupTool) hint() { c.errorf("Try `%s --help' for more information.", c.tool.Name) }

// fatal is how the tools end that ran into an error.
func (c *backupTool) fatal(reason string) int {
	c.errorf("Fatal Error: %s", reason)
	return exitFailed
}

// errorOut ends commands with an unhandled error.
func (c *backupTool) errorOut(reason string) int {
	c.errorf("ERROR: %s", reason)
	return c.fatal(reason)
}

func (c *backupTool) unsupported(what string) int {
	c.errorf("ERROR: %s is not part of the simulated %s", what, c.tool.Name)
	return exitFailed
}
