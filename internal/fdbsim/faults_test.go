package fdbsim

import (
	"strings"
	"testing"
	"time"
)

func TestUnknownCommitsMayOrMayNotBeApplied(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			c := configured(t)
			db, _ := c.Database("sample_cluster")
			db.SetFaults(Faults{UnknownCommits: 1, ApplyUnknown: applied})
			if got := c.exec("writemode on; set k v"); !strings.Contains(got.stderr, "(1021)") {
				t.Errorf("%+v", got)
			}
			if _, found := db.Get("k"); found != applied {
				t.Errorf("found %v", found)
			}
		})
	}
}

func TestADroppedCommandLeavesNoTrace(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			c := configured(t)
			db, _ := c.Database("sample_cluster")
			db.SetFaults(Faults{DropCommands: 1, ApplyUnknown: applied})
			if got := c.exec("exclude no_wait 127.0.2.23"); got != (result{exit: 137}) {
				t.Errorf("%+v", got)
			}
			if _, found := db.Get("\xff/conf/excluded/127.0.2.23"); found != applied {
				t.Errorf("excluded %v", found)
			}
			c.must("include all", "")
		})
	}
}

func TestStatusCanBeStaleOrPartial(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.SetFaults(Faults{StaleStatus: true})
	c.stop("storage-5")
	c.Advance(30 * time.Second)
	if d := c.status(); !d.process("127.0.2.5:4501") {
		t.Error("stale status knows of the death")
	}
	db.SetFaults(Faults{PartialStatus: true})
	d := c.status()
	if d.process("127.0.2.5:4501") || !d.hasMessage("status_incomplete") {
		t.Errorf("%+v", d.Cluster.Messages)
	}
	for _, p := range d.Cluster.Processes {
		if p.CommandLine != "" || p.Locality != nil || p.UptimeSeconds != nil {
			t.Errorf("partial status says too much: %+v", p)
		}
	}
	db.SetFaults(Faults{StatusTimeout: true})
	if d := c.status(); len(d.Cluster.Processes) != 0 || d.Client.Messages[0].Name != "status_incomplete_timeout" {
		t.Errorf("%+v", d.Client)
	}
}

func TestLostDataIsTheTruthWhateverStatusSays(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(200_000_000)
	c.LoseData("storage-1")
	if db.EveryKeyOnAtLeast(2) || !db.EveryKeyOnAtLeast(1) {
		t.Errorf("replicas %v", db.Replicas())
	}
	if d := c.status(); d.Cluster.Data.State.Least != 2 {
		t.Errorf("status knows at once: %+v", d.Cluster.Data.State)
	}
	c.Advance(2 * time.Minute)
	if !db.EveryKeyOnAtLeast(2) {
		t.Errorf("not healed: %v", db.Replicas())
	}
}

func TestTheSameSeedGivesTheSameStory(t *testing.T) {
	tell := func() string {
		c := configured(t)
		c.exec("kill; kill 127.0.2.11:4501; sleep 5")
		return c.exec("status json").stdout
	}
	if first, second := tell(), tell(); first != second {
		t.Error("two runs of one seed differ")
	}
}
