package tools

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
)

// cliOptions is what fdbcli's command line asks for.
type cliOptions struct {
	exec      string
	execGiven bool
	timeout   time.Duration
	noStatus  bool
	tls       map[string]string // certificate, key and ca file, by name
}

// Options of fdbcli that take a value, take none, or are not modeled.
var (
	cliValues = model.Set("C", "cluster_file", "exec", "timeout", "log_dir", "log_group", "trace_format", "api_version", "memory",
		"tls_certificate_file", "tls_key_file", "tls_ca_file", "tls_verify_peers", "tls_password")
	cliSwitches = model.Set("no_status", "no_hints", "log", "v", "version", "h", "help", "debug_tls", "build_flags",
		"use_future_protocol_version", "tls_disable_plaintext_connection")
)

// parseArgs reads the command line; done means that the program ends at once.
func (c *cli) parseArgs() (code int, done bool) {
	c.opts.tls = map[string]string{}
	timeout := ""
	for i := 0; i < len(c.tool.Args); i++ {
		name, value, inline := strings.Cut(strings.TrimLeft(c.tool.Args[i], "-"), "=")
		name = strings.ReplaceAll(name, "-", "_")
		knob := strings.HasPrefix(name, "knob_")
		if !cliValues[name] && !cliSwitches[name] && !knob {
			c.print(cliUsage(c.tool.Version))
			return exitFailed, true
		}
		if (cliValues[name] || knob) && !inline {
			i++
			if i >= len(c.tool.Args) || strings.HasPrefix(c.tool.Args[i], "-") {
				c.print(cliUsage(c.tool.Version))
				return exitFailed, true
			}
			value = c.tool.Args[i]
		}
		if name == "timeout" {
			timeout = value
		}
		if code, done := c.setOption(name, value); done {
			return code, true
		}
	}
	return c.setTimeout(timeout)
}

func (c *cli) setTimeout(text string) (int, bool) {
	if text == "" {
		return exitOK, false
	}
	seconds, err := strconv.Atoi(text)
	switch {
	case err != nil:
		c.errorf("ERROR: invalid timeout %s", text)
		return exitFailed, true
	case !c.opts.execGiven:
		c.errorf("ERROR: --timeout may only be specified with --exec")
		return exitFailed, true
	}
	c.opts.timeout = time.Duration(seconds) * time.Second
	return exitOK, false
}

func (c *cli) setOption(name, value string) (code int, done bool) {
	switch name {
	case "C", "cluster_file":
		c.ClusterFile = value
	case "exec":
		c.opts.exec, c.opts.execGiven = value, true
	case "no_status":
		c.opts.noStatus = true
	case "v", "version":
		c.print(versionText("FoundationDB CLI", c.tool.Version))
		return exitOK, true
	case "h", "help":
		c.print(cliUsage(c.tool.Version))
		return exitOK, true
	case "debug_tls", "build_flags":
		c.errorf("ERROR: --%s is not part of the simulated fdbcli", strings.ReplaceAll(name, "_", "-"))
		return exitFailed, true
	case "tls_certificate_file", "tls_key_file", "tls_ca_file":
		c.opts.tls[name] = value
	case "api_version":
		return c.checkAPIVersion(value)
	default:
		if knob, ok := strings.CutPrefix(name, "knob_"); ok && !knownKnobs[knob] {
			c.errorf("WARNING: Invalid knob option '%s'", knob)
		}
	}
	return exitOK, false
}

// knownKnobs are the knobs that the plugin and the operator set.
var knownKnobs = model.Set("http_verbose_level", "http_request_aws_v4_header", "disable_posix_kernel_aio", "min_trace_severity",
	"max_trace_lines", "trace_flush_interval")

func (c *cli) checkAPIVersion(text string) (int, bool) {
	newest := c.Release.Major*100 + c.Release.Minor*10
	n, err := strconv.Atoi(text)
	if err != nil {
		c.errorf("ERROR: invalid client version %s", text)
		return exitFailed, true
	}
	if n < 700 || n > newest {
		c.errorf("ERROR: api version %s is not supported. (Min: 700, Max: %d)", text, newest)
		return exitFailed, true
	}
	return exitOK, false
}

func cliUsage(version string) string {
	first, _, _ := strings.Cut(versionText("FoundationDB CLI", version), "\n")
	return first + "\n" + texts.Usage("fdbcli")
}

const noClusterFile = "1515 No cluster file found in current directory or default location"

// readClusterFile finds and reads the cluster file.
func (c *cli) readClusterFile() bool {
	if c.ClusterFile == "" {
		if name, ok := c.environment("FDB_CLUSTER_FILE"); ok {
			c.ClusterFile = name
		}
	}
	if c.ClusterFile == "" {
		for _, name := range []string{"./fdb.cluster", "/etc/foundationdb/fdb.cluster"} {
			if _, err := c.Files.ReadFile(name); err == nil {
				c.ClusterFile = name
				break
			}
		}
	}
	if c.ClusterFile == "" {
		c.errorf("Unable to read cluster file `./fdb.cluster' or `/etc/foundationdb/fdb.cluster' and FDB_CLUSTER_FILE unset: %s", noClusterFile)
		return false
	}
	switch err := c.ReadClusterFile(); {
	case err == nil:
		return true
	case errors.Is(err, client.ErrNoClusterFile):
		c.errorf("Unable to read cluster file `%s': %s", c.ClusterFile, noClusterFile)
	default:
		c.errorf("Invalid cluster file `%s': 2104 Connection string invalid", c.ClusterFile)
	}
	return false
}

// checkTLS ends the program where TLS is needed and not configured, or is
// configured with files that are not there.
func (c *cli) checkTLS() (code int, stopped bool) {
	c.TLS = client.TLSFiles{Certificate: c.tlsFile("certificate"), Key: c.tlsFile("key"), Authorities: c.tlsFile("ca")}
	err := c.CheckTLS()
	if missing, is := errors.AsType[*client.MissingTLSFileError](err); is {
		fmt.Fprintf(c.err, "Warning: Error reading TLS %s [%s]: File not found\nterminate called after throwing an instance of 'Error'\n"+
			"SIGNAL: Aborted (6)\n", missing.What, missing.Name)
		return exitAborted, true
	}
	if err != nil {
		c.errorf("ERROR: %v", err)
		return exitFailed, true
	}
	return exitOK, false
}

// tlsFile is the path of a file for TLS, from the command line or the environment.
func (c *cli) tlsFile(kind string) string {
	name := "tls_" + kind + "_file"
	if path := c.opts.tls[name]; path != "" {
		return path
	}
	path, _ := c.environment("FDB_" + strings.ToUpper(name))
	return path
}
