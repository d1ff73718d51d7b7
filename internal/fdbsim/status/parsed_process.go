package status

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/activity"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// parsedProcesses are the registered processes by their own IDs, as parsing what processStatus
// returns stores them.
func parsedProcesses(db *model.Database) map[string]fdb.Process {
	v, each := viewOf(db), make(map[string]fdb.Process, len(db.Members))
	for _, s := range db.Members {
		each[s.Disk.ProcessID] = v.parsedProcess(db, s)
	}
	return each
}

func (v *view) parsedProcess(db *model.Database, s *model.Process) fdb.Process {
	p := fdb.Process{
		ID: s.Disk.ProcessID, Address: s.Address(), ClassSource: s.ClassSource(), ClassType: s.Args.Class,
		Memory: &fdb.ProcessMemory{}, Messages: []fdb.Message{}, Roles: v.parsedRoles(db, v.rolesOf(db, s)),
	}
	if v.readable {
		p.Excluded = new(db.Excluded(s))
	}
	if !s.Alive() {
		return p
	}
	p.Memory.LimitBytes = new(s.Args.MemoryBytes)
	if !db.Faults.PartialStatus && !s.Args.WithoutEvents {
		p.CommandLine, p.Version = s.Args.CommandLine, s.Version.String()
	}
	if reports(db, s) {
		addParsedFigures(db, &p, s, v.Process(s))
	}
	return p
}

// addParsedFigures adds what addFigures does.
func addParsedFigures(db *model.Database, p *fdb.Process, s *model.Process, load activity.ProcessActivity) {
	p.CPU = &fdb.ProcessCPU{UsageCores: new(load.Cores)}
	p.Disk = &fdb.ProcessDisk{
		Busy: new(load.DiskBusy), FreeBytes: new(freeBytes(db)), TotalBytes: new(diskTotalBytes),
		Reads: rateOf(0), Writes: rateOf(load.DiskWrites),
	}
	p.FaultDomain, p.Locality, p.MachineID = s.Zone(), s.Localities(), s.Machine()
	p.Memory.AvailableBytes = p.Memory.LimitBytes
	p.Memory.RSSBytes, p.Memory.UsedBytes = new(idleRSSBytes+load.QueueBytes), new(idleMemoryBytes+load.QueueBytes)
	p.Network = &fdb.ProcessNetwork{
		CurrentConnections: new(processConnections), MegabitsReceived: rateOf(load.ReceivedMegabits), MegabitsSent: rateOf(load.SentMegabits),
	}
	p.RunLoopBusy = new(load.Cores * runLoopShare)
	p.UptimeSeconds = new(uptime(s))
	if db.UnderMaintenance(s.Zone()) {
		p.UnderMaintenance = new(true)
	}
}

func (v *view) parsedRoles(db *model.Database, roles []role) []fdb.Role {
	parsed := make([]fdb.Role, len(roles))
	for i, r := range roles {
		parsed[i] = fdb.Role{Role: string(r.name), ID: r.id}
		switch {
		case r.log != nil:
			addLogFigures(db, &parsed[i], r.log)
		case r.storage != nil:
			addStorageFigures(db, &parsed[i], r.storage, v.Storage(r.storage))
		}
	}
	return parsed
}

// addLogFigures adds what logRole has.
func addLogFigures(db *model.Database, r *fdb.Role, load *activity.LogActivity) {
	r.DataVersion = new(db.VersionNow())
	r.DurableBytes, r.InputBytes = counterOf(idleLogDurableBytes, load.InputBytes), counterOf(idleLogInputBytes+load.QueueBytes, load.InputBytes)
	r.KVStoreAvailableBytes, r.KVStoreFreeBytes = new(freeBytes(db)), new(freeBytes(db))
	r.KVStoreTotalBytes, r.KVStoreUsedBytes = new(diskTotalBytes), new(diskOverhead)
	r.QueueDiskAvailableBytes, r.QueueDiskFreeBytes = new(freeBytes(db)), new(freeBytes(db))
	r.QueueDiskTotalBytes, r.QueueDiskUsedBytes = new(diskTotalBytes), new(idleLogQueueDiskBytes)
}

// addStorageFigures adds what storageRole has.
func addStorageFigures(db *model.Database, r *fdb.Role, ss *model.StorageServer, load activity.StorageActivity) {
	r.TSS = new(false)
	r.StorageMetadata = &fdb.StorageMetadata{StorageEngine: ss.Engine, CreatedTimeText: createdText(ss)}
	if !ss.Answers() {
		return
	}
	figures := Disk(db, ss)
	r.BytesQueried, r.FinishedQueries = rateOf(load.ReadBytes), rateOf(load.Reads)
	r.DataLag = &fdb.Lag{Seconds: new(0.0), Versions: new(int64(0))}
	r.DurabilityLag = &fdb.Lag{Seconds: new(load.LagSeconds), Versions: new(versionsIn(load.LagSeconds))}
	r.DataVersion, r.DurableVersion = new(db.VersionNow()), new(durableVersion(db, load))
	r.DurableBytes, r.InputBytes = counterOf(0, load.WrittenBytes), counterOf(load.QueueBytes, load.WrittenBytes)
	r.KVStoreAvailableBytes, r.KVStoreFreeBytes = new(figures.Available), new(figures.Free)
	r.KVStoreTotalBytes, r.KVStoreUsedBytes = new(diskTotalBytes), new(figures.Used)
	r.LocalRate = new(fullLocalRate)
	r.MutationBytes, r.Mutations = rateOf(load.WrittenBytes), rateOf(load.Writes)
	r.QueryQueueMax, r.StoredBytes = new(int64(0)), new(figures.Stored)
}

func rateOf(hz float64) *fdb.Rate { return &fdb.Rate{Hz: new(hz)} }

func counterOf(n int64, hz float64) *fdb.Counter {
	return &fdb.Counter{Counter: new(n), Rate: fdb.Rate{Hz: new(hz)}}
}
