package activity

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// idle is what a database without clients does: its latency probe, data distribution and
// ratekeeper, as recorded on 7.3.79.
var idle = model.Rates{Started: 10.2, Committed: 0.4, Reads: 19.4, ReadBytes: 11790}

// What a process manages per second, and how large things are. These are assumptions, of the order
// that FoundationDB documents for one core and its storage engine on disks.
const (
	readsPerCore    = 55_000
	writesPerCore   = 20_000
	commitsPerProxy = 10_000
	startsPerProxy  = 100_000
	writesPerCheck  = 200_000 // writes that a resolver checks for conflicts
	logBytesPerCore = 100e6
	operationBytes  = 116    // a key and its value
	memoryBytes     = 300    // a mutation in a queue
	operationsEach  = 10     // of a transaction of clients
	movedByDisk     = 400e6  // bytes of moved data that keep a disk busy
	idleCPU         = 0.004  // cores of a process without load
	idleDisk        = 0.0016 // share of time that its disk is busy
)

// The knobs of queues: what ratekeeper allows a storage server, and from when on a log spills.
const (
	storageTarget = 950e6
	logSpills     = 1500e6
	idleLag       = 5             // seconds that a storage server keeps writes in memory
	unlimited     = 1_000_000_000 // transactions per second that ratekeeper reports without a limit
)

// Activity is what a database does at a moment.
type Activity struct {
	// Rates are those of clients, tools and the database itself.
	model.Rates
	// Released and Limit are ratekeeper's, in transactions per second.
	Released, Limit float64
	// Limiting is the storage server whose queue limits the database; nil for none.
	Limiting *model.StorageServer
	// The latencies of the latency probe, in seconds.
	StartSeconds, ReadSeconds, CommitSeconds float64

	storage map[*model.StorageServer]StorageActivity
	moving  map[*model.Process]bool // processes whose data is moved
	moved   float64                 // bytes per second
	logs    LogActivity
	holders map[model.Role]int // number of processes with the role
	work
}

// work is which process does what, found once for all processes.
type work struct {
	roles   map[*model.Process][]model.Role
	servers map[*model.Disk]*model.StorageServer
	logging map[*model.Process]bool
}

func workOf(db *model.Database) work {
	w := work{map[*model.Process][]model.Role{}, make(map[*model.Disk]*model.StorageServer, len(db.Storage)), map[*model.Process]bool{}}
	for _, e := range db.Roles.Assignments() {
		w.roles[e.Instance.Server] = append(w.roles[e.Instance.Server], e.Role)
	}
	for _, ss := range slices.Backward(db.Storage) { // the first of several on a disk counts
		w.servers[ss.Disk] = ss
	}
	if len(db.Logs) > 0 {
		for _, set := range db.Logs[0].Sets {
			for _, l := range set.Logs {
				w.logging[l.Host(db)] = true
			}
		}
	}
	return w
}

// StorageOn is the storage role in a process's data directory, or nil.
func (w work) StorageOn(s *model.Process) *model.StorageServer { return w.servers[s.Disk] }

// StorageActivity is what one storage server does.
type StorageActivity struct {
	Reads, Writes, ReadBytes, WrittenBytes float64
	// QueueBytes are in memory and not on disk.
	QueueBytes int64
	// LagSeconds is how far the disk is behind the memory.
	LagSeconds float64
}

// LogActivity is what each log does.
type LogActivity struct {
	InputBytes float64
	QueueBytes int64
}

// ProcessActivity is what one process uses.
type ProcessActivity struct {
	Cores, DiskBusy, DiskWrites, ReceivedMegabits, SentMegabits float64
	QueueBytes                                                  int64
}

// Of computes what the database does now. Clients read and write what the faults configure;
// ratekeeper slows them down once the queue of a storage server is full.
func Of(db *model.Database) Activity {
	clients := clientRates(db)
	a := Activity{Rates: idle.Plus(db.Rates()), Limit: unlimited, moving: map[*model.Process]bool{}, holders: map[model.Role]int{}, work: workOf(db)}
	shares := dataShares(db)
	worst, queue := fullestQueue(db, shares, clients.Writes)
	allowed := 1.0
	if queue >= storageTarget {
		allowed = writesPerCore / (clients.Writes * shares[worst])
		a.Limiting, a.Limit = worst, (clients.Started+a.Started)*allowed
	}
	a.Rates = a.Plus(clients.Times(allowed))
	a.Released = min(a.Started, a.Limit)
	a.ofStorage(db, shares, clients)
	a.ofLogs(db)
	for _, roles := range a.roles {
		for _, role := range roles {
			a.holders[role]++
		}
	}
	a.ofMoves(db)
	a.latencies(allowed)
	return a
}

// clientRates are what clients want to do.
func clientRates(db *model.Database) model.Rates {
	reads, writes := float64(db.Faults.ClientReads), float64(db.Faults.ClientWrites)
	return model.Rates{
		Started: (reads + writes) / operationsEach, Committed: writes / operationsEach, Reads: reads, Writes: writes,
		ReadBytes: reads * operationBytes, WrittenBytes: writes * operationBytes,
	}
}

// dataShares are which share of all data each storage server has. Clients do not use the
// system keys, unless there are no other shards.
func dataShares(db *model.Database) map[*model.StorageServer]float64 {
	shares, total := map[*model.StorageServer]float64{}, 0.0
	for i, sh := range db.Shards {
		if i == 0 && len(db.Shards) > 1 {
			continue
		}
		total += float64(sh.Bytes)
		for _, ss := range sh.Replicas {
			shares[ss] += float64(sh.Bytes)
		}
	}
	for ss := range shares {
		shares[ss] /= max(total, 1)
	}
	return shares
}

// fullestQueue is the storage server with the most writes, and what its queue has without
// ratekeeper: five seconds of writes that could still be read, and all that its disk did not manage
// since the clients began.
func fullestQueue(db *model.Database, shares map[*model.StorageServer]float64, writes float64) (*model.StorageServer, float64) {
	var worst *model.StorageServer
	for _, ss := range db.Storage {
		if ss.Answers() && (worst == nil || shares[ss] > shares[worst]) {
			worst = ss
		}
	}
	if worst == nil {
		return nil, 0
	}
	return worst, queueOf(db, writes*shares[worst])
}

func queueOf(db *model.Database, writes float64) float64 {
	since := db.Simulation.Now.Sub(db.LoadedSince).Seconds()
	return writes*memoryBytes*idleLag + max(0, writes-writesPerCore)*memoryBytes*since
}

func (a *Activity) ofStorage(db *model.Database, shares map[*model.StorageServer]float64, clients model.Rates) {
	a.storage = make(map[*model.StorageServer]StorageActivity, len(db.Storage))
	replicas := 0.0
	for _, n := range shares {
		replicas += n
	}
	for _, ss := range db.Storage {
		writes := clients.Writes * shares[ss]
		reads := a.Reads * shares[ss] / max(replicas, 1)
		s := StorageActivity{
			Reads: reads, Writes: a.Writes * shares[ss], ReadBytes: a.ReadBytes * shares[ss] / max(replicas, 1), WrittenBytes: a.WrittenBytes * shares[ss],
			QueueBytes: int64(min(storageTarget, queueOf(db, writes))), LagSeconds: idleLag,
		}
		if s.Writes > 0 && writes > writesPerCore {
			s.LagSeconds = max(idleLag, float64(s.QueueBytes)/(s.Writes*memoryBytes))
		}
		a.storage[ss] = s
	}
}

func (a *Activity) ofLogs(db *model.Database) {
	n, replicas := 0, 0
	if len(db.Logs) > 0 {
		for _, set := range db.Logs[0].Sets {
			n, replicas = n+len(set.Logs), replicas+set.Policy.Replicas()
		}
	}
	a.logs.InputBytes = a.Writes * memoryBytes * float64(replicas) / float64(max(n, 1))
	a.logs.QueueBytes = int64(min(logSpills, a.logs.InputBytes*a.WorstLag()))
}

func (a *Activity) ofMoves(db *model.Database) {
	for _, sh := range db.Shards {
		if sh.Move == nil {
			continue
		}
		a.moved = float64(db.MoveRate())
		for _, ss := range slices.Concat(sh.Replicas, sh.Move.Target()) {
			a.moving[ss.Server] = true
		}
	}
}

// latencies grow as the busiest process of a kind comes closer to its limit, and at the limit of
// ratekeeper transactions wait for their start.
func (a *Activity) latencies(allowed float64) {
	slower := func(seconds, load float64) float64 { return seconds / (1 - min(load, 0.99)) }
	busiest := 0.0
	for _, s := range a.storage {
		busiest = max(busiest, s.cores())
	}
	a.ReadSeconds = slower(0.00018, busiest)
	a.CommitSeconds = slower(0.0024, a.logs.InputBytes/logBytesPerCore)
	a.StartSeconds = slower(0.0006, a.coresOf(model.RoleGrvProxy)) + (1/allowed - 1)
}

// Storage is what a storage server does.
func (a Activity) Storage(ss *model.StorageServer) StorageActivity { return a.storage[ss] }

// Log is what each current log does.
func (a Activity) Log() LogActivity { return a.logs }

// WorstQueue is the largest queue of a storage server.
func (a Activity) WorstQueue() int64 {
	var most int64
	for _, s := range a.storage {
		most = max(most, s.QueueBytes)
	}
	return most
}

// WorstLag is the largest durability lag of a storage server, in seconds.
func (a Activity) WorstLag() float64 {
	most := float64(idleLag)
	for _, s := range a.storage {
		most = max(most, s.LagSeconds)
	}
	return most
}

func (s StorageActivity) cores() float64 {
	return min(1, s.Reads/readsPerCore+s.Writes/writesPerCore)
}

// coresOf is what one process needs for a role of which there are several.
func (a Activity) coresOf(r model.Role) float64 {
	n := float64(max(1, a.holders[r]))
	switch r {
	case model.RoleCommitProxy:
		return min(1, a.Committed/n/commitsPerProxy)
	case model.RoleGrvProxy:
		return min(1, a.Started/n/startsPerProxy)
	case model.RoleResolver:
		return min(1, a.Writes/n/writesPerCheck)
	default:
		return 0
	}
}

// Process is what a process uses for all of its roles.
func (a Activity) Process(s *model.Process) ProcessActivity {
	p := ProcessActivity{Cores: idleCPU, DiskBusy: idleDisk}
	for _, role := range a.roles[s] {
		p.Cores += a.coresOf(role)
		p.transfer(a.WrittenBytes/float64(a.holders[role]), a.WrittenBytes/float64(a.holders[role]))
	}
	if ss := a.StorageOn(s); ss != nil {
		load := a.storage[ss]
		p.Cores += load.cores()
		p.disk(load.Writes / writesPerCore)
		p.transfer(load.WrittenBytes, load.ReadBytes)
		p.QueueBytes += load.QueueBytes
	}
	if a.logging[s] {
		p.Cores += a.logs.InputBytes / logBytesPerCore
		p.disk(a.logs.InputBytes / logBytesPerCore)
		p.transfer(a.logs.InputBytes, a.logs.InputBytes)
		p.QueueBytes += a.logs.QueueBytes
	}
	if a.moving[s] {
		p.disk(a.moved / movedByDisk)
		p.transfer(a.moved, a.moved)
	}
	p.Cores = min(1, p.Cores)
	return p
}

func (p *ProcessActivity) disk(busy float64) {
	p.DiskBusy = min(1, p.DiskBusy+busy)
	p.DiskWrites = p.DiskBusy * 5000
}

func (p *ProcessActivity) transfer(received, sent float64) {
	const bits = 8
	p.ReceivedMegabits += received * bits / 1e6
	p.SentMegabits += sent * bits / 1e6
}
