package fdbsim

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Database is a handle on one database for those who arrange and judge a
// simulation. What it answers is the truth, not what status says.
type Database struct {
	w  *World
	db *database
}

// Database finds a database by its description or by its connection string.
func (w *World) Database(name string) (*Database, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, db := range slices.Backward(w.databases) {
		if db.conn.Description == name || db.conn.String() == name {
			return &Database{w: w, db: db}, true
		}
	}
	return nil, false
}

// Databases are all databases of the world, oldest first.
func (w *World) Databases() []*Database {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*Database, len(w.databases))
	for i, db := range w.databases {
		all[i] = &Database{w: w, db: db}
	}
	return all
}

// SetFaults replaces the faults of the database.
func (d *Database) SetFaults(f Faults) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if f.StaleStatus && !d.db.faults.StaleStatus {
		d.db.snapshot = d.db.takeSnapshot()
	}
	if !f.StaleStatus {
		d.db.snapshot = nil
	}
	d.db.faults = f
	d.w.wake()
}

// LoadBytes stores that much user data, spread over the storage servers. It
// does nothing before the database is created.
func (d *Database) LoadBytes(n int64) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if len(d.db.shards) == 0 {
		return
	}
	groups := d.db.dataGroups()
	for left := n; left > 0; left -= shardBytes {
		sh := &shard{bytes: min(left, shardBytes)}
		sh.replicas = d.db.teamFor(sh, groups)
		d.db.shards = append(d.db.shards, sh)
	}
}

// ConnectionString is the current connection string.
func (d *Database) ConnectionString() fdb.ConnectionString {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return d.db.conn
}

// Available reports whether the database commits transactions and can read its
// own configuration.
func (d *Database) Available() bool {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return d.db.readable()
}

// Generation is the number of the current generation.
func (d *Database) Generation() int {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return d.db.recovery.generation
}

// Replicas is, for each shard, on how many undamaged data directories in
// different zones it is, running or not.
func (d *Database) Replicas() []int {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	counts := make([]int, len(d.db.shards))
	for i, sh := range d.db.shards {
		zones := map[string]bool{}
		for _, ss := range sh.replicas {
			if !ss.disk.lost {
				zones[ss.server.zone()] = true
			}
		}
		counts[i] = len(zones)
	}
	return counts
}

// EveryKeyOnAtLeast reports whether every shard is on at least n undamaged data
// directories in different zones.
func (d *Database) EveryKeyOnAtLeast(n int) bool {
	return !slices.ContainsFunc(d.Replicas(), func(have int) bool { return have < n })
}

// Promised is how many replicas the configuration asks for; 0 before the database is
// created.
func (d *Database) Promised() int {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if len(d.db.shards) == 0 {
		return 0
	}
	return d.db.configuration().storagePolicy.replicas()
}

// Complete reports whether everything that the configuration promises is up: every
// shard has all its replicas on servers that answer, in zones as the policy asks, and
// every log server answers. What is in the zone named but counts as up; "" for none. So do
// storage servers of processes that unseen names, for as long as data distribution has not
// noticed that they died: no status tells of them until then.
func (d *Database) Complete(but string, unseen func(process string) bool) bool {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if !d.db.available() {
		return false
	}
	policy := d.db.configuration().storagePolicy
	for _, sh := range d.db.shards {
		var up []*server
		for _, ss := range sh.replicas {
			if ss.answers() || ss.server.zone() == but || !ss.deathNoticed && unseen(ss.server.describe()) {
				up = append(up, ss.server)
			}
		}
		if !policy.satisfiedBy(up) {
			return false
		}
	}
	return d.db.logsComplete(but)
}

func (db *database) logsComplete(but string) bool {
	for _, g := range db.logs {
		for _, set := range g.sets {
			if slices.ContainsFunc(set.logs, func(l logServer) bool { return l.host(db) == nil && l.server.zone() != but }) {
				return false
			}
		}
	}
	return true
}

// Staying are the names of the live members of a class that no exclusion means.
func (d *Database) Staying(class string) []string {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	var names []string
	for _, s := range d.db.live() {
		if s.args.Class == class && !d.db.excluded(s) {
			names = append(names, s.describe())
		}
	}
	return names
}

// Excluded are the stored targets of all exclusions, addresses first.
func (d *Database) Excluded() []string {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	var targets []string
	for _, e := range d.db.exclusions(false) {
		targets = append(targets, e.text)
	}
	return targets
}

// Readable reports whether every shard can be read now.
func (d *Database) Readable() bool {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return !slices.ContainsFunc(d.db.shards, func(sh *shard) bool {
		return !slices.ContainsFunc(sh.replicas, (*storageServer).answers)
	})
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
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	dk, ok := d.w.disks[dataKey]
	if !ok {
		return "", false
	}
	for _, sh := range d.db.shards {
		for _, ss := range sh.replicas {
			if ss.disk == dk {
				return ss.server.zone(), true
			}
		}
	}
	for _, g := range d.db.logs {
		for _, set := range g.sets {
			for _, l := range set.logs {
				if l.disk == dk {
					return l.server.zone(), true
				}
			}
		}
	}
	return "", false
}

// Get reads a key as a client with all rights would, whatever state the
// database is in.
func (d *Database) Get(key string) ([]byte, bool) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return d.db.keys.latest(key)
}

// Processes are the names of the live members: their instance_id, or their
// address where they have none.
func (d *Database) Processes() []string {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	var names []string
	for _, s := range d.db.live() {
		names = append(names, s.describe())
	}
	slices.Sort(names)
	return names
}
