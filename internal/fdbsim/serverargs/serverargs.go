// Package serverargs reads the command line of an fdbserver.
package serverargs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Args is what the command line of an fdbserver asks for.
type Args struct {
	// CommandLine is the whole line as status shows it.
	CommandLine string
	// ClusterFile is the live cluster file; SeedClusterFile its first content.
	ClusterFile, SeedClusterFile string
	// Public are the addresses of --public_address, in its order.
	Public []fdb.Address
	// Class is the process class; "unset" when the line names none.
	Class string
	// ClassGiven is whether the line names a class.
	ClassGiven bool
	// DataDir is --datadir.
	DataDir string
	// Locality holds every --locality_KEY=VALUE by its key.
	Locality map[string]string
	// MemoryBytes is --memory; 8 GiB when the line does not say.
	MemoryBytes int64
	// WithoutEvents is whether --knob_min_trace_severity suppresses the trace events that
	// status is collected from.
	WithoutEvents bool
}

// eventSeverity is the severity of the trace events that status is collected from.
const eventSeverity = 10

// Classes are the classes that fdbserver knows, by the names it accepts.
var Classes = map[string]string{
	"storage": "storage", "transaction": "transaction", "resolution": "resolution",
	"stateless": "stateless", "log": "log", "proxy": "commit_proxy", "commit_proxy": "commit_proxy",
	"grv_proxy": "grv_proxy", "master": "master", "test": "test", "unset": "unset",
	"router": "router", "cluster_controller": "cluster_controller", "data_distributor": "data_distributor",
	"ratekeeper": "ratekeeper", "fast_restore": "fast_restore", "storage_cache": "storage_cache",
	"coordinator": "coordinator", "backup": "backup", "consistency_scan": "consistency_scan",
	"blob_manager": "blob_manager", "blob_worker": "blob_worker", "encrypt_key_proxy": "encrypt_key_proxy",
}

const defaultServerMemory = 8 << 30

// Parse reads the argument vector of an fdbserver, argv[0] included.
func Parse(argv []string) (Args, error) {
	if len(argv) == 0 {
		return Args{}, fmt.Errorf("parse fdbserver arguments: none given")
	}
	a := Args{
		CommandLine: strings.Join(argv, " "), Class: "unset",
		Locality: map[string]string{}, MemoryBytes: defaultServerMemory,
	}
	for _, o := range longOptions(argv[1:], serverSwitches) {
		if err := a.set(o); err != nil {
			return Args{}, fmt.Errorf("parse fdbserver arguments: %w", err)
		}
	}
	if len(a.Public) == 0 {
		return Args{}, fmt.Errorf("parse fdbserver arguments: no --public_address")
	}
	if a.ClusterFile == "" {
		return Args{}, fmt.Errorf("parse fdbserver arguments: no --cluster_file")
	}
	return a, nil
}

func (a *Args) set(o option) error {
	var err error
	switch name := strings.ReplaceAll(o.name, "-", "_"); {
	case name == "cluster_file" || name == "C":
		a.ClusterFile = o.value
	case name == "seed_cluster_file":
		a.SeedClusterFile = o.value
	case name == "public_address" || name == "p":
		a.Public, err = fdb.ParseAddresses(o.value)
	case name == "class" || name == "c":
		err = a.setClass(o.value)
	case name == "datadir" || name == "d":
		a.DataDir = o.value
	case name == "zoneid":
		a.Locality[fdb.LocalityZoneID] = o.value
	case name == "machine_id" || name == "machineid":
		a.Locality[fdb.LocalityMachineID] = o.value
	case name == "datacenter_id" || name == "dcid":
		a.Locality[fdb.LocalityDCID] = o.value
	case strings.HasPrefix(name, "locality_"):
		a.Locality[strings.TrimPrefix(o.name[len("locality"):], o.name[len("locality"):][:1])] = o.value
	case name == "memory":
		a.MemoryBytes, err = fdb.ParseMemory(o.value)
	case name == "knob_min_trace_severity":
		var severity int
		severity, err = strconv.Atoi(o.value)
		a.WithoutEvents = severity > eventSeverity
	case !fdb.IsServerOption(name) && !slices.Contains(shortOptions, name) && !slices.Contains(serverSwitches, name):
		err = fmt.Errorf("unknown option --%s", o.name)
	case fdb.ServerOptionNeeds(name, o.value) != "":
		err = fmt.Errorf("invalid value %q of option --%s", o.value, o.name)
	}
	return err
}

func (a *Args) setClass(name string) error {
	class, known := Classes[name]
	if !known {
		return fmt.Errorf("unknown machine class %q", name)
	}
	a.Class, a.ClassGiven = class, true
	return nil
}

// shortOptions are the names of one letter of options that fdbserver takes and the model has no use for.
var shortOptions = []string{"l", "L", "M", "m"}

var serverSwitches = []string{"newconsole", "noconsole", "no_config_db", "io_trust_warn_only", "use_test_config_db", "version", "v"}

// option is one long or short option of a command line.
type option struct{ name, value string }

// longOptions splits arguments into options. An option takes its value after
// "=" or from the next argument, unless it is one of the switches.
func longOptions(args []string, switches []string) []option {
	var options []option
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !inline && !slices.Contains(switches, strings.ReplaceAll(name, "-", "_")) && i+1 < len(args) {
			i++
			value = args[i]
		}
		options = append(options, option{name: name, value: value})
	}
	return options
}

// Matches reports whether the process has this locality value.
func (a Args) Matches(key, value string) bool {
	got, has := a.Locality[key]
	return has && got == value
}
