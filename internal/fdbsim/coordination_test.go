package fdbsim

import (
	"strings"
	"testing"
	"time"
)

// coordinationOf is where the coordination state of a process is.
func coordinationOf(name string) string { return "/var/fdb/data/" + name + "/coordination-0.fdq" }

// lostCoordinators is a database with a key of which two of three coordinators were lost with their
// disks. All other processes are stopped, and find three coordinators in their cluster file again. What happens
// before is up to the caller.
func lostCoordinators(t *testing.T, before func(*cluster)) *cluster {
	t.Helper()
	c := newCluster(t, "sample:abc@127.0.2.1:4501,127.0.2.2:4501,127.0.2.3:4501")
	start := func(name, class, address string) {
		c.start(name, class, address, name)
		spec := c.specs[name]
		spec.Coordination = fileIn{c.files, coordinationOf(name)}
		c.specs[name] = spec
		c.stop(name)
		c.restart(name)
	}
	for i, name := range []string{"coordinator-1", "coordinator-2", "coordinator-3"} {
		start(name, "coordinator", "127.0.2."+string(rune('1'+i))+":4501")
	}
	data := []string{"storage-1", "storage-2", "storage-3", "log-1", "log-2", "log-3"}
	for i, name := range data {
		class, _, _ := strings.Cut(name, "-")
		start(name, class, "127.0.3."+string(rune('1'+i))+":4501")
	}
	c.Advance(10 * time.Second)
	c.must("configure new double ssd-2", "Database created\n")
	c.Advance(time.Minute)
	if r := c.exec("writemode on; set marker 4711"); r.exit != 0 {
		t.Fatal(r)
	}
	before(c)
	c.stop("coordinator-2", "coordinator-3")
	for _, name := range []string{"coordinator-2", "coordinator-3"} {
		delete(c.files.files, coordinationOf(name))
		c.LoseData(name)
	}
	c.files.files[liveFile] = "sample:abc@127.0.2.1:4501,127.0.3.1:4501,127.0.3.2:4501\n"
	c.stop(append(data, "coordinator-1")...)
	return c
}

// survivors are the processes of [lostCoordinators] that still have a disk.
var survivors = []string{"coordinator-1", "storage-1", "storage-2", "storage-3", "log-1", "log-2", "log-3"}

func TestCopiedCoordinationStateRecoversTheDatabase(t *testing.T) {
	c := lostCoordinators(t, func(*cluster) {})
	for _, name := range []string{"storage-1", "storage-2"} {
		c.files.files[coordinationOf(name)] = c.files.files[coordinationOf("coordinator-1")]
	}
	c.startAgain(survivors...)
	c.Advance(time.Minute)
	if r := c.exec("get marker"); !strings.Contains(r.stdout, "4711") {
		t.Errorf("%+v", r)
	}
}

// The last coordinator did not see the last generation: what was committed in it is lost.
func TestAnOlderCoordinationStateLosesLaterGenerations(t *testing.T) {
	c := lostCoordinators(t, func(c *cluster) {
		c.stop("coordinator-1")
		c.Databases()[0].Recover()
		c.Advance(time.Minute)
		if r := c.exec("writemode on; set later 4712"); r.exit != 0 {
			t.Fatal(r)
		}
	})
	for _, name := range []string{"storage-1", "storage-2"} {
		c.files.files[coordinationOf(name)] = c.files.files[coordinationOf("coordinator-1")]
	}
	c.startAgain(survivors...)
	c.Advance(time.Minute)
	if r := c.exec("get marker; get later"); !strings.Contains(r.stdout, "4711") || strings.Contains(r.stdout, "4712") {
		t.Errorf("%+v", r)
	}
}

// A running process opens files that were copied once it is queried for them.
func TestARunningProcessReadsCoordinationStateCopiedLater(t *testing.T) {
	c := lostCoordinators(t, func(*cluster) {})
	c.startAgain("storage-1", "storage-2")
	for _, name := range []string{"storage-1", "storage-2"} {
		c.files.files[coordinationOf(name)] = c.files.files[coordinationOf("coordinator-1")]
	}
	c.startAgain("coordinator-1", "storage-3", "log-1", "log-2", "log-3")
	c.Advance(time.Minute)
	if r := c.exec("get marker"); !strings.Contains(r.stdout, "4711") {
		t.Errorf("%+v", r)
	}
}

// Two of three coordinators without state are a majority that knows no database.
func TestAMajorityOfEmptyCoordinatorsReportsNoDatabase(t *testing.T) {
	c := lostCoordinators(t, func(*cluster) {})
	c.startAgain(survivors...)
	c.Advance(time.Minute)
	r := c.execFor(5, "get marker")
	if status := c.exec("status json"); strings.Contains(r.stdout, "4711") || !strings.Contains(status.stdout, "configuration_never_created") {
		t.Errorf("%+v", r)
	}
}
