// Package unified is the program of the unified image: a monitor that runs
// fdbserver processes according to a JSON configuration and reports its state
// in annotations of its pod, and a sidecar that hands on the binaries of its
// version. It runs inside a container and sees nothing but the container.
package unified

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// Mode is what the program does.
type Mode string

// The modes.
const (
	Launcher Mode = "launcher" // runs processes until it is signaled to end
	Init     Mode = "init"     // copies and ends
	Sidecar  Mode = "sidecar"  // copies and stays
)

// Options are the program's flags and where its image keeps things.
type Options struct {
	Mode                 Mode
	InputDir             string
	InputMonitorConf     string
	OutputDir            string
	LogPath              string
	ProcessCount         int
	MainContainerVersion string
	CopyBinaries         []string
	CopyFiles            []string
	RequireNotEmpty      []string
	EnableNodeWatch      bool

	Version        string // of the image
	BinaryDir      string // of the image's programs
	SharedBinaries string // where other versions' programs are
	ClusterFile    string // the servers' live cluster file
	Env            map[string]string
}

// The image's own places.
const (
	VersionFile    = "/var/fdb/version"
	binaryDir      = "/usr/bin"
	sharedBinaries = "/var/fdb/shared-binaries/bin"
	clusterFile    = "/var/fdb/data/fdb.cluster"
)

// ParseOptions reads the program's command line. A flag it does not know is an error.
func ParseOptions(args []string, version string, env map[string]string) (Options, error) {
	o := Options{Version: version, BinaryDir: binaryDir, SharedBinaries: sharedBinaries, ClusterFile: clusterFile, Env: env}
	mode := ""
	f := pflag.NewFlagSet("fdb-kubernetes-monitor", pflag.ContinueOnError)
	f.StringVar(&mode, "mode", string(Launcher), "launcher, init or sidecar")
	f.StringVar(&o.InputDir, "input-dir", ".", "directory of input files")
	f.StringVar(&o.InputMonitorConf, "input-monitor-conf", "config.json", "name of the configuration in the input directory")
	f.StringVar(&o.OutputDir, "output-dir", ".", "directory to copy to")
	f.StringVar(&o.LogPath, "log-path", "", "file to log to besides standard output")
	f.IntVar(&o.ProcessCount, "process-count", 1, "number of fdbserver processes")
	f.StringVar(&o.MainContainerVersion, "main-container-version", "", "version of the main container")
	f.StringArrayVar(&o.CopyBinaries, "copy-binary", nil, "binary to copy")
	f.StringArrayVar(&o.CopyFiles, "copy-file", nil, "file to copy")
	f.StringArrayVar(&o.RequireNotEmpty, "require-not-empty", nil, "file that must not be empty")
	f.BoolVar(&o.EnableNodeWatch, "enable-node-watch", env["ENABLE_NODE_WATCH"] == "true", "make the node's labels variables")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	o.Mode = Mode(mode)
	return o, o.check()
}

func (o Options) check() error {
	switch {
	case o.Mode != Launcher && o.Mode != Init && o.Mode != Sidecar:
		return fmt.Errorf("unknown mode %q", o.Mode)
	case o.ProcessCount < 1:
		return errors.New("at least one process is needed")
	case o.Version == "":
		return errors.New("the image has no version")
	}
	return nil
}

// The pod's annotations between the monitor and whoever manages the cluster.
const (
	AnnotationConfiguration = "foundationdb.org/launcher-current-configuration"
	AnnotationEnvironment   = "foundationdb.org/launcher-environment"
	AnnotationClusterFile   = "foundationdb.org/cluster-file-change"
	AnnotationIsolate       = "foundationdb.org/isolate-process-group"
	AnnotationDelayShutdown = "foundationdb.org/delay-shutdown"
)

const (
	pollInterval   = 400 * time.Millisecond // how often files are looked at
	longestBackOff = 60 * time.Second
	stableAfter    = 5 * time.Minute // a process that ran so long has no failures behind it
)

// backOff is the wait before a process starts again after so many failures in a row.
func backOff(failures int) time.Duration {
	return min(longestBackOff, time.Duration(failures*failures)*time.Second)
}
