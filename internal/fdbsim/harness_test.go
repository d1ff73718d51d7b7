package fdbsim

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// memoryFiles is a file system in memory.
type memoryFiles struct {
	files    map[string]string
	readOnly map[string]bool
}

func newFiles() *memoryFiles {
	return &memoryFiles{files: map[string]string{}, readOnly: map[string]bool{}}
}

func (m *memoryFiles) ReadFile(name string) ([]byte, error) {
	content, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (m *memoryFiles) WriteFile(name string, content []byte) error {
	if m.readOnly[name] {
		return fs.ErrPermission
	}
	m.files[name] = string(content)
	return nil
}

func (m *memoryFiles) Writable(name string) bool { return !m.readOnly[name] }

// fileIn is one file of a file system.
type fileIn struct {
	files *memoryFiles
	name  string
}

func (f fileIn) Read() ([]byte, error)      { return f.files.ReadFile(f.name) }
func (f fileIn) Write(content []byte) error { return f.files.WriteFile(f.name, content) }

// cluster is a small world with one database for tests.
type cluster struct {
	*Simulation
	t       *testing.T
	files   *memoryFiles
	servers map[string]*ServerHandle
	specs   map[string]Server
	// renamed are the model's names of recorded backups.
	renamed map[string]string
	agents  []*Agent
}

const liveFile = "/var/fdb/data/fdb.cluster"

func newCluster(t *testing.T, connection string) *cluster {
	t.Helper()
	c := &cluster{
		Simulation: NewSimulation(Options{Seed: 1}), t: t, files: newFiles(),
		servers: map[string]*ServerHandle{}, specs: map[string]Server{}, renamed: map[string]string{},
	}
	c.AutoAdvance()
	c.files.files[liveFile] = connection + "\n"
	c.files.files["/var/dynamic-conf/fdb.cluster"] = connection + "\n"
	return c
}

// start starts a process as an operator's pod would; more are further
// arguments.
func (c *cluster) start(name, class, address, zone string, more ...string) {
	c.t.Helper()
	args := []string{
		"/usr/bin/fdbserver", "--class=" + class, "--cluster_file=" + liveFile, "--datadir=/var/fdb/data/" + name,
		"--listen_address=" + address, "--locality_instance_id=" + name, "--locality_machineid=" + zone,
		"--locality_process_id=" + name + "-1", "--locality_zoneid=" + zone, "--logdir=/var/log/fdb-trace-logs",
		"--loggroup=sample-cluster", "--public_address=" + address, "--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
	}
	c.specs[name] = Server{
		Args: append(args, more...), Version: "7.3.79", DataKey: name,
		ClusterFile: fileIn{c.files, liveFile}, Seed: fileIn{c.files, "/var/dynamic-conf/fdb.cluster"}, RestartDelay: 300 * time.Millisecond,
	}
	c.restart(name)
}

func (c *cluster) restart(name string) {
	c.t.Helper()
	h, err := c.StartServer(c.specs[name])
	if err != nil {
		c.t.Fatal(err)
	}
	c.servers[name] = h
}

// stop kills processes for good.
func (c *cluster) stop(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.servers[name].Stop()
	}
}

// startAgain starts stopped processes.
func (c *cluster) startAgain(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.restart(name)
	}
}

type result struct {
	stdout, stderr string
	exit           int
}

func (c *cluster) run(args ...string) result { return c.runWith("", args...) }

func (c *cluster) runWith(stdin string, args ...string) result {
	c.t.Helper()
	var stdout, stderr bytes.Buffer
	exit := c.RunTool(context.Background(), Tool{
		Name: "fdbcli", Version: "7.3.79", Args: args, Files: c.files, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr,
	})
	return result{stdout.String(), stderr.String(), exit}
}

// exec runs one line with a limit.
func (c *cluster) exec(line string) result { return c.execFor(40, line) }

func (c *cluster) execFor(seconds int, line string) result {
	c.t.Helper()
	return c.run("-C", liveFile, "--timeout", fmt.Sprint(seconds), "--exec", line)
}

// must runs a line that has to print exactly this.
func (c *cluster) must(line, stdout string) {
	c.t.Helper()
	got := c.exec(line)
	if got != (result{stdout: stdout}) {
		c.t.Fatalf("%s: got %+v, want stdout %q", line, got, stdout)
	}
}

// recordedCluster is the cluster of twelve processes that was recorded.
func recordedCluster(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t, "sample_cluster:abcdefgh@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501")
	for i := 1; i <= 5; i++ {
		c.start(fmt.Sprintf("storage-%d", i), "storage", fmt.Sprintf("127.0.2.%d:4501", i), fmt.Sprintf("zone-%d", i))
	}
	for i := 1; i <= 4; i++ {
		c.start(fmt.Sprintf("log-%d", i), "log", fmt.Sprintf("127.0.2.1%d:4501", i), fmt.Sprintf("zone-1%d", i))
	}
	for i := 1; i <= 3; i++ {
		c.start(fmt.Sprintf("stateless-%d", i), "stateless", fmt.Sprintf("127.0.2.2%d:4501", i), fmt.Sprintf("zone-2%d", i))
	}
	c.Advance(12 * time.Second)
	return c
}

const operatorConfigure = "double ssd usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 commit_proxies=2 grv_proxies=1 regions=[]"

// configured is the recorded cluster with a healthy database.
func configured(t *testing.T) *cluster {
	t.Helper()
	c := recordedCluster(t)
	c.must("configure new "+operatorConfigure, "Database created\n")
	c.Advance(time.Minute)
	return c
}
