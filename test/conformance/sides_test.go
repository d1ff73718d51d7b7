package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
)

// clusterFileWord is replaced by the path of the cluster file, and storeWord by
// a directory for backups.
const (
	clusterFileWord = "CLUSTERFILE"
	storeWord       = "STOREDIR"
)

// commandLimit is when a command that does not end is killed.
const commandLimit = 40 * time.Second

// result is what a command printed.
type result struct {
	stdout, stderr string
	exit           int
}

// side is a database that commands run on.
type side interface {
	run(argv []string, stdin string) result
	pause(d time.Duration)
	freeze(name string) error
	thaw(name string) error
}

// process is one fdbserver of the database, the same on both sides.
type process struct{ name, class, address, zone string }

var processes = []process{
	{"storage-1", "storage", "127.0.77.1:4501", "zone-1"},
	{"storage-2", "storage", "127.0.77.2:4501", "zone-2"},
	{"storage-3", "storage", "127.0.77.3:4501", "zone-3"},
	{"log-1", "log", "127.0.77.11:4501", "zone-11"},
	{"log-2", "log", "127.0.77.12:4501", "zone-12"},
	{"log-3", "log", "127.0.77.13:4501", "zone-13"},
	{"stateless-1", "stateless", "127.0.77.21:4501", "zone-21"},
	{"stateless-2", "stateless", "127.0.77.22:4501", "zone-22"},
}

const connection = "conformance:abcdefgh@127.0.77.1:4501,127.0.77.2:4501,127.0.77.3:4501\n"

// serverArgs is the command line of a process after the program.
func serverArgs(p process, dir, clusterFile string) []string {
	return []string{
		"--class=" + p.class, "--cluster_file=" + clusterFile, "--datadir=" + filepath.Join(dir, p.name),
		"--listen_address=" + p.address, "--public_address=" + p.address, "--locality_instance_id=" + p.name,
		"--locality_machineid=" + p.zone, "--locality_process_id=" + p.name + "-1", "--locality_zoneid=" + p.zone,
		"--logdir=" + dir, "--loggroup=conformance", "--knob_disable_posix_kernel_aio=1",
	}
}

func located(argv []string, clusterFile, store string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = strings.ReplaceAll(strings.ReplaceAll(a, clusterFileWord, clusterFile), storeWord, store)
	}
	return out
}

// real is a database of real programs.
type actual struct {
	t           *testing.T
	bin, dir    string
	clusterFile string
	servers     map[string]*exec.Cmd
}

func startReal(t *testing.T, bin, dir, clusterFile string) *actual {
	t.Helper()
	if err := os.WriteFile(clusterFile, []byte(connection), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &actual{t: t, bin: bin, dir: dir, clusterFile: clusterFile, servers: map[string]*exec.Cmd{}}
	for _, p := range processes {
		if err := os.MkdirAll(filepath.Join(dir, p.name), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(bin, "fdbserver"), serverArgs(p, dir, clusterFile)...)
		cmd.Dir = dir
		// A test that is killed has no cleanup, and must not leave servers behind.
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.servers[p.name] = cmd
		t.Cleanup(func() { r.end(p.name) })
	}
	return r
}

// end ends a process by its ID, also a stopped one.
func (r *actual) end(name string) {
	_ = r.servers[name].Process.Kill()
	_ = r.servers[name].Wait() // it was killed; its exit code has no meaning
}

func (r *actual) run(argv []string, stdin string) result {
	argv = located(argv, r.clusterFile, filepath.Join(r.dir, "store"))
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, argv[0]), argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir}, strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	got := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		r.t.Errorf("%q: %v", argv, err)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		got.exit = 128 + int(status.Signal())
	}
	return got
}

func (r *actual) pause(d time.Duration) { time.Sleep(d) }

func (r *actual) freeze(name string) error { return r.servers[name].Process.Signal(syscall.SIGSTOP) }

func (r *actual) thaw(name string) error { return r.servers[name].Process.Signal(syscall.SIGCONT) }

// modeled is the same database of the model.
type modeled struct {
	simulation  *fdbsim.Simulation
	version     string
	dir         string
	clusterFile string
	files       files
	servers     map[string]*fdbsim.ServerHandle
}

func startModel(t *testing.T, version, dir, clusterFile string) *modeled {
	t.Helper()
	m := &modeled{
		simulation: fdbsim.NewSimulation(fdbsim.Options{Seed: 1}), version: version, dir: dir, clusterFile: clusterFile,
		files: files{clusterFile: connection}, servers: map[string]*fdbsim.ServerHandle{},
	}
	m.simulation.AutoAdvance()
	for _, p := range processes {
		handle, err := m.simulation.StartServer(fdbsim.Server{
			Args: append([]string{"fdbserver"}, serverArgs(p, dir, clusterFile)...), Version: version, DataKey: p.name,
			ClusterFile: file{m.files, clusterFile}, Seed: file{m.files, clusterFile}, RestartDelay: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		m.servers[p.name] = handle
	}
	return m
}

func (m *modeled) run(argv []string, stdin string) result {
	argv = append([]string{"timeout", fmt.Sprint(commandLimit.Seconds())}, located(argv, m.clusterFile, filepath.Join(m.dir, "store"))...)
	var stdout, stderr bytes.Buffer
	exit := m.simulation.RunCommand(context.Background(), argv, fdbsim.Tool{
		Version: m.version, Files: m.files, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr,
	})
	if exit == fdbsim.ExitTimeout {
		exit = fdbsim.ExitKilled
	}
	return result{stdout.String(), stderr.String(), exit}
}

func (m *modeled) pause(d time.Duration) { m.simulation.Advance(d) }

func (m *modeled) freeze(name string) error { m.servers[name].Freeze(); return nil }
func (m *modeled) thaw(name string) error   { m.servers[name].Thaw(); return nil }

// files is the model's file system.
type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) {
	content, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (f files) WriteFile(name string, content []byte) error {
	f[name] = string(content)
	return nil
}

func (f files) Writable(string) bool { return true }

// file is one of them.
type file struct {
	in   files
	name string
}

func (f file) Read() ([]byte, error)      { return f.in.ReadFile(f.name) }
func (f file) Write(content []byte) error { return f.in.WriteFile(f.name, content) }
