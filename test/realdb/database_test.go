package realdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// coordinator is one of the connection string, as the client sees it.
type coordinator struct {
	Address   string
	Reachable bool
}

// document is the part of the real `status json` that is compared.
type document struct {
	Client struct {
		Coordinators struct {
			Coordinators    []coordinator
			QuorumReachable bool `json:"quorum_reachable"`
		}
		DatabaseStatus struct{ Available, Healthy bool } `json:"database_status"`
	}
	Cluster struct {
		Generation      int
		Processes       map[string]process
		RecoveryState   struct{ Name string } `json:"recovery_state"`
		MaintenanceZone string                `json:"maintenance_zone"`
		ActivePrimaryDC string                `json:"active_primary_dc"`
		Configuration   struct {
			RedundancyMode string `json:"redundancy_mode"`
			StorageEngine  string `json:"storage_engine"`
			UsableRegions  int    `json:"usable_regions"`
		}
		Data struct {
			State struct {
				Name                 string
				Healthy              bool
				MinReplicasRemaining *int `json:"min_replicas_remaining"`
			}
		}
	}
}

type process struct {
	Address     string
	ClassType   string `json:"class_type"`
	Excluded    bool
	Version     string
	CommandLine string            `json:"command_line"`
	Uptime      float64           `json:"uptime_seconds"`
	Locality    map[string]string `json:"locality"`
	Roles       []struct {
		Role        string
		StoredBytes *int64 `json:"stored_bytes"`
		Metadata    struct {
			Engine string `json:"storage_engine"`
		} `json:"storage_metadata"`
	}
}

// group is the process group that a process belongs to.
func (p process) group() string { return p.Locality["instance_id"] }

// fdbcli runs the real fdbcli in a pod of the cluster: independent of how the plugin reads
// the database. Pods are tried in turn, as some may be lost.
func (c *cluster) fdbcli(t *test, command string) string {
	t.Helper()
	pods := strings.Fields(must(t, "kubectl", "get", "pods", "-n", c.ns, "-l", "foundationdb.org/fdb-cluster-name="+c.name, "--field-selector", "status.phase=Running", "-o", `jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}`))
	var last result
	for _, pod := range pods {
		last = run(t, "", "kubectl", "exec", "-n", c.ns, pod, "-c", "foundationdb", "--", "fdbcli", "--timeout", "60", "--exec", command)
		if last.code == 0 {
			return last.stdout
		}
	}
	t.Fatalf("fdbcli %.100s: no answer in any of %d pods: exit code %d\n%s%s", command, len(pods), last.code, last.stdout, last.stderr)
	return ""
}

// status is the real status document.
func (c *cluster) status(t *test) document {
	t.Helper()
	return decode[document](t, c.fdbcli(t, "status json"))
}

// record keeps the real status document, as it is now, in the directory of RECORD; without one it does nothing.
// Documents of a database that is not healthy cannot be made up.
func (c *cluster) record(t *test, name string) {
	t.Helper()
	dir := os.Getenv("RECORD")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, newest()+"-"+name+".json"), []byte(c.fdbcli(t, "status json")), 0o600); err != nil {
		t.Error(err)
	}
}

// of returns the processes of a process group.
func (d document) of(group string) []process {
	var all []process
	for _, p := range d.Cluster.Processes {
		if p.group() == group {
			all = append(all, p)
		}
	}
	return all
}

const (
	markersOfASet = 200
	// atOnce keeps a transaction's command line below the limit of the kernel for an argument.
	atOnce = 50
)

// marker is the value of a marker key: a kilobyte that no other key has.
func marker(set string, n int) string {
	return strings.Repeat(fmt.Sprintf("%s.%05d.", set, n), 1000/(len(set)+7)+1)[:1000]
}

func key(set string, n int) string { return fmt.Sprintf("marker/%s/%05d", set, n) }

// mark writes a set of marker keys.
func (c *cluster) mark(t *test, set string) {
	t.Helper()
	set = strings.ReplaceAll(set, "/", ".")
	for from := 0; from < markersOfASet; from += atOnce {
		command := "writemode on; begin"
		for n := from; n < from+atOnce; n++ {
			command += "; set " + key(set, n) + " " + marker(set, n)
		}
		if got := c.fdbcli(t, command+"; commit"); !strings.Contains(got, "Committed (") {
			t.Fatalf("markers of %s were not committed: %s", set, got)
		}
	}
	c.markers = append(c.markers, set)
}

// verify fails the test unless every marker of every set has its value, as the real fdbcli
// reads it.
func (c *cluster) verify(t *test) {
	t.Helper()
	if len(c.markers) == 0 {
		t.Fatal("no marker was written")
	}
	for _, set := range c.markers {
		got := c.fdbcli(t, fmt.Sprintf("getrange marker/%s/ marker/%s0 %d", set, set, 2*markersOfASet))
		bad := 0
		for n := range markersOfASet {
			if !strings.Contains(got, "`"+key(set, n)+"' is `"+marker(set, n)+"'") {
				bad++
			}
		}
		if bad > 0 {
			t.Errorf("%d of %d markers of %s are lost or wrong:\n%.300s", bad, markersOfASet, set, got)
		}
	}
}
