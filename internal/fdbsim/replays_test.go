package fdbsim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// wait is a step in which only time passes.
func wait(d time.Duration) func(*cluster) { return func(c *cluster) { c.Advance(d) } }

// stopFor kills processes and lets time pass.
func stopFor(d time.Duration, names ...string) func(*cluster) {
	return func(c *cluster) {
		c.stop(names...)
		c.Advance(d)
	}
}

// again starts processes and lets time pass.
func again(d time.Duration, names ...string) func(*cluster) {
	return func(c *cluster) {
		c.startAgain(names...)
		c.Advance(d)
	}
}

// loaded is the recorded cluster with a gigabyte in it.
func loaded(t *testing.T) *cluster {
	t.Helper()
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(1 << 30)
	return c
}

// smallCluster is the cluster of six processes, with a database.
func smallCluster(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t, "sample_cluster:abcdefgh@127.0.2.101:4501,127.0.2.102:4501,127.0.2.103:4501")
	for i := 1; i <= 3; i++ {
		c.start(fmt.Sprintf("storage-%d", i), "storage", fmt.Sprintf("127.0.2.10%d:4501", i), fmt.Sprintf("zone-%d", i))
	}
	for i := 1; i <= 2; i++ {
		c.start(fmt.Sprintf("log-%d", i), "log", fmt.Sprintf("127.0.2.11%d:4501", i), fmt.Sprintf("zone-1%d", i))
	}
	c.start("stateless-1", "stateless", "127.0.2.121:4501", "zone-21")
	c.Advance(12 * time.Second)
	c.must("configure new double ssd logs=2 commit_proxies=1 grv_proxies=1 resolvers=1", "Database created\n")
	c.Advance(time.Minute)
	return c
}

// thirdCluster is the other cluster of twelve processes, with a database.
func thirdCluster(t *testing.T, more ...string) *cluster {
	t.Helper()
	c := newCluster(t, "sample_cluster:abcdefgh@127.0.2.211:4501,127.0.2.212:4501,127.0.2.213:4501")
	for i := 1; i <= 5; i++ {
		c.start(fmt.Sprintf("storage-%d", i), "storage", fmt.Sprintf("127.0.2.20%d:4501", i), fmt.Sprintf("zone-%d", i), more...)
	}
	for i := 1; i <= 4; i++ {
		c.start(fmt.Sprintf("log-%d", i), "log", fmt.Sprintf("127.0.2.21%d:4501", i), fmt.Sprintf("zone-1%d", i), more...)
	}
	for i := 1; i <= 3; i++ {
		c.start(fmt.Sprintf("stateless-%d", i), "stateless", fmt.Sprintf("127.0.2.22%d:4501", i), fmt.Sprintf("zone-2%d", i), more...)
	}
	c.Advance(12 * time.Second)
	c.must("configure new "+operatorConfigure, "Database created\n")
	c.Advance(time.Minute)
	return c
}

// clusterFileOf writes the file that the cluster-file steps use.
func clusterFileOf(content string) func(*cluster) {
	return func(c *cluster) { c.files.files["/var/fdb/data/bad.cluster"] = content }
}

// started are all processes of a cluster, in the order in which they are named.
func (c *cluster) names(prefix string) []string {
	var names []string
	for name := range c.specs {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

// replays are the recorded scenarios that the model runs.
var replays = map[string]replay{
	"01-unconfigured-and-configure-new": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			return newCluster(t, "sample_cluster:abcdefgh@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501")
		},
		before: map[int]func(*cluster){
			3: func(c *cluster) {
				other := recordedCluster(c.t)
				for name := range other.specs {
					spec := other.specs[name]
					spec.ClusterFile = fileIn{c.files, liveFile}
					c.specs[name] = spec
					c.restart(name)
				}
				c.Advance(1500 * time.Millisecond)
			},
			18: wait(2 * time.Second),
		},
	},
	"01b-small-unconfigured": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			c := newCluster(t, "sample_cluster:abcdefgh@127.0.2.101:4501,127.0.2.102:4501,127.0.2.103:4501")
			for i, zone := range []string{"zone-1", "zone-2", "zone-2"} {
				c.start(fmt.Sprintf("storage-%d", i+1), "storage", fmt.Sprintf("127.0.2.10%d:4501", i+1), zone)
			}
			c.Advance(10 * time.Second)
			return c
		},
		before: map[int]func(*cluster){9: func(c *cluster) {
			for i := 1; i <= 2; i++ {
				c.start(fmt.Sprintf("log-%d", i), "log", fmt.Sprintf("127.0.2.11%d:4501", i), fmt.Sprintf("zone-1%d", i))
			}
			c.start("stateless-1", "stateless", "127.0.2.121:4501", "zone-21")
			c.stop("storage-3")
			c.start("storage-3", "storage", "127.0.2.103:4501", "zone-3")
			c.Advance(10 * time.Second)
		}},
	},
	"02a-session-lock-protocol": {setup: configured},
	"02b-session-conflicts":     {setup: afterLocking, nested: map[int][2]int{2: {8, 1}, 4: {8, 3}}},
	"02c-exec-lexer-and-errors": {setup: func(t *testing.T) *cluster {
		t.Helper()
		c := configured(t)
		c.exec("writemode on; set rec/after-error v; set rec/idle v")
		return c
	}},
	"02d-session-truncated-last-line": {setup: configured},
	"03a-exclude-basic":               {setup: configured},
	"03b-exclude-in-progress": {setup: func(t *testing.T) *cluster {
		t.Helper()
		c := loaded(t)
		c.exec("exclude no_wait 127.0.2.11")
		c.Advance(time.Minute)
		c.must("include all", "")
		c.Advance(time.Minute)
		c.must("configure double", "Configuration changed\n")
		c.Advance(27 * time.Second)
		slow(c)
		return c
	}, before: map[int]func(*cluster){
		11: wait(6 * time.Second), 29: wait(time.Second), 33: wait(4 * time.Second),
		34: func(c *cluster) {
			db, _ := c.Database("sample_cluster")
			db.SetFaults(Faults{})
		},
	}},
	"03c-exclude-dead-process": {setup: func(t *testing.T) *cluster { t.Helper(); return slow(loaded(t)) }, before: map[int]func(*cluster){
		1:  stopFor(time.Second, "storage-5"),
		3:  wait(13 * time.Second),
		14: stopFor(15*time.Second, "storage-4"),
		23: again(time.Minute, "storage-4", "storage-5"),
		24: stopFor(300*time.Millisecond, "log-4"),
		26: wait(8 * time.Second),
	}},
	"04-kill": {setup: configured, before: map[int]func(*cluster){
		19: wait(2 * time.Second),
		21: wait(3 * time.Second),
		24: wait(2 * time.Second),
		25: wait(3 * time.Second),
		26: wait(3 * time.Second),
		27: wait(3 * time.Second),
		28: stopFor(300*time.Millisecond, "storage-5"),
		29: wait(time.Second),
		30: wait(30 * time.Second),
		31: func(c *cluster) {
			c.startAgain("storage-5")
			c.Advance(10 * time.Second)
			c.servers["storage-4"].Freeze()
			c.Advance(time.Second)
		},
		33: func(c *cluster) {
			c.servers["storage-4"].Thaw()
			c.Advance(5 * time.Second)
		},
	}},
	"05-coordinators": {setup: configured, before: map[int]func(*cluster){
		22: func(c *cluster) {
			c.files.files["/var/dynamic-conf/fdb.cluster"] = "sample_cluster:abcdefgh@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501\n"
		},
		34: stopFor(3*time.Second, "log-3"),
		35: wait(time.Minute),
		39: again(10*time.Second, "log-3"),
		41: stopFor(3*time.Second, "log-2", "log-3"),
		57: again(time.Minute, "log-2", "log-3"),
	}},
	"06-maintenance": {setup: initializing(10 * time.Second), before: map[int]func(*cluster){
		24: wait(5 * time.Second),
		27: stopFor(15*time.Second, "storage-5"),
		28: again(6*time.Second, "storage-5"),
	}},
	"07-configure": {setup: configuredThird, before: map[int]func(*cluster){
		34: func(c *cluster) {
			c.must("configure FORCE double", "Configuration changed\n")
			c.Advance(time.Minute)
		},
		71: func(c *cluster) { c.files.files["/var/fdb/data/conf.json"] = `{"redundancy_mode":"double","logs":3}` },
	}},
	"07b-configure-wedges-the-database": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			c := thirdCluster(t)
			c.execFor(15, "configure three_data_hall")
			return c
		},
		before: map[int]func(*cluster){
			5: func(c *cluster) {
				hall := 0
				for _, prefix := range []string{"storage-", "log-"} {
					for i := 1; i <= 5; i++ {
						name := fmt.Sprintf("%s%d", prefix, i)
						spec, ok := c.specs[name]
						if !ok {
							continue
						}
						c.stop(name)
						spec.Args = append(spec.Args, fmt.Sprintf("--locality_data_hall=hall%d", hall%3))
						c.specs[name] = spec
						hall++
						c.restart(name)
					}
				}
				c.Advance(4 * time.Second)
			},
			9: func(c *cluster) {
				for name, spec := range c.specs {
					c.stop(name)
					for i, a := range spec.Args {
						if strings.HasPrefix(a, "--locality_data_hall") {
							spec.Args[i] = "--locality_dcid=dc1"
						}
					}
					c.specs[name] = spec
					c.restart(name)
				}
				c.Advance(2 * time.Minute)
			},
		},
	},
	"07c-regions-malformed": {setup: func(t *testing.T) *cluster { t.Helper(); return withLogVersion(t, "--locality_dcid=dc1") }},
	"08-database-unavailable": {setup: smallCluster, before: map[int]func(*cluster){
		1:  stopFor(3*time.Second, "log-1", "log-2"),
		20: again(time.Minute, "log-1", "log-2"),
		22: func(c *cluster) { c.stop(c.names("")...); c.Advance(3 * time.Second) },
		24: func(c *cluster) { c.startAgain(c.names("")...); c.Advance(time.Minute) },
	}},
	"08b-all-storage-down": {setup: smallCluster, before: map[int]func(*cluster){
		3:  stopFor(3*time.Second, "storage-1", "storage-2", "storage-3"),
		16: again(time.Minute, "storage-1", "storage-2", "storage-3"),
	}},
	"09-degraded-states": {setup: smallCluster, before: map[int]func(*cluster){
		1:  stopFor(time.Second, "storage-3"),
		4:  wait(1200 * time.Millisecond),
		5:  wait(6400 * time.Millisecond),
		6:  wait(11400 * time.Millisecond),
		7:  wait(16400 * time.Millisecond),
		8:  wait(11400 * time.Millisecond),
		11: again(2*time.Second, "storage-3"),
		12: wait(4 * time.Second),
		13: wait(6 * time.Second),
		14: wait(8 * time.Second),
		16: stopFor(time.Second, "log-2"),
		17: wait(1200 * time.Millisecond),
		18: wait(3 * time.Second),
		19: wait(10 * time.Second),
		20: again(900*time.Millisecond, "log-2"),
		22: func(c *cluster) {
			spec := c.specs["storage-2"]
			spec.Args = append(spec.Args, "--knob_min_trace_severity=10")
			c.specs["storage-2"] = spec
		},
	}},
	"09b-database-locked": {setup: func(t *testing.T) *cluster { t.Helper(); return withLogVersion(t, "--locality_data_hall=hall0") }, before: map[int]func(*cluster){26: func(c *cluster) {
		db := c.inner.Databases[0]
		removed := keyspace.Single(model.LockKey)
		db.Commit([]keyspace.Mutation{{Clear: &removed}})
	}}, skip: map[int]string{25: "the passphrase is read from stdout: TestUnlockRequiresThePassphrase"}},
	"09c-one-storage-dead-not-yet-noticed": {setup: func(t *testing.T) *cluster { t.Helper(); return slow(loaded(t)) }, before: map[int]func(*cluster){
		1: stopFor(3*time.Second, "storage-5"),
		2: wait(time.Second),
		3: wait(10 * time.Second),
		4: wait(23 * time.Second),
		5: wait(11 * time.Second),
		6: wait(2 * time.Second),
		7: wait(2 * time.Second),
		8: wait(4 * time.Second),
	}},
	"10-cluster-file-errors": {setup: thirdHealthy, before: map[int]func(*cluster){
		2:  clusterFileOf(""),
		3:  clusterFileOf("garbage\n"),
		4:  clusterFileOf("a:b@\n"),
		5:  clusterFileOf("a-b:c@127.0.2.211:4501\n"),
		6:  clusterFileOf(":c@127.0.2.211:4501\n"),
		7:  clusterFileOf("a@127.0.2.211:4501\n"),
		8:  clusterFileOf("a:b@127.0.2.211\n"),
		9:  clusterFileOf("a:b@127.0.2.211:4501,127.0.2.211:4501\n"),
		10: clusterFileOf("a:b@nosuchhost.invalid:4501\n"),
		11: clusterFileOf("other:xyz@127.0.2.211:4501\n"),
		15: clusterFileOf("sample_cluster:oldid@127.0.2.211:4501\n"),
		17: clusterFileOf("a:b@127.0.2.211:4501:tls,127.0.2.212:4501:tls\n"),
		18: clusterFileOf("a:b@127.0.2.211:4501:tls,127.0.2.212:4501\n"),
		19: clusterFileOf("a:b@127.0.2.211:4501:tls,127.0.2.212:4501:tls\n"),
		24: func(c *cluster) { c.files.files["/var/fdb/data"] = "directory" },
	}},
	"11-extras": {
		setup: func(t *testing.T) *cluster {
			t.Helper()
			c := loaded(t)
			c.exec("writemode on; set rec/g1 x; set rec/z 1; set a \"x y\"")
			return c
		},
		before: map[int]func(*cluster){
			49: func(c *cluster) { c.exec("writemode on; set rec/killed v4") },
			51: func(c *cluster) {
				const stale = "/var/dynamic-conf/fdb.cluster"
				c.must("coordinators 127.0.2.11:4501 127.0.2.12:4501", "Coordination state changed\n")
				c.must("coordinators 127.0.2.11:4501 127.0.2.12:4501 127.0.2.13:4501", "Coordination state changed\n")
				c.files.files[stale] = "sample_cluster:abcdefgh@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501\n"
				c.files.readOnly[stale] = true
				c.Advance(time.Minute)
				c.must("configure double", "Configuration changed\n")
				c.Advance(2 * time.Second)
			},
		},
		skip: map[int]string{
			39: "killed by the recorder", 41: "killed by the recorder", 43: "killed by the recorder",
			45: "killed by the recorder", 47: "killed by the recorder", 42: "after a kill", 44: "after a kill", 46: "after a kill",
			48: "after a kill", 50: "the limit of argv belongs to the kernel",
		},
	},
}

// slow makes data move slowly enough for the recorded polls to see it.
func slow(c *cluster) *cluster {
	c.t.Helper()
	db, _ := c.Database("sample_cluster")
	db.SetFaults(Faults{MoveBytesPerSecond: 3 << 20})
	return c
}

// initializing is the loaded cluster with data distribution that started that
// long ago.
func initializing(ago time.Duration) func(t *testing.T) *cluster {
	return func(t *testing.T) *cluster {
		t.Helper()
		c := loaded(t)
		c.must("configure double", "Configuration changed\n")
		c.Advance(ago)
		return c
	}
}

// afterLocking is the recorded cluster with the lock that an earlier scenario
// left.
func afterLocking(t *testing.T) *cluster {
	t.Helper()
	c := configured(t)
	c.exec(`writemode on; option on ACCESS_SYSTEM_KEYS; set \xff\x02/org.foundationdb.kubernetes-operator/global ` +
		`\x02dc1\x00\x18h\x90\x7e\x60\x18h\x90\x83\x10`)
	return c
}

func configuredThird(t *testing.T) *cluster { t.Helper(); return thirdCluster(t) }

// withLogVersion is the third cluster after a raw key was set.
func withLogVersion(t *testing.T, more ...string) *cluster {
	t.Helper()
	c := thirdCluster(t, more...)
	c.must("configure log_version:=99", "Configuration changed\n")
	c.Advance(time.Minute)
	return c
}
func thirdHealthy(t *testing.T) *cluster { t.Helper(); return thirdCluster(t) }
