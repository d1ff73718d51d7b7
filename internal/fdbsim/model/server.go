package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/serverargs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// File is one file as a process sees it.
type File interface {
	Read() ([]byte, error)
	Write(content []byte) error
}

// Server is an fdbserver to start.
type Server struct {
	// Args is the argument vector, argv[0] first.
	Args []string
	// Version is the full version of the binary, such as "7.3.79".
	Version string
	// DataKey identifies the data directory: a server that starts with the same
	// key finds what the last one left there.
	DataKey string
	// ClusterFile is the live cluster file. The server reads it once and
	// rewrites it when the coordinators change.
	ClusterFile File
	// Seed is where the live cluster file's first content comes from. Nil when
	// the server has no --seed_cluster_file.
	Seed File
	// Coordination is the file in the data directory that appears once the process keeps
	// coordination state. That of another process can be copied there. Nil keeps none.
	Coordination File
	// Env is the process's environment.
	Env map[string]string
	// RestartDelay makes the [Simulation] start the process again that long after it
	// ended by itself, as a supervisor does. Zero leaves that to the caller.
	RestartDelay time.Duration
	// MaxUptime returns how long the process can have been up by the clock of what started it, where
	// that passes more slowly than the [Simulation]'s. Nil for one clock.
	MaxUptime func() time.Duration
}

// ExitKilled is the exit code of a process that SIGKILL ended.
const ExitKilled = 137

// Process is a running process.
type Process struct {
	simulation *Simulation
	spec       Server
	slot       *Slot
	Args       serverargs.Args
	listens    []string // its addresses with ports
	// names are all that an exclusion can call it by; its disk's process ID is another.
	names []string
	// localities are those of its arguments and the process ID. No process gets other ones.
	localities map[string]string
	Version    fdb.Version
	Disk       *Disk
	file       File
	conn       fdb.ConnectionString
	// stored is whether the live cluster file has conn: one that comes from the seed is written
	// once a majority of its coordinators answers.
	stored  bool
	Started time.Time
	died    time.Time
	ended   bool
	Frozen  bool
	Exited  chan int
	db      *Database // nil until it has joined
	// classSet is whether setclass overrides givenClass, the class of the
	// command line.
	classSet   bool
	givenClass string
}

// Slot is where a process runs: one that is started again has the slot of the one before.
type Slot struct{ Process *Process }

// Start starts a process. It fails when the command line or the cluster file cannot be
// used, as fdbserver would exit at once, and when another live process has the address.
func (w *Simulation) Start(spec Server) (*Slot, error) {
	s, err := w.newServer(spec)
	if err != nil {
		return nil, fmt.Errorf("start fdbserver: %w", err)
	}
	s.slot = &Slot{Process: s}
	w.launch(s)
	w.Wake()
	return s.slot, nil
}

// Freeze stops a process from answering.
func (w *Simulation) Freeze(s *Process) {
	if !s.ended && !s.Frozen {
		w.toggleFrozen(s)
	}
}

// Thaw lets a frozen process go on.
func (w *Simulation) Thaw(s *Process) {
	if !s.ended && s.Frozen {
		w.toggleFrozen(s)
	}
}

func (w *Simulation) toggleFrozen(s *Process) {
	w.noteIncompatiblePeer(s)
	s.Frozen = !s.Frozen
	w.MembershipChanged(s)
	w.Wake()
}

func (w *Simulation) launch(s *Process) {
	w.servers = append(w.servers, s)
	w.After(w.Pace.Join, func() { w.join(s) })
}

// restart starts a process again that ended by itself.
func (w *Simulation) restart(old *Process) {
	s, err := w.newServer(old.spec)
	if err != nil {
		w.After(old.spec.RestartDelay, func() { w.restart(old) })
		return
	}
	s.slot = old.slot
	s.slot.Process = s
	w.launch(s)
}

func exclusionNames(args serverargs.Args) []string {
	var names []string
	for _, a := range args.Public {
		names = append(names, a.Host, a.HostPort())
	}
	for key, value := range args.Locality {
		names = append(names, fdb.LocalityExclusion(key, value))
	}
	return names
}

func (w *Simulation) newServer(spec Server) (*Process, error) {
	args, err := serverargs.Parse(spec.Args)
	if err != nil {
		return nil, err
	}
	version, err := fdb.ParseVersion(spec.Version)
	if err != nil {
		return nil, err
	}
	for _, a := range args.Public {
		if w.listener(a.HostPort()) != nil {
			return nil, fmt.Errorf("bind %s: address in use", a.HostPort())
		}
	}
	conn, stored, err := readServerClusterFile(spec)
	if err != nil {
		return nil, err
	}
	disk := w.openDisk(spec.DataKey)
	w.loadCoordination(disk, spec.Coordination)
	localities := map[string]string{fdb.LocalityFDBProcessID: disk.ProcessID}
	maps.Copy(localities, args.Locality)
	return &Process{
		localities: localities, simulation: w, spec: spec, Args: args, listens: hostPorts(args.Public), names: exclusionNames(args), Version: version, Disk: disk, file: spec.ClusterFile,
		conn: conn, stored: stored, Started: w.Now, Exited: make(chan int, 1),
	}, nil
}

// readServerClusterFile reads the live cluster file, or the seed while there is none, and reports
// whether it was the live one.
func readServerClusterFile(spec Server) (conn fdb.ConnectionString, live bool, err error) {
	if content, err := spec.ClusterFile.Read(); err == nil && len(content) > 0 {
		conn, err := fdb.ParseClusterFile(string(content))
		return conn, true, err
	}
	if spec.Seed == nil {
		return conn, false, fmt.Errorf("read cluster file: there is none, and no seed")
	}
	content, err := spec.Seed.Read()
	if err != nil {
		return conn, false, fmt.Errorf("read seed cluster file: %w", err)
	}
	conn, err = fdb.ParseClusterFile(string(content))
	return conn, false, err
}

// ClusterFileText is how FoundationDB writes a cluster file.
func ClusterFileText(c fdb.ConnectionString) string {
	return "# DO NOT EDIT!\n# This file is auto-generated, it is not to be edited by hand\n" + c.String() + "\n"
}

// Uptime returns how long the process has been up.
func (s *Process) Uptime() time.Duration {
	up := s.simulation.Now.Sub(s.Started)
	if s.spec.MaxUptime == nil {
		return up
	}
	return min(up, s.spec.MaxUptime())
}

// Alive reports whether the process answers.
func (s *Process) Alive() bool { return !s.ended && !s.Frozen }

// Address is the primary address: the TLS one where there is one.
func (s *Process) Address() fdb.Address {
	for _, a := range s.Args.Public {
		if a.TLS {
			return a
		}
	}
	return s.Args.Public[0]
}

// ListensOn reports whether the process has an address.
func (s *Process) ListensOn(hostPort string) bool { return slices.Contains(s.listens, hostPort) }

func hostPorts(addresses []fdb.Address) []string {
	all := make([]string, len(addresses))
	for i, a := range addresses {
		all[i] = a.HostPort()
	}
	return all
}

// Locality is the value of a locality, "" when the process has none of that name.
func (s *Process) Locality(key string) string { return s.Args.Locality[key] }

// Localities are all localities that the process reports, by their keys. They must not be changed.
func (s *Process) Localities() map[string]string { return s.localities }

// Zone is the fault domain; a process without a zone is a zone of its own.
func (s *Process) Zone() string {
	if z := s.Locality(fdb.LocalityZoneID); z != "" {
		return z
	}
	return s.Disk.ProcessID
}

// Machine is the machine; a process without one counts by its zone.
func (s *Process) Machine() string {
	if m := s.Locality(fdb.LocalityMachineID); m != "" {
		return m
	}
	return s.Zone()
}

// listener is the live process that listens on an address, or nil.
func (w *Simulation) listener(hostPort string) *Process {
	for _, s := range w.servers {
		if !s.ended && s.ListensOn(hostPort) {
			return s
		}
	}
	return nil
}

// EndProcess ends a process with an exit code.
func (w *Simulation) EndProcess(s *Process, code int) {
	if s.ended {
		return
	}
	w.noteIncompatiblePeer(s)
	s.ended, s.died = true, w.Now
	s.Exited <- code
	close(s.Exited)
	w.servers = slices.DeleteFunc(w.servers, func(o *Process) bool { return o == s })
	w.MembershipChanged(s)
	if code != ExitKilled && s.spec.RestartDelay > 0 {
		w.After(s.spec.RestartDelay, func() { w.restart(s) })
	}
}

// MembershipChanged notifies every database that one process less, or more,
// answers.
func (w *Simulation) MembershipChanged(s *Process) {
	if s.db != nil {
		s.db.memberChanged(s)
	}
	for _, db := range w.Databases {
		db.reconsider()
	}
}

// rewriteClusterFile stores a new connection string where the process keeps it.
// A file that cannot be written stays as it is, as with a read-only mount.
func (s *Process) rewriteClusterFile(conn fdb.ConnectionString) {
	s.conn, s.stored = conn, true
	if err := s.file.Write([]byte(ClusterFileText(conn))); err != nil {
		return
	}
}

// Describe names a process in the truth queries.
func (s *Process) Describe() string {
	if id := s.Locality(fdb.LocalityInstanceID); id != "" {
		return id
	}
	return strings.TrimSuffix(s.Address().HostPort(), ":tls")
}
