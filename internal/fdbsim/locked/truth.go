package locked

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Database is a handle on one database for those who arrange and judge a
// simulation. It returns the truth, not what status reports.
type Database struct {
	w  *model.Simulation
	db *model.Database
}

// Database finds a database by its description or by its connection string.
func (w *Simulation) Database(name string) (*Database, bool) {
	w.inner.Lock()
	defer w.inner.Unlock()
	for _, db := range slices.Backward(w.inner.Databases) {
		if db.Connection.Description == name || db.Connection.String() == name {
			return &Database{w: w.inner, db: db}, true
		}
	}
	return nil, false
}

// Databases returns all databases of the [Simulation], oldest first.
func (w *Simulation) Databases() []*Database {
	w.inner.Lock()
	defer w.inner.Unlock()
	all := make([]*Database, len(w.inner.Databases))
	for i, db := range w.inner.Databases {
		all[i] = &Database{w: w.inner, db: db}
	}
	return all
}

// Serves reports whether a majority of the coordinators of a connection string answer and have a
// database under its name. Those that refer clients to other coordinators do not count.
func (w *Simulation) Serves(c fdb.ConnectionString, version fdb.Version) bool {
	w.inner.Lock()
	defer w.inner.Unlock()
	found := w.inner.Find(c, version)
	return found.Quorum && found.Db != nil && found.Conn.String() == c.String()
}

// Reaches reports whether a client finds a majority of the coordinators of a connection string, or of those
// that they refer it to.
func (w *Simulation) Reaches(c fdb.ConnectionString, version fdb.Version) bool {
	w.inner.Lock()
	defer w.inner.Unlock()
	return w.inner.Find(c, version).Quorum
}

// SetFaults replaces the faults of the database.
func (d *Database) SetFaults(f model.Faults) {
	d.w.Lock()
	defer d.w.Unlock()
	if f.StaleStatus && !d.db.Faults.StaleStatus {
		d.db.StaleStatus = status.Cluster(d.db)
	}
	if !f.StaleStatus {
		d.db.StaleStatus = nil
	}
	d.db.SetFaults(f)
	d.w.Wake()
}

// LoadBytes stores that much user data, spread over the storage servers. It
// does nothing before the database is created.
func (d *Database) LoadBytes(n int64) {
	d.w.Lock()
	defer d.w.Unlock()
	if len(d.db.Shards) == 0 {
		return
	}
	groups := d.db.DataGroups()
	for left := n; left > 0; left -= model.ShardBytes {
		sh := &model.Shard{Bytes: min(left, model.ShardBytes)}
		sh.Replicas = d.db.TeamFor(sh, groups)
		d.db.Shards = append(d.db.Shards, sh)
	}
}

// ConnectionString is the current connection string.
func (d *Database) ConnectionString() fdb.ConnectionString {
	d.w.Lock()
	defer d.w.Unlock()
	return d.db.Connection
}

// Generation is the number of the current generation.
func (d *Database) Generation() int {
	d.w.Lock()
	defer d.w.Unlock()
	return d.db.Recovery.Generation
}

// Recover has the database recover now, as after the death of a process of its transaction system.
func (d *Database) Recover() {
	d.w.Lock()
	defer d.w.Unlock()
	d.db.RecoverAfter(d.w.Pace.Recruit, model.RequestedGenerations)
	d.w.Wake()
}

// RecoveredFor is for how long commits have been accepted since the last recovery; negative while they
// are not.
func (d *Database) RecoveredFor() time.Duration {
	d.w.Lock()
	defer d.w.Unlock()
	return d.db.SinceRecovered()
}

// Counters is what a database has done since it was created.
type Counters struct {
	// Recoveries counts how often commits stopped and were accepted again, and Paused adds up for
	// how long they were not accepted.
	Recoveries int
	Paused     time.Duration
	// MovedBytes counts the bytes that data distribution has written.
	MovedBytes int64
}

// Counters is what the database has done until now.
func (d *Database) Counters() Counters {
	d.w.Lock()
	defer d.w.Unlock()
	return Counters{Recoveries: d.db.Recovery.Completed, Paused: d.db.Recovery.Paused, MovedBytes: d.db.Distribution.MovedEver}
}

// Replicas is, for each shard, on how many undamaged data directories in
// different zones it is, running or not.
func (d *Database) Replicas() []int {
	d.w.Lock()
	defer d.w.Unlock()
	counts := make([]int, len(d.db.Shards))
	for i, sh := range d.db.Shards {
		zones := map[string]bool{}
		for _, ss := range sh.Replicas {
			if !ss.Disk.Lost {
				zones[ss.Server.Zone()] = true
			}
		}
		counts[i] = len(zones)
	}
	return counts
}

// LiveReplicas is on how many servers that answer, in different zones, the shard with the fewest of
// them is; ok is false before the database is created.
func (d *Database) LiveReplicas() (fewest int, ok bool) {
	d.w.Lock()
	defer d.w.Unlock()
	for i, sh := range d.db.Shards {
		zones := map[string]bool{}
		for _, ss := range sh.Replicas {
			if ss.Answers() {
				zones[ss.Server.Zone()] = true
			}
		}
		if i == 0 || len(zones) < fewest {
			fewest = len(zones)
		}
	}
	return fewest, len(d.db.Shards) > 0
}

// EveryKeyOnAtLeast reports whether every shard is on at least n undamaged data
// directories in different zones.
func (d *Database) EveryKeyOnAtLeast(n int) bool {
	return !slices.ContainsFunc(d.Replicas(), func(have int) bool { return have < n })
}

// DesiredReplicas is how many replicas the configuration asks for; 0 before the database is
// created.
func (d *Database) DesiredReplicas() int {
	d.w.Lock()
	defer d.w.Unlock()
	if len(d.db.Shards) == 0 {
		return 0
	}
	return d.db.Configuration().StoragePolicy.Replicas()
}

// Complete reports whether everything that the configuration promises is up: every
// shard has all its replicas on servers that answer, in zones as the policy asks, and
// every log server answers. What is in the zone named but counts as up; "" for none. So do
// storage servers of processes that unseen names, for as long as data distribution has not
// noticed that they died: no status reports them until then.
func (d *Database) Complete(but string, unseen func(process string) bool) bool {
	d.w.Lock()
	defer d.w.Unlock()
	if !d.db.Available() {
		return false
	}
	policy := d.db.Configuration().StoragePolicy
	for _, sh := range d.db.Shards {
		var up []*model.Process
		for _, ss := range sh.Replicas {
			if ss.Answers() || ss.Server.Zone() == but || !ss.DeathNoticed && unseen(ss.Server.Describe()) {
				up = append(up, ss.Server)
			}
		}
		if !policy.SatisfiedBy(up) {
			return false
		}
	}
	return logsComplete(d.db, but)
}

func logsComplete(db *model.Database, but string) bool {
	for _, g := range db.Logs {
		for _, set := range g.Sets {
			if slices.ContainsFunc(set.Logs, func(l model.LogServer) bool { return l.Host(db) == nil && l.Server.Zone() != but }) {
				return false
			}
		}
	}
	return true
}

// JustStarted is the zone of each live member that may hold data and that started less than d
// ago, by its name: processes of the classes for storage and logs, and those without a class.
// An excluded one that holds nothing the database needs is left out.
func (d *Database) JustStarted(within time.Duration) map[string]string {
	d.w.Lock()
	defer d.w.Unlock()
	zones := map[string]string{}
	for _, s := range d.db.Live() {
		drained := d.db.Excluded(s) && !needsDisk(d.db, s.Disk)
		if slices.Contains([]string{"storage", "log", "transaction", "", "unset"}, s.Args.Class) && !drained && d.w.Now.Sub(s.Started) < within {
			zones[s.Describe()] = s.Zone()
		}
	}
	return zones
}

func needsDisk(db *model.Database, dk *model.Disk) bool {
	_, needed := zoneOfDisk(db, dk)
	return needed
}

// Remaining are the names of the live members of a class that no exclusion means.
func (d *Database) Remaining(class string) []string {
	d.w.Lock()
	defer d.w.Unlock()
	var names []string
	for _, s := range d.db.Live() {
		if s.Args.Class == class && !d.db.Excluded(s) {
			names = append(names, s.Describe())
		}
	}
	return names
}

// Excluded are the stored targets of all exclusions, addresses first.
func (d *Database) Excluded() []string {
	d.w.Lock()
	defer d.w.Unlock()
	var targets []string
	for _, e := range d.db.Exclusions(model.KindExcluded) {
		targets = append(targets, e.Text)
	}
	return targets
}

// NeedsData reports whether the data directory holds something that the
// database still needs: replicas, or a log that is not drained.
func (d *Database) NeedsData(dataKey string) bool {
	_, needed := d.ZoneOf(dataKey)
	return needed
}

// ZoneOf is the zone in which the server was last that keeps something in a data directory
// which the database needs; needed is false where it needs nothing of it.
func (d *Database) ZoneOf(dataKey string) (zone string, needed bool) {
	d.w.Lock()
	defer d.w.Unlock()
	dk, ok := d.w.Disks[dataKey]
	if !ok {
		return "", false
	}
	return zoneOfDisk(d.db, dk)
}

func zoneOfDisk(db *model.Database, dk *model.Disk) (zone string, needed bool) {
	for _, sh := range db.Shards {
		for _, ss := range sh.Replicas {
			if ss.Disk == dk {
				return ss.Server.Zone(), true
			}
		}
	}
	for _, g := range db.Logs {
		for _, set := range g.Sets {
			for _, l := range set.Logs {
				if l.Disk == dk {
					return l.Server.Zone(), true
				}
			}
		}
	}
	return "", false
}

// Get reads a key as a client with all rights would, whatever state the
// database is in.
func (d *Database) Get(key string) ([]byte, bool) {
	d.w.Lock()
	defer d.w.Unlock()
	return d.db.Keys.Latest(key)
}

// Processes are the names of the live members: their instance_id, or their
// address where they have none.
func (d *Database) Processes() []string {
	d.w.Lock()
	defer d.w.Unlock()
	var names []string
	for _, s := range d.db.Live() {
		names = append(names, s.Describe())
	}
	slices.Sort(names)
	return names
}

// IncompatibleProcesses are the names of the processes that run and try to join in another protocol: they do not
// answer before they are started in the version of the database.
func (d *Database) IncompatibleProcesses() []string {
	d.w.Lock()
	defer d.w.Unlock()
	version, reached := d.db.QuorumVersion()
	if !reached {
		return nil
	}
	var names []string
	for _, s := range d.db.IncompatibleProcesses(version) {
		names = append(names, s.Describe())
	}
	return names
}

// Available reports whether the database commits transactions and can read its
// own configuration.
func (d *Database) Available() bool {
	d.w.Lock()
	defer d.w.Unlock()
	return d.db.Readable()
}

// Readable reports whether every shard can be read now.
func (d *Database) Readable() bool {
	d.w.Lock()
	defer d.w.Unlock()
	return !slices.ContainsFunc(d.db.Shards, func(sh *model.Shard) bool {
		return !slices.ContainsFunc(sh.Replicas, (*model.StorageServer).Answers)
	})
}
