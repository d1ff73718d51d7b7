package fdbsim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// What a program gets without text must be what it would have parsed, in every state.
func TestSimulatedStatusEqualsItsParsedText(t *testing.T) {
	faults := func(f Faults) func(*cluster) {
		return func(c *cluster) {
			db, _ := c.Database("sample_cluster")
			db.SetFaults(f)
		}
	}
	for state, reach := range map[string]func(*cluster){
		"healthy":      func(*cluster) {},
		"loaded":       faults(Faults{ClientReads: 100_000, ClientWrites: 50_000}),
		"partial":      faults(Faults{PartialStatus: true}),
		"full disks":   faults(Faults{FullDisks: true}),
		"timed out":    faults(Faults{StatusTimeout: true}),
		"at its end":   faults(Faults{StatusDeadline: true}),
		"stale":        faults(Faults{StaleStatus: true}),
		"repairing":    func(c *cluster) { c.stop("storage-5"); c.Advance(10 * time.Second) },
		"without logs": func(c *cluster) { c.stop("log-1", "log-2", "log-3"); c.Advance(10 * time.Second) },
		"without a quorum": func(c *cluster) {
			c.stop("log-1", "log-2")
			c.Advance(time.Second)
		},
		"excluding":         func(c *cluster) { c.exec("exclude no_wait locality_instance_id:storage-5 127.0.2.4:4501") },
		"under maintenance": func(c *cluster) { c.exec("maintenance on zone-1 600") },
		"in recovery":       func(c *cluster) { c.exec("kill; kill all") },
		"with a restarted process": func(c *cluster) {
			c.stop("storage-5")
			c.startAgain("storage-5")
			c.Advance(2 * time.Second)
		},
		"with an emptied process": func(c *cluster) {
			c.LoseData("storage-1")
			c.startAgain("storage-1")
			c.Advance(10 * time.Second)
		},
		"with a process without events": func(c *cluster) {
			c.stop("storage-1")
			c.start("storage-1", "unset", "127.0.2.1:4501", "zone-1", "--knob_min_trace_severity=20")
			c.Advance(10 * time.Second)
		},
		"with a second generation of logs": func(c *cluster) {
			c.exec("kill; kill 127.0.2.11:4501")
			c.Advance(1500 * time.Millisecond)
		},
		"in two regions": func(c *cluster) {
			c.exec(`configure regions=[{"datacenters":[{"id":"dc1","priority":1},{"id":"dc2","priority":-1,"satellite":1}],"satellite_logs":3}]`)
		},
	} {
		t.Run(state, func(t *testing.T) {
			c := configured(t)
			reach(c)
			conn, err := fdb.ParseConnectionString(c.files.files[liveFile])
			if err != nil {
				t.Fatal(err)
			}
			client := status.Client{Simulation: c.inner, Conn: conn, Version: fdb.Version{Major: 7, Minor: 3, Patch: 79}, Files: c.files, Path: liveFile}
			want, err := fdb.ParseStatus([]byte(status.Pretty(client.Document())))
			if err != nil {
				t.Fatal(err)
			}
			got, err := client.Parsed()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAProcessHasNotBeenUpLongerThanItsStarterAllows(t *testing.T) {
	c := configured(t)
	c.stop("storage-5")
	spec, allowed := c.specs["storage-5"], 20*time.Second
	spec.MaxUptime = func() time.Duration { return allowed }
	c.specs["storage-5"] = spec
	c.startAgain("storage-5")
	c.Advance(5 * time.Minute)
	if got := c.uptime("storage-5"); got != allowed.Seconds() {
		t.Errorf("up for %g s, allowed are %s", got, allowed)
	}
	allowed = time.Hour
	c.Advance(10 * time.Second)
	if got := c.uptime("storage-5"); got < 300 {
		t.Errorf("up for %g s of 310", got)
	}
}

// uptime is what the status document has of a process.
func (c *cluster) uptime(name string) float64 {
	c.t.Helper()
	conn, err := fdb.ParseConnectionString(c.files.files[liveFile])
	if err != nil {
		c.t.Fatal(err)
	}
	s, err := (status.Client{Simulation: c.inner, Conn: conn, Version: fdb.Version{Major: 7, Minor: 3, Patch: 79}, Files: c.files, Path: liveFile}).Parsed()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range s.ProcessList() {
		if p.InstanceID() == name {
			return *p.UptimeSeconds
		}
	}
	c.t.Fatalf("%s is not in the status document", name)
	return 0
}
