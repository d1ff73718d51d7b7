package fdbsim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

func (d document) hasMessage(name string) bool {
	for _, m := range d.Cluster.Messages {
		if m.Name == name {
			return true
		}
	}
	return false
}

func (d document) process(address string) bool {
	for _, p := range d.Cluster.Processes {
		if p.Address == address {
			return true
		}
	}
	return false
}

func TestAnUnavailableDatabaseAlsoReportsConfigurationMissing(t *testing.T) {
	c := smallCluster(t)
	c.stop("log-1", "log-2")
	c.Advance(10 * time.Second)
	d := c.status()
	if d.Cluster.Layers["_error"] != "configurationMissing" || d.Cluster.RecoveryState.Name == "configuration_never_created" {
		t.Errorf("layers %v, recovery %s", d.Cluster.Layers, d.Cluster.RecoveryState.Name)
	}
	c.startAgain("log-1", "log-2")
	c.Advance(time.Minute)
	if d := c.status(); !d.Client.DatabaseStatus.Available {
		t.Error("the database does not come back with its logs")
	}
}

func TestOneActiveGenerationCanStillHaveOldLogs(t *testing.T) {
	c := configured(t)
	c.must("configure logs=2", "Configuration changed\n")
	d := c.status()
	if g := d.Cluster.RecoveryState.ActiveGenerations; g == nil || *g != 1 || len(d.Cluster.Logs) != 2 {
		t.Errorf("active generations %v, log generations %d", g, len(d.Cluster.Logs))
	}
}

// Roles that are recruited one at a time are moved off an excluded process even where no
// recovery is required.
func TestAnExcludedProcessLosesItsSingletonsWithoutARecovery(t *testing.T) {
	c := configured(t)
	var addresses []string
	for i := range 9 {
		address := fmt.Sprintf("127.0.2.%d", 30+i)
		addresses = append(addresses, address)
		c.start("spare-"+address, "stateless", address+":4501", "z"+address)
	}
	c.Advance(time.Minute)
	db := c.inner.Databases[0]
	at := slices.IndexFunc(addresses, func(address string) bool { // has none of the roles that end with a recovery
		return !slices.ContainsFunc(db.Roles.Assignments(), func(a model.Assignment) bool { return a.Instance.Server == db.Member(address+":4501") })
	})
	spare := db.Member(addresses[at] + ":4501")
	for _, s := range []*model.RoleInstance{&db.Roles.Distributor, &db.Roles.Ratekeeper, &db.Roles.Scan} {
		s.Server = spare
	}
	before := db.Recovery.Generation
	c.exec("exclude no_wait " + addresses[at])
	c.Advance(time.Minute)
	for _, a := range db.Roles.Assignments() {
		if a.Instance.Server == spare {
			t.Errorf("the excluded process still is the %s", a.Role)
		}
	}
	if db.Recovery.Generation != before {
		t.Errorf("recovered: generation %d, was %d", db.Recovery.Generation, before)
	}
}

// Fewer logs than configured are accepted, an excluded one is not.
func TestAnExcludedLogIsDrainedEvenWithoutASpare(t *testing.T) {
	c := configured(t)
	c.stop("log-4")
	c.Advance(2 * time.Minute)
	c.exec("exclude no_wait 127.0.2.11")
	c.Advance(2 * time.Minute)
	db, _ := c.Database("sample_cluster")
	if got := c.exec(`getrange \xff\xff/management/in_progress_exclusion/ \xff\xff/management/in_progress_exclusion0 10`).stdout; strings.Contains(got, "127.0.2.11") || db.NeedsData("log-1") {
		t.Errorf("still needed: %t, in progress: %s", db.NeedsData("log-1"), got)
	}
}

func TestExcludeSucceedsForADeadLogThatIsStillNeeded(t *testing.T) {
	c := configured(t)
	c.servers["storage-2"].Freeze() // keeps the old generation
	c.stop("log-1")
	c.Advance(8 * time.Second)
	got := c.exec("exclude 127.0.2.11")
	if got.exit != 0 || !strings.Contains(got.stderr, "Missing from cluster!") {
		t.Errorf("blocking exclude: %+v", got)
	}
	inProgress := c.exec(`getrange \xff\xff/management/in_progress_exclusion/ \xff\xff/management/in_progress_exclusion0 10`).stdout
	if !strings.Contains(inProgress, "in_progress_exclusion/0.0.0.0:0'") {
		t.Errorf("in progress: %s", inProgress)
	}
	if db, _ := c.Database("sample_cluster"); !db.NeedsData("log-1") {
		t.Error("the truth is that the dead log is needed")
	}
}

func TestStatusReportsADeadStorageProcessAsHealthyForAMinute(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(1 << 30)
	db.SetFaults(Faults{MoveBytesPerSecond: 1 << 20})
	c.stop("storage-5")
	c.Advance(20 * time.Second)
	d := c.status()
	if d.process("127.0.2.5:4501") || !d.Client.DatabaseStatus.Healthy || d.Cluster.Data.State.Least != 2 || d.Cluster.FaultTolerance.Data != 1 {
		t.Errorf("after 20 s: process listed %v, %+v %+v", d.process("127.0.2.5:4501"), d.Client.DatabaseStatus, d.Cluster.Data)
	}
	c.Advance(50 * time.Second)
	if d := c.status(); d.Cluster.Data.State.Name != "healing" || d.Cluster.Data.State.Least != 1 || d.Cluster.FaultTolerance.Data != 0 {
		t.Errorf("after 70 s: %+v, tolerance %d", d.Cluster.Data.State, d.Cluster.FaultTolerance.Data)
	}
	db.SetFaults(Faults{})
	c.Advance(time.Minute)
	if !db.EveryKeyOnAtLeast(2) || db.NeedsData("storage-5") {
		t.Errorf("replicas %v", db.Replicas())
	}
}

func TestExcludingAllButOneStorageServerIsNotRefused(t *testing.T) {
	c := configured(t)
	got := c.exec("exclude no_wait 127.0.2.1 127.0.2.2 127.0.2.3 127.0.2.4")
	if got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	c.Advance(time.Minute)
	onLogs := 0
	for _, p := range c.status().Cluster.Processes {
		for _, r := range p.Roles {
			if r.Role == "storage" && p.ClassType == "log" {
				onLogs++
			}
		}
	}
	if onLogs == 0 {
		t.Error("no storage role landed on a log process")
	}
}

func TestInvalidRegionsValuesAreAcceptedAndClearTheRegions(t *testing.T) {
	c := thirdCluster(t, "--locality_dcid=dc1")
	good := `\x5b\x7b\x22datacenters\x22:\x5b\x7b\x22id\x22:\x22dc1\x22,\x22priority\x22:1\x7d\x5d\x7d\x5d`
	for value, note := range map[string]string{
		`[{"datacenters":[{"id":"dc1","priority":1}]}]`: "quotes eaten", `nonsense`: "not JSON", ``: "empty",
		`'[{\"datacenters\":[]}]'`: "apostrophes",
	} {
		c.must("configure regions="+good, "Configuration changed\n")
		c.Advance(time.Second)
		if c.status().Cluster.Configuration["regions"] == nil {
			t.Fatal("the good value did not arrive")
		}
		c.must("configure regions="+value, "Configuration changed\n")
		c.Advance(time.Second)
		if r := c.status().Cluster.Configuration["regions"]; r != nil {
			t.Errorf("%s: regions %v", note, r)
		}
	}
}

func TestThreeDataHallWithoutHallsTakesTheDatabaseDown(t *testing.T) {
	c := configured(t)
	if got := c.execFor(30, "configure three_data_hall"); got.exit != 1 {
		t.Errorf("%+v", got)
	}
	d := c.status()
	if d.Client.DatabaseStatus.Available || d.Cluster.RecoveryState.Name != "recruiting_transaction_servers" {
		t.Errorf("%+v %s", d.Client.DatabaseStatus, d.Cluster.RecoveryState.Name)
	}
	if got := c.execFor(75, "configure double"); got.exit != 1 || !strings.Contains(got.stderr, "ERROR: The database is unavailable") {
		t.Errorf("plain: %+v", got)
	}
	c.must("configure FORCE double", "Configuration changed\n")
	if !c.status().Client.DatabaseStatus.Available {
		t.Error("FORCE did not repair it")
	}
}

func TestFdbcliAcceptsASingleCoordinator(t *testing.T) {
	c := configured(t)
	c.must("coordinators 127.0.2.11:4501", "Coordination state changed\n")
}

func TestDataIsHealthyBeforeTheSecondRegionIsReplicated(t *testing.T) {
	c := twoRegions(t)
	d := c.status()
	if d.Cluster.Data.State.Name != "healthy" || d.Cluster.FullReplication {
		t.Errorf("right after: data %s, full replication %v", d.Cluster.Data.State.Name, d.Cluster.FullReplication)
	}
	c.Advance(2 * time.Minute)
	if d := c.status(); !d.Cluster.FullReplication || len(d.Cluster.Data.TeamTrackers) != 2 {
		t.Errorf("later: full replication %v, %d trackers", d.Cluster.FullReplication, len(d.Cluster.Data.TeamTrackers))
	}
}

// The cluster controller looks for others as soon as one log router of the second region is excluded.
func TestAnExcludedLogRouterLosesItsRole(t *testing.T) {
	c := twoRegions(t, placed{name: "router-1", class: "stateless", address: "127.0.3.41:4501", dc: "dc2"}, placed{name: "router-2", class: "stateless", address: "127.0.3.42:4501", dc: "dc2"})
	c.Advance(2 * time.Minute)
	before := c.routers()
	if len(before) == 0 {
		t.Fatal("there is no router")
	}
	c.exec("exclude no_wait " + before[0])
	c.Advance(30 * time.Second)
	if after := c.routers(); len(after) == 0 || slices.Contains(after, before[0]) {
		t.Errorf("the routers are at %v, were at %v, and the first is excluded", after, before)
	}
}

// routers are the addresses of the processes with the role of a log router.
func (c *cluster) routers() (at []string) {
	for _, a := range c.inner.Databases[0].Roles.Assignments() {
		if a.Role == model.RoleRouter {
			at = append(at, a.Instance.Server.Address().HostPort())
		}
	}
	return at
}

// twoRegions is a database that was just given its second region.
func twoRegions(t *testing.T, more ...placed) *cluster {
	t.Helper()
	c := newCluster(t, "sample_cluster:abcdefgh@127.0.3.31:4501")
	c.place(slices.Concat(dataCenter("dc1", "storage", 11), dataCenter("dc2", "storage", 21), dataCenter("dc3", "log", 31), more)...)
	c.Advance(12 * time.Second)
	region := func(dc string, priority int) string {
		return fmt.Sprintf(`{\"datacenters\":[{\"id\":\"%s\",\"priority\":%d},{\"id\":\"dc3\",\"priority\":1,\"satellite\":1}],`+
			`\"satellite_logs\":2,\"satellite_redundancy_mode\":\"one_satellite_double\"}`, dc, priority)
	}
	c.must("configure new double ssd regions=["+region("dc1", 1)+"]", "Database created\n")
	c.Advance(time.Minute)
	c.must("configure regions=["+region("dc1", 1)+","+region("dc2", -1)+"]", "Configuration changed\n")
	c.Advance(time.Minute)
	c.must("configure usable_regions=2", "Configuration changed\n")
	return c
}

func TestKillingStorageAloneCausesNoRecovery(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	before := db.Generation()
	if got := c.exec("kill; kill 127.0.2.5:4501; sleep 5"); got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	if after := db.Generation(); after != before {
		t.Errorf("generation %d, was %d", after, before)
	}
	c.exec("kill; kill 127.0.2.11:4501; sleep 5")
	c.Advance(10 * time.Second)
	if moved := db.Generation() - before; moved != 3 && moved != 4 {
		t.Errorf("a killed log moved the generation by %d", moved)
	}
}

func TestALockedDatabaseRefusesCommandsThatAreNotLockAware(t *testing.T) {
	c := configured(t)
	c.exec("lock")
	const key = `\xff\x02/org.foundationdb.kubernetes-operator/global`
	if got := c.exec("option on READ_SYSTEM_KEYS; get " + key); !strings.Contains(got.stderr, "Database is locked (1038)") {
		t.Errorf("%+v", got)
	}
	if got := c.exec("option on READ_SYSTEM_KEYS; option on LOCK_AWARE; get " + key); got.exit != 0 {
		t.Errorf("%+v", got)
	}
	if got := c.execFor(10, "exclude"); got.exit != 1 || !strings.Contains(got.stderr, "Specified timeout reached") {
		t.Errorf("bare exclude: %+v", got)
	}
}

// Replicas of the log are in two data halls: a hall with as many log servers as there are replicas can be
// lost, but not servers of two halls that can hold all replicas.
func TestALostDataHallNeverMakesTheLogUnreadable(t *testing.T) {
	c := newCluster(t, "halls:abcd@127.0.3.1:4501,127.0.3.2:4501,127.0.3.3:4501")
	n := 0
	start := func(class, hall string, count int) {
		for range count {
			n++
			name := fmt.Sprintf("%s-%s-%d", class, hall, n)
			c.start(name, class, fmt.Sprintf("127.0.3.%d:4501", n), name, "--locality_data_hall="+hall)
		}
	}
	for _, hall := range []string{"a", "b", "c"} {
		start("storage", hall, 1)
	}
	for _, hall := range []string{"a", "b", "c"} {
		start("storage", hall, 2)
	}
	start("log", "a", 4)
	start("log", "b", 2)
	start("log", "c", 2)
	start("stateless", "b", 3)
	start("stateless", "c", 3)
	c.must("configure new three_data_hall ssd logs=8", "Database created\n")
	c.Advance(time.Minute)
	stopped := func(keep func(name string) bool) []string {
		var names []string
		for name := range c.specs {
			if !keep(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	hall := stopped(func(name string) bool { return !strings.Contains(name, "-a-") })
	c.stop(hall...)
	c.Advance(time.Minute)
	if d := c.status(); !d.Client.DatabaseStatus.Available {
		t.Fatalf("unavailable without the hall of four logs: %s", d.Cluster.RecoveryState.Name)
	}
	c.startAgain(hall...)
	c.Advance(3 * time.Minute)
	var both []string
	for _, hall := range []string{"a", "b"} {
		logs := stopped(func(name string) bool { return !strings.HasPrefix(name, "log-"+hall) })
		both = append(both, logs[:2]...)
	}
	c.stop(both...)
	c.Advance(time.Minute)
	if d := c.status(); d.Client.DatabaseStatus.Available {
		t.Errorf("available without %s, which can hold all replicas of a mutation", both)
	}
}

// More processes for the roles of the transaction system than it is on make a better set of roles once fewer of the roles have to
// share a process: then the cluster controller has the database recover. Recorded on 7.3.79, where three new process groups of the
// stateless class joined three others.
func TestTheDatabaseRecoversOnceFewerRolesHaveToShareAProcess(t *testing.T) {
	c := configured(t)
	db := c.inner.Databases[0]
	first := db.Recovery.Generation
	for i := range 4 {
		address := fmt.Sprintf("127.0.2.%d:4501", 30+i)
		c.start("new-"+address, "stateless", address, "z"+address)
		c.Advance(time.Minute)
	}
	apart, shared := db.Recovery.Generation, map[*model.Process]int{}
	for _, a := range db.Roles.Assignments() {
		switch a.Role {
		case model.RoleDataDistributor, model.RoleRatekeeper, model.RoleConsistencyScan:
		default:
			shared[a.Instance.Server]++
		}
	}
	for s, n := range shared {
		if n > 1 {
			t.Errorf("%s has %d roles, with processes to spare", s.Disk.ProcessID, n)
		}
	}
	c.start("spare", "stateless", "127.0.2.40:4501", "z40")
	c.Advance(time.Minute)
	if last := db.Recovery.Generation; apart == first || last != apart {
		t.Errorf("generation %d, %d after processes joined that roles were moved to, and %d after one joined that nothing required", first, apart, last)
	}
}
