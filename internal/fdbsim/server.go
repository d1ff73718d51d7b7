package fdbsim

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	// Env is the process's environment.
	Env map[string]string
	// RestartDelay makes the world start the process again that long after it
	// ended by itself, as a supervisor does. Zero leaves that to the caller.
	RestartDelay time.Duration
}

// ServerHandle is a running (or ended) server.
type ServerHandle struct {
	w *World
	s *server
}

// Exited delivers the exit code once the process has ended: 0 after fdbcli's
// kill, 137 after [ServerHandle.Stop].
func (h *ServerHandle) Exited() <-chan int {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.s.exited
}

// Stop ends the process as SIGKILL does. Stopping an ended process does
// nothing.
func (h *ServerHandle) Stop() {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	h.w.endServer(h.s, exitKilled)
	h.w.wake()
}

// Freeze stops the process from answering, as SIGSTOP does.
func (h *ServerHandle) Freeze() { h.setFrozen(true) }

// Thaw lets a frozen process go on.
func (h *ServerHandle) Thaw() { h.setFrozen(false) }

func (h *ServerHandle) setFrozen(frozen bool) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if h.s.ended || h.s.frozen == frozen {
		return
	}
	h.w.noteStranger(h.s)
	h.s.frozen = frozen
	h.w.membershipChanged(h.s)
	h.w.wake()
}

const exitKilled = 137

// server is a running process.
type server struct {
	spec    Server
	handle  *ServerHandle
	args    ServerArgs
	listens []string // its addresses with ports
	// names are all that an exclusion can call it by; its disk's process ID is another.
	names   []string
	version fdb.Version
	disk    *disk
	file    File
	conn    fdb.ConnectionString
	started time.Time
	died    time.Time
	ended   bool
	frozen  bool
	exited  chan int
	db      *database // nil until it has joined
	// classSet says that setclass overrides givenClass, the class of the command
	// line.
	classSet   bool
	givenClass string
}

// StartServer starts a process. It fails when the command line or the cluster
// file cannot be used, as fdbserver would exit at once, and when another live
// process has the address.
func (w *World) StartServer(spec Server) (*ServerHandle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, err := w.newServer(spec)
	if err != nil {
		return nil, fmt.Errorf("starting fdbserver: %w", err)
	}
	s.handle = &ServerHandle{w: w, s: s}
	w.launch(s)
	w.wake()
	return s.handle, nil
}

func (w *World) launch(s *server) {
	w.servers = append(w.servers, s)
	w.after(w.pace.Join, func() { w.join(s) })
}

// restart starts a process again that ended by itself.
func (w *World) restart(old *server) {
	s, err := w.newServer(old.spec)
	if err != nil {
		w.after(old.spec.RestartDelay, func() { w.restart(old) })
		return
	}
	s.handle = old.handle
	s.handle.s = s
	w.launch(s)
}

func exclusionNames(args ServerArgs) []string {
	var names []string
	for _, a := range args.Public {
		names = append(names, a.Host, a.HostPort())
	}
	for key, value := range args.Locality {
		names = append(names, fdb.LocalityExclusion(key, value))
	}
	return names
}

func (w *World) newServer(spec Server) (*server, error) {
	args, err := ParseServerArgs(spec.Args)
	if err != nil {
		return nil, err
	}
	version, err := fdb.ParseVersion(spec.Version)
	if err != nil {
		return nil, err
	}
	for _, a := range args.Public {
		if w.listener(a.HostPort()) != nil {
			return nil, fmt.Errorf("binding %s: address in use", a.HostPort())
		}
	}
	conn, err := readServerClusterFile(spec)
	if err != nil {
		return nil, err
	}
	return &server{
		spec: spec, args: args, listens: hostPorts(args.Public), names: exclusionNames(args), version: version, disk: w.openDisk(spec.DataKey), file: spec.ClusterFile,
		conn: conn, started: w.now, exited: make(chan int, 1),
	}, nil
}

// readServerClusterFile reads the live cluster file, made from the seed when it
// is not there yet.
func readServerClusterFile(spec Server) (fdb.ConnectionString, error) {
	if content, err := spec.ClusterFile.Read(); err == nil && len(content) > 0 {
		return fdb.ParseClusterFile(string(content))
	}
	if spec.Seed == nil {
		return fdb.ConnectionString{}, fmt.Errorf("reading cluster file: there is none, and no seed")
	}
	content, err := spec.Seed.Read()
	if err != nil {
		return fdb.ConnectionString{}, fmt.Errorf("reading seed cluster file: %w", err)
	}
	conn, err := fdb.ParseClusterFile(string(content))
	if err != nil {
		return fdb.ConnectionString{}, err
	}
	if err := spec.ClusterFile.Write([]byte(clusterFileText(conn))); err != nil {
		return fdb.ConnectionString{}, fmt.Errorf("writing cluster file: %w", err)
	}
	return conn, nil
}

// clusterFileText is how FoundationDB writes a cluster file.
func clusterFileText(c fdb.ConnectionString) string {
	return "# DO NOT EDIT!\n# This file is auto-generated, it is not to be edited by hand\n" + c.String() + "\n"
}

// alive reports whether the process answers.
func (s *server) alive() bool { return !s.ended && !s.frozen }

// address is the primary address: the TLS one where there is one.
func (s *server) address() fdb.Address {
	for _, a := range s.args.Public {
		if a.TLS {
			return a
		}
	}
	return s.args.Public[0]
}

func (s *server) listensOn(hostPort string) bool { return slices.Contains(s.listens, hostPort) }

func hostPorts(addresses []fdb.Address) []string {
	all := make([]string, len(addresses))
	for i, a := range addresses {
		all[i] = a.HostPort()
	}
	return all
}

func (s *server) locality(key string) string { return s.args.Locality[key] }

// zone is the fault domain; a process without a zone is a zone of its own.
func (s *server) zone() string {
	if z := s.locality(fdb.LocalityZoneID); z != "" {
		return z
	}
	return s.disk.processID
}

// machine is the machine; a process without one counts by its zone.
func (s *server) machine() string {
	if m := s.locality(fdb.LocalityMachineID); m != "" {
		return m
	}
	return s.zone()
}

// listener is the live process that listens on an address, or nil.
func (w *World) listener(hostPort string) *server {
	for _, s := range w.servers {
		if !s.ended && s.listensOn(hostPort) {
			return s
		}
	}
	return nil
}

// endServer ends a process with an exit code.
func (w *World) endServer(s *server, code int) {
	if s.ended {
		return
	}
	w.noteStranger(s)
	s.ended, s.died = true, w.now
	s.exited <- code
	close(s.exited)
	w.servers = slices.DeleteFunc(w.servers, func(o *server) bool { return o == s })
	w.membershipChanged(s)
	if code != exitKilled && s.spec.RestartDelay > 0 {
		w.after(s.spec.RestartDelay, func() { w.restart(s) })
	}
}

// membershipChanged tells every database that one process less, or more,
// answers.
func (w *World) membershipChanged(s *server) {
	if s.db != nil {
		s.db.memberChanged(s)
	}
	for _, db := range w.databases {
		db.reconsider()
	}
}

// rewriteClusterFile stores a new connection string where the process keeps it.
// A file that cannot be written stays as it is, as with a read-only mount.
func (s *server) rewriteClusterFile(conn fdb.ConnectionString) {
	s.conn = conn
	if err := s.file.Write([]byte(clusterFileText(conn))); err != nil {
		return
	}
}

// describe names a process in the truth queries.
func (s *server) describe() string {
	if id := s.locality(fdb.LocalityInstanceID); id != "" {
		return id
	}
	return strings.TrimSuffix(s.address().HostPort(), ":tls")
}
