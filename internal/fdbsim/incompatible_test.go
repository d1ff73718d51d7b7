package fdbsim

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// incompatiblePeers are what the status document lists of them.
func (c *cluster) incompatiblePeers() []string {
	c.t.Helper()
	var document struct {
		Cluster struct {
			Peers []string `json:"incompatible_connections"`
		}
	}
	r := c.exec("status json")
	if err := json.Unmarshal([]byte(r.stdout), &document); err != nil {
		c.t.Fatal(err)
	}
	if len(document.Cluster.Peers) == 0 {
		return nil
	}
	return document.Cluster.Peers
}

// A cluster controller goes on listing a peer of another protocol for ten minutes after it
// ended, or came back in a version that is let in.
func TestAnIncompatiblePeerIsListedForAWhileAfterItEnded(t *testing.T) {
	c := smallCluster(t)
	const address = "127.0.2.103:4501"
	listed := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, c.incompatiblePeers()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	inVersion := func(version string) {
		t.Helper()
		spec := c.specs["storage-3"]
		spec.Version = version
		c.specs["storage-3"] = spec
		c.startAgain("storage-3")
	}
	c.stop("storage-3")
	c.Advance(time.Minute)
	listed("one of the same protocol has ended")
	inVersion("7.4.6")
	c.Advance(20 * time.Minute)
	listed("it knocks in another protocol, however long", address)
	c.stop("storage-3")
	c.Advance(time.Minute)
	listed("it has ended", address)
	inVersion("7.3.79")
	c.Advance(8 * time.Minute)
	listed("it was let in", address)
	c.Advance(2 * time.Minute)
	listed("ten minutes are over")
}

// The list is the cluster controller's own; the next one begins with an empty one.
func TestANewClusterControllerListsNoEarlierIncompatiblePeers(t *testing.T) {
	c := smallCluster(t)
	c.stop("storage-3")
	spec := c.specs["storage-3"]
	spec.Version = "7.4.6"
	c.specs["storage-3"] = spec
	c.startAgain("storage-3")
	c.Advance(time.Minute)
	c.stop("storage-3")
	c.Advance(time.Second)
	if got := c.incompatiblePeers(); len(got) != 1 {
		t.Fatalf("listed: %v", got)
	}
	c.stop("stateless-1")
	c.Advance(time.Minute)
	if got := c.incompatiblePeers(); len(got) != 0 {
		t.Errorf("a new controller lists %v", got)
	}
}

// The processes on the list of a controller are its own, too: one that goes on in the old protocol while
// all others restart in the next one is no process of the database any more.
func TestANewClusterControllerListsNoProcessOfTheOldProtocol(t *testing.T) {
	c := smallCluster(t)
	names := slices.Sorted(maps.Keys(c.specs))
	for _, name := range names {
		if name != "storage-3" {
			c.stop(name)
		}
	}
	for _, name := range names {
		if name != "storage-3" {
			spec := c.specs[name]
			spec.Version = "7.4.6"
			c.specs[name] = spec
			c.startAgain(name)
		}
	}
	c.Advance(2 * time.Minute)
	var stdout bytes.Buffer
	if code := c.RunTool(t.Context(), Tool{
		Name: "fdbcli", Version: "7.4.6", Args: []string{"-C", liveFile, "--timeout", "40", "--exec", "status json"}, Files: c.files, Stdout: &stdout,
	}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stdout)
	}
	var document struct {
		Cluster struct {
			Peers     []string `json:"incompatible_connections"`
			Processes map[string]struct{ Address string }
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	const address = "127.0.2.103:4501"
	if got := document.Cluster.Peers; !slices.Equal(got, []string{address}) {
		t.Errorf("incompatible peers %v", got)
	}
	for _, p := range document.Cluster.Processes {
		if p.Address == address {
			t.Errorf("%s is listed as a process", address)
		}
	}
	if got := len(document.Cluster.Processes); got != len(names)-1 {
		t.Errorf("%d processes are listed, want %d", got, len(names)-1)
	}
}
