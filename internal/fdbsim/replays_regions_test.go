package fdbsim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// address is a process of the clusters with several data centers or halls.
type placed struct{ name, class, address, dc, hall string }

func (c *cluster) place(processes ...placed) {
	c.t.Helper()
	for _, p := range processes {
		var more []string
		if p.dc != "" {
			more = append(more, "--locality_dcid="+p.dc)
		}
		if p.hall != "" {
			more = append(more, "--locality_data_hall="+p.hall)
		}
		c.start(p.name, p.class, p.address, "zone-"+p.name, more...)
		c.stop(p.name)
		spec := c.specs[p.name]
		spec.Args = slices.DeleteFunc(spec.Args, func(a string) bool {
			return strings.HasPrefix(a, "--locality_process_id") || strings.HasPrefix(a, "--locality_machineid")
		})
		spec.Args = append(spec.Args, "--locality_machineid=machine-"+p.name)
		c.specs[p.name] = spec
		c.restart(p.name)
	}
}

func dataCenter(dc, class string, first int) []placed {
	var processes []placed
	for i := range 2 {
		processes = append(processes, placed{
			name: fmt.Sprintf("%s-%d", dc, i+1), class: class, address: fmt.Sprintf("127.0.3.%d:4501", first+i), dc: dc,
		})
	}
	return processes
}

func hall(n int) []placed {
	var processes []placed
	for i := range 3 {
		at := 70 + 3*(n-1) + i + 1
		processes = append(processes, placed{
			name: fmt.Sprintf("storage-%d", at), class: "storage", address: fmt.Sprintf("127.0.3.%d:4501", at), hall: fmt.Sprintf("hall-%d", n),
		})
	}
	return processes
}

// logsOneTwoFour is the recorded cluster with log-4 at work instead of log-3.
func logsOneTwoFour(t *testing.T) *cluster {
	t.Helper()
	c := configured(t)
	c.exec("exclude no_wait 127.0.2.13")
	c.Advance(time.Minute)
	c.must("include all", "")
	c.Advance(time.Minute)
	return c
}

func init() { //nolint:gochecknoinits // the table of replays is split by subject
	replays["12b-dead-log-blocking-exclude"] = replay{setup: func(t *testing.T) *cluster {
		t.Helper()
		c := logsOneTwoFour(t)
		c.servers["storage-2"].Freeze()
		c.Advance(2 * time.Second)
		return c
	}, before: map[int]func(*cluster){
		3: func(c *cluster) {
			c.stop("log-4")
			c.Advance(8 * time.Second)
			c.servers["storage-2"].Thaw()
			c.Advance(time.Second)
		},
		12: wait(5 * time.Second),
	}}
	replays["13-tls"] = replay{setup: func(t *testing.T) *cluster {
		t.Helper()
		c := newCluster(t, "sample_cluster:abcdefgh@127.0.2.51:4500:tls,127.0.2.52:4500:tls,127.0.2.53:4500:tls")
		for i := 1; i <= 3; i++ {
			c.start(fmt.Sprintf("storage-%d", i), "storage", fmt.Sprintf("127.0.2.5%d:4500:tls", i), fmt.Sprintf("zone-%d", i))
		}
		for _, name := range []string{"tls.crt", "tls.key", "ca.crt", "other-ca.crt"} {
			c.files.files["/var/fdb/certs/"+name] = "content"
		}
		c.Advance(12 * time.Second)
		return c
	}, before: map[int]func(*cluster){
		2:  wait(time.Minute),
		29: stopFor(12*time.Second, "storage-3"),
	}, skip: map[int]string{
		24: "certificates are not modeled", 25: "certificates are not modeled", 27: "certificates are not modeled",
		28: "--debug-tls is not modeled", 29: "which process has the only replica is chance", 31: "as step 29",
	}}
	replays["32-regions"] = replay{setup: func(t *testing.T) *cluster {
		t.Helper()
		c := newCluster(t, "sample_cluster:abcdefgh@127.0.3.11:4501")
		c.place(dataCenter("dc1", "storage", 11)...)
		c.Advance(12 * time.Second)
		c.must("configure new double ssd", "Database created\n")
		c.files.files["/var/fdb/conf.json"] = `{"regions":[{"datacenters":[{"id":"dc1","priority":1},{"id":"dc3","priority":1,"satellite":1}],` +
			`"satellite_logs":2,"satellite_redundancy_mode":"one_satellite_double"}]}`
		c.Advance(time.Minute)
		return c
	}, before: map[int]func(*cluster){
		6:  func(c *cluster) { c.place(dataCenter("dc3", "log", 31)...) },
		44: func(c *cluster) { c.place(dataCenter("dc2", "storage", 21)...) },
	}}
	replays["33-three-data-hall"] = replay{setup: func(t *testing.T) *cluster {
		t.Helper()
		c := newCluster(t, "sample_cluster:abcdefgh@127.0.3.71:4501")
		c.place(append(hall(1), hall(2)...)...)
		c.Advance(12 * time.Second)
		return c
	}, before: map[int]func(*cluster){
		4:  func(c *cluster) { c.place(hall(3)...) },
		23: func(c *cluster) { c.stop("storage-77", "storage-78", "storage-79") },
	}}
	replays["34b-storage-migration-aggressive"] = replay{setup: func(t *testing.T) *cluster {
		t.Helper()
		c := newCluster(t, "sample_cluster:abcdefgh@127.0.3.61:4501")
		for i := 1; i <= 4; i++ {
			c.place(placed{name: fmt.Sprintf("storage-%d", i), class: "storage", address: fmt.Sprintf("127.0.3.6%d:4501", i)})
		}
		c.Advance(12 * time.Second)
		c.must("configure new double ssd", "Database created\n")
		c.Advance(2 * time.Minute)
		return c
	}}
	replays["36-regions-new-and-dc-loss"] = replay{setup: func(t *testing.T) *cluster {
		t.Helper()
		c := newCluster(t, "sample_cluster:abcdefgh@127.0.3.31:4501")
		c.place(append(dataCenter("dc1", "storage", 11), dataCenter("dc3", "log", 31)...)...)
		c.Advance(12 * time.Second)
		return c
	}, before: map[int]func(*cluster){
		2: func(c *cluster) { c.place(dataCenter("dc2", "storage", 21)...) },
		9: func(c *cluster) { c.stop("dc1-1", "dc1-2") },
	}}
}
