package workload

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ProcessLoad is what one process does. All rates are per second; null is unknown, and for the
// figures of log and storage roles also a process without them.
type ProcessLoad struct {
	Address string `json:"address"`
	// Group is the process group; empty for a process that has not reported it yet.
	Group string `json:"processGroup,omitempty"`
	Class string `json:"class,omitempty"`
	// Roles are null when the database does not report them all.
	Roles []string `json:"roles"`
	// CPUCores is the use of its one core: an fdbserver process runs on a single thread.
	CPUCores *float64 `json:"cpuCores"`
	// RunLoopBusy is the share of time in which its thread works.
	RunLoopBusy      *float64 `json:"runLoopBusy"`
	MemoryBytes      *int64   `json:"memoryBytes"`
	MemoryLimitBytes *int64   `json:"memoryLimitBytes"`
	// DiskBusy is the share of time in which its disk works.
	DiskBusy       *float64 `json:"diskBusy"`
	DiskFreeBytes  *int64   `json:"diskFreeBytes"`
	DiskTotalBytes *int64   `json:"diskTotalBytes"`
	// SpaceUsed is the share of the disk that is not available to its log and storage roles.
	SpaceUsed           *float64 `json:"spaceUsed"`
	DiskReadsPerSecond  *float64 `json:"diskReadsPerSecond"`
	DiskWritesPerSecond *float64 `json:"diskWritesPerSecond"`
	ReceivedMegabits    *float64 `json:"receivedMegabitsPerSecond"`
	SentMegabits        *float64 `json:"sentMegabitsPerSecond"`
	// QueueBytes is what its log and storage roles hold in memory and not on disk yet.
	QueueBytes           *int64   `json:"queueBytes"`
	InputBytesPerSecond  *float64 `json:"inputBytesPerSecond"`
	DataLagSeconds       *float64 `json:"dataLagSeconds"`
	DurabilityLagSeconds *float64 `json:"durabilityLagSeconds"`
	StoredBytes          *int64   `json:"storedBytes"`
	QueriesPerSecond     *float64 `json:"queriesPerSecond"`
	QueriedBytes         *float64 `json:"queriedBytesPerSecond"`
	MutationsPerSecond   *float64 `json:"mutationsPerSecond"`
	// ReadQueue is the largest number of reads that waited at once.
	ReadQueue *int64 `json:"readQueue"`
	// ServedReads is the share of reads that the storage role does not refuse.
	ServedReads *float64 `json:"servedReads"`
	Excluded    *bool    `json:"excluded"`
	Degraded    *bool    `json:"degraded"`
}

// Subject returns what identifies the process in causes: the process group, or else the address.
func (p ProcessLoad) Subject() string {
	if p.Group != "" {
		return p.Group
	}
	return p.Address
}

// Busy returns the larger of both measures of the CPU.
func (p ProcessLoad) Busy() *float64 { return highest(p.CPUCores, p.RunLoopBusy) }

// Has reports whether the process has a role.
func (p ProcessLoad) Has(role string) bool { return slices.Contains(p.Roles, role) }

func (p ProcessLoad) stores() bool { return p.Has(fdb.RoleStorage) }

// Lag returns the larger of both lags.
func (p ProcessLoad) Lag() *float64 { return highest(p.DataLagSeconds, p.DurabilityLagSeconds) }

func subjectOf(p fdb.Process) string {
	return ProcessLoad{Address: p.Address.Coordinator(), Group: p.InstanceID()}.Subject()
}

// processesOf returns what every process of a document does.
func processesOf(s *fdb.Status) []ProcessLoad {
	all := []ProcessLoad{}
	for _, p := range s.ProcessList() {
		v := ProcessLoad{
			Address: p.Address.Coordinator(), Group: p.InstanceID(), Class: p.ClassType, RunLoopBusy: p.RunLoopBusy,
			Excluded: p.Excluded, Degraded: p.Degraded,
		}
		v.addMachine(p)
		roles := []string{}
		for _, r := range p.Roles {
			roles = append(roles, r.Role)
			v.addRole(r)
		}
		if s.RolesKnown() {
			slices.Sort(roles)
			v.Roles = slices.Compact(roles)
		}
		all = append(all, v)
	}
	return all
}

// addMachine adds what the process uses of its machine.
func (p *ProcessLoad) addMachine(of fdb.Process) {
	if of.CPU != nil {
		p.CPUCores = of.CPU.UsageCores
	}
	if of.Memory != nil {
		p.MemoryBytes, p.MemoryLimitBytes = of.Memory.RSSBytes, of.Memory.LimitBytes
	}
	if d := of.Disk; d != nil {
		p.DiskBusy, p.DiskFreeBytes, p.DiskTotalBytes = d.Busy, d.FreeBytes, d.TotalBytes
		p.DiskReadsPerSecond, p.DiskWritesPerSecond = d.Reads.PerSecond(), d.Writes.PerSecond()
	}
	if n := of.Network; n != nil {
		p.ReceivedMegabits, p.SentMegabits = n.MegabitsReceived.PerSecond(), n.MegabitsSent.PerSecond()
	}
}

// addRole adds the figures of a log or storage role. A process may have several logs, of different
// generations; the worst counts.
func (p *ProcessLoad) addRole(r fdb.Role) {
	p.QueueBytes = highest(p.QueueBytes, r.QueueBytes())
	if r.InputBytes != nil {
		p.InputBytesPerSecond = highest(p.InputBytesPerSecond, r.InputBytes.PerSecond())
	}
	p.SpaceUsed = highest(p.SpaceUsed, r.SpaceUsed())
	if r.Role != fdb.RoleStorage {
		return
	}
	p.DataLagSeconds, p.DurabilityLagSeconds = highest(p.DataLagSeconds, secondsOf(r.DataLag)), highest(p.DurabilityLagSeconds, secondsOf(r.DurabilityLag))
	p.StoredBytes = highest(p.StoredBytes, r.StoredBytes)
	p.QueriesPerSecond, p.QueriedBytes = highest(p.QueriesPerSecond, r.FinishedQueries.PerSecond()), highest(p.QueriedBytes, r.BytesQueried.PerSecond())
	p.MutationsPerSecond = highest(p.MutationsPerSecond, r.Mutations.PerSecond())
	p.ReadQueue = highest(p.ReadQueue, r.QueryQueueMax)
	if r.LocalRate != nil {
		p.ServedReads = new(*r.LocalRate / 100)
	}
}

// highest returns the largest known figure; nil when none is known.
func highest[N int64 | float64](of ...*N) *N {
	var largest *N
	for _, n := range of {
		if n != nil && (largest == nil || *n > *largest) {
			largest = n
		}
	}
	return largest
}
