package fdbsim

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// document is what the tests look at in a status document.
type document struct {
	Client struct {
		Coordinators struct {
			Coordinators    []struct{ Address, Protocol string }
			QuorumReachable bool `json:"quorum_reachable"`
		} `json:"coordinators"`
		DatabaseStatus struct{ Available, Healthy bool } `json:"database_status"`
		Messages       []struct{ Name string }
	}
	Cluster struct {
		RecoveryState struct {
			Name              string
			ActiveGenerations *int `json:"active_generations"`
		} `json:"recovery_state"`
		Layers    map[string]any
		Messages  []struct{ Name string }
		Processes map[string]struct {
			Address, Version string
			ClassType        string `json:"class_type"`
			CommandLine      string `json:"command_line"`
			Excluded         *bool
			Locality         map[string]string
			Roles            []struct {
				Role        string
				ID          string
				StoredBytes *int64 `json:"stored_bytes"`
				Metadata    struct {
					Engine string `json:"storage_engine"`
				} `json:"storage_metadata"`
			}
			UptimeSeconds *float64 `json:"uptime_seconds"`
		}
		Configuration   map[string]any
		FullReplication bool `json:"full_replication"`
		Data            struct {
			TeamTrackers []struct{ Primary bool } `json:"team_trackers"`
			State        struct {
				Name    string
				Healthy *bool
				Least   int `json:"min_replicas_remaining"`
			}
		}
		Logs []struct {
			Current bool
		}
		FaultTolerance struct {
			Data int `json:"max_zone_failures_without_losing_data"`
		} `json:"fault_tolerance"`
		Lock struct {
			Locked bool
		} `json:"database_lock_state"`
		MaintenanceZone  string `json:"maintenance_zone"`
		Generation       int
		ConnectionString string `json:"connection_string"`
	}
}

func (c *cluster) status() document {
	c.t.Helper()
	r := c.exec("status json")
	var d document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		c.t.Fatalf("%v: %+v", err, r)
	}
	return d
}

func TestASimulatedDatabaseIsCreatedAndBecomesHealthy(t *testing.T) {
	c := recordedCluster(t)

	d := c.status()
	if got := d.Cluster.RecoveryState.Name; got != "configuration_never_created" {
		t.Errorf("recovery state before: %s", got)
	}
	if diff := cmp.Diff(map[string]any{"_valid": false, "_error": "configurationMissing"}, d.Cluster.Layers); diff != "" {
		t.Error(diff)
	}
	if len(d.Cluster.Processes) != 12 || d.Client.DatabaseStatus.Available {
		t.Errorf("%d processes, available %v", len(d.Cluster.Processes), d.Client.DatabaseStatus.Available)
	}

	c.must("configure new "+operatorConfigure, "Database created\n")
	c.Advance(5 * time.Second)
	if d := c.status(); !d.Client.DatabaseStatus.Available || d.Cluster.Data.State.Name != "initializing" || d.Cluster.Data.State.Healthy != nil {
		t.Errorf("after creation: %+v %+v", d.Client.DatabaseStatus, d.Cluster.Data.State)
	}
	c.Advance(30 * time.Second)
	d = c.status()
	if d.Cluster.RecoveryState.Name != "fully_recovered" || d.Cluster.Data.State.Name != "healthy" || !d.Client.DatabaseStatus.Healthy {
		t.Errorf("in the end: %+v %+v %+v", d.Cluster.RecoveryState, d.Cluster.Data.State, d.Client)
	}
	if len(d.Cluster.Logs) != 1 || d.Cluster.FaultTolerance.Data != 1 {
		t.Errorf("logs %+v, fault tolerance %d", d.Cluster.Logs, d.Cluster.FaultTolerance.Data)
	}
	roles := map[string][]string{}
	for _, p := range d.Cluster.Processes {
		for _, r := range p.Roles {
			roles[p.ClassType] = append(roles[p.ClassType], r.Role)
		}
	}
	if len(roles["storage"]) != 5 || len(roles["log"]) != 6 || len(roles["stateless"]) < 8 {
		t.Errorf("roles by class: %v", roles)
	}
}

func TestACoordinatorChangeUpdatesTheClusterFile(t *testing.T) {
	c := configured(t)
	c.must("coordinators 127.0.2.14:4501 127.0.2.1:4501 127.0.2.2:4501", "Coordination state changed\n")
	got := c.exec("get \\xff\\xff/connection_string").stdout
	if want := "127.0.2.1:4501,127.0.2.2:4501,127.0.2.14:4501'\n"; len(got) < len(want) || got[len(got)-len(want):] != want {
		t.Errorf("connection string: %s", got)
	}
	if d := c.status(); c.files.files[liveFile] != model.ClusterFileText(mustConn(t, d.Cluster.ConnectionString)) {
		t.Errorf("cluster file %q, status %s", c.files.files[liveFile], d.Cluster.ConnectionString)
	}
}

func TestAnExcludedStorageProcessDrains(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(1 << 30)
	c.must("exclude locality_instance_id:storage-5",
		"Waiting for state to be removed from all excluded servers. This may take a while.\n"+
			"(Interrupting this wait with CTRL+C will not cancel the data movement.)\n"+
			"  127.0.2.5:4501  ---- Successfully excluded. It is now safe to remove this process from the cluster.\n")
	if db.NeedsData("storage-5") {
		t.Error("the database still needs what it reported as unneeded")
	}
	if !db.EveryKeyOnAtLeast(2) {
		t.Errorf("replicas: %v", db.Replicas())
	}
}
