package datadir

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// unused are three pods with a coordinator each, which store the name of a database without a state.
func unused(t *testing.T) (fdb.ConnectionString, map[string]*Files) {
	t.Helper()
	c, err := fdb.ParseConnectionString("sample:abc@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501")
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]*Files{}
	for _, n := range []string{"1", "2", "3"} {
		pods["storage-"+n] = &Files{
			Coordination: []File{{Path: "/var/fdb/data/1/coordination-0.fdq", Blank: true}, {Path: "/var/fdb/data/1/coordination-1.fdq"}},
			Servers: []Server{{
				PID: 7, Addresses: []string{"10.0.0." + n + ":4501"}, Directory: "/var/fdb/data/1", Class: "storage",
				Localities: map[string]string{fdb.LocalityZoneID: "zone-" + n},
			}},
		}
	}
	return c, pods
}

func TestOnlyTheFilesOfAllCoordinatorsProveThatNoDatabaseExists(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(c *fdb.ConnectionString, pods map[string]*Files)
		want Finding
		says string
	}{
		"all are without a state": {want: Blank, says: "none of 3 coordinators stores the state of a database"},
		"one has a state":         {func(_ *fdb.ConnectionString, p map[string]*Files) { p["storage-2"].Coordination[1].Current = true }, Exists, "pod storage-2 has the state of the database"},
		"one has the file of a storage server": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["storage-3"].Data = []string{"/var/fdb/data/1/storage-1.sqlite"}
		}, Remains, "pod storage-3 has /var/fdb/data/1/storage-1.sqlite, and no coordinator stores the state of a database"},
		"a pod without coordinator has a file": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["log-1"] = &Files{Data: []string{"/var/fdb/data/1/logqueue-V_2-0.fdq"}}
		}, Remains, "pod log-1"},
		"the state of one was not read yet": {func(_ *fdb.ConnectionString, p map[string]*Files) { p["storage-2"].Coordination = nil }, NotYet, "coordinator 10.0.0.2:4501 in pod storage-2"},
		"one knows another name only":       {func(_ *fdb.ConnectionString, p map[string]*Files) { p["storage-2"].Coordination[0].Blank = false }, NotYet, "coordinator 10.0.0.2:4501"},
		"the file is of another process": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["storage-2"].Coordination[0].Path = "/var/fdb/data/2/coordination-0.fdq"
		}, NotYet, "coordinator 10.0.0.2:4501"},
		"one is in no pod":            {func(_ *fdb.ConnectionString, p map[string]*Files) { delete(p, "storage-2") }, Elsewhere, "coordinator 10.0.0.2:4501"},
		"one does not run":            {func(_ *fdb.ConnectionString, p map[string]*Files) { p["storage-2"].Servers = nil }, Elsewhere, "coordinator 10.0.0.2:4501"},
		"one listens at another port": {func(c *fdb.ConnectionString, _ map[string]*Files) { c.Coordinators[1].Port = 4503 }, Elsewhere, "coordinator 10.0.0.2:4503"},
		"one listens without TLS":     {func(c *fdb.ConnectionString, _ map[string]*Files) { c.Coordinators[1].TLS = true }, Elsewhere, "coordinator 10.0.0.2:4501:tls"},
		"a name of DNS": {func(c *fdb.ConnectionString, p map[string]*Files) {
			c.Coordinators[1].Host = "two"
			p["storage-2"].Servers[0].Localities[fdb.LocalityDNSName] = "two"
		}, Blank, "none of 3 coordinators"},
		"no coordinators": {func(c *fdb.ConnectionString, _ map[string]*Files) { c.Coordinators = nil }, NotYet, "there are no coordinators"},
		"a file of storage and a missing process": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["storage-2"].Servers = nil
			p["storage-3"].Data = []string{"x"}
		}, Elsewhere, "coordinator 10.0.0.2:4501"},
		"a pod is of another connection string": {func(_ *fdb.ConnectionString, p map[string]*Files) { p["storage-2"].Generation = "sample:def" }, NotYet, "the cluster file of pod storage-2"},
		"a pod without od": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["storage-2"].Coordination[0] = File{Path: "/var/fdb/data/1/coordination-0.fdq", Current: true, Unknown: true}
		}, Unreadable, "its container has no od"},
		"a pod without od, and a later one of another connection string": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["storage-2"].Coordination[0] = File{Path: "/var/fdb/data/1/coordination-0.fdq", Current: true, Unknown: true}
			p["storage-3"].Generation = "sample:def"
		}, Unreadable, "its container has no od"},
		"a pod without od, and a state": {func(_ *fdb.ConnectionString, p map[string]*Files) {
			p["storage-1"].Coordination[0] = File{Path: "/var/fdb/data/1/coordination-0.fdq", Current: true, Unknown: true}
			p["storage-2"].Coordination[0].Current = true
		}, Exists, "pod storage-2 has the state of the database"},
	} {
		t.Run(name, func(t *testing.T) {
			c, pods := unused(t)
			if tc.edit != nil {
				tc.edit(&c, pods)
			}
			if got := Find(c, pods); got.Finding != tc.want || !strings.Contains(got.Evidence, tc.says) {
				t.Errorf("%+v, want %s with %q", got, tc.want, tc.says)
			}
		})
	}
}

// The time since the last write of a coordination file distinguishes a creation that is running from one that was interrupted.
func TestFilesWithoutAStateHaveTheTimeOfTheNewestCoordinationFile(t *testing.T) {
	c, pods := unused(t)
	old, last := time.Unix(1000, 0), time.Unix(2000, 0)
	pods["storage-1"].Coordination[1].Modified, pods["storage-2"].Coordination[0].Modified = old, last
	if got := Find(c, pods); !got.Written.IsZero() {
		t.Errorf("without files: %s", got.Written)
	}
	pods["storage-3"].Data = []string{"/var/fdb/data/1/storage-1.sqlite"}
	if got := Find(c, pods); got.Finding != Remains || !got.Written.Equal(last) {
		t.Errorf("%s, written %s, want %s", got.Finding, got.Written, last)
	}
}

func TestProcessesOfPodsHaveWhatTheirCommandLinesShow(t *testing.T) {
	_, pods := unused(t)
	got := Processes(pods, func(a fdb.Address) bool { return a.Host != "10.0.0.2" })
	if len(got) != 2 || got[0].Address.HostPort() != "10.0.0.1:4501" || got[1].ClassType != "storage" || got[1].Locality[fdb.LocalityZoneID] != "zone-3" {
		t.Errorf("%+v", got)
	}
}
