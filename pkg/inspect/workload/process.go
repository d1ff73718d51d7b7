package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
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

// ClassLoad is what the processes of one class do together. Figures are the worst of them, and null
// when none reports one.
type ClassLoad struct {
	Class     string `json:"class"`
	Processes int    `json:"processes"`
	// Reporting is how many report their CPU.
	Reporting            int      `json:"reporting"`
	MeanBusy             *float64 `json:"meanBusy"`
	WorstBusy            *float64 `json:"worstBusy"`
	WorstDiskBusy        *float64 `json:"worstDiskBusy"`
	WorstSpaceUsed       *float64 `json:"worstSpaceUsed"`
	WorstQueueBytes      *int64   `json:"worstQueueBytes"`
	WorstLagSeconds      *float64 `json:"worstLagSeconds"`
	ReceivedMegabits     *float64 `json:"receivedMegabitsPerSecond"`
	SentMegabits         *float64 `json:"sentMegabitsPerSecond"`
	QueriesPerSecond     *float64 `json:"queriesPerSecond"`
	MutationsPerSecond   *float64 `json:"mutationsPerSecond"`
	BusiestProcess       string   `json:"busiestProcess,omitempty"`
	DurabilityLagSeconds *float64 `json:"worstDurabilityLagSeconds"`
}

func classesOf(processes []ProcessLoad) []ClassLoad {
	members := map[string][]ProcessLoad{}
	for _, p := range processes {
		members[p.Class] = append(members[p.Class], p)
	}
	all := []ClassLoad{}
	for class, of := range members {
		all = append(all, classOf(class, of))
	}
	stable.Sort(all, func(a, b ClassLoad) int { return cmp.Compare(a.Class, b.Class) })
	return all
}

func classOf(class string, of []ProcessLoad) ClassLoad {
	v := ClassLoad{Class: class, Processes: len(of)}
	var busy []float64
	for _, p := range of {
		if b := p.Busy(); b != nil {
			busy = append(busy, *b)
			if v.WorstBusy == nil || *b > *v.WorstBusy {
				v.WorstBusy, v.BusiestProcess = b, p.Subject()
			}
		}
		v.WorstDiskBusy = highest(v.WorstDiskBusy, p.DiskBusy)
		v.WorstSpaceUsed = highest(v.WorstSpaceUsed, p.SpaceUsed)
		v.WorstQueueBytes = highest(v.WorstQueueBytes, p.QueueBytes)
		v.WorstLagSeconds = highest(v.WorstLagSeconds, p.DataLagSeconds)
		v.DurabilityLagSeconds = highest(v.DurabilityLagSeconds, p.DurabilityLagSeconds)
		v.ReceivedMegabits, v.SentMegabits = sum(v.ReceivedMegabits, p.ReceivedMegabits), sum(v.SentMegabits, p.SentMegabits)
		v.QueriesPerSecond, v.MutationsPerSecond = sum(v.QueriesPerSecond, p.QueriesPerSecond), sum(v.MutationsPerSecond, p.MutationsPerSecond)
	}
	v.Reporting, v.MeanBusy = len(busy), mean(busy)
	return v
}

// sum adds two figures, of which one may be unknown.
func sum(a, b *float64) *float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	default:
		return new(*a + *b)
	}
}

func mean(of []float64) *float64 {
	if len(of) == 0 {
		return nil
	}
	total := 0.0
	for _, n := range of {
		total += n
	}
	return new(total / float64(len(of)))
}

// ProcessList is the document of `top processes`.
type ProcessList struct {
	inspect.Document
	Items []ProcessLoad `json:"items"`
}

// NewProcessList makes the document out of that of `top`.
func NewProcessList(v View, by SortKey) ProcessList {
	l := ProcessList{Document: v.Document, Items: v.Processes}
	l.Kind = "ProcessLoadList"
	Sort(l.Items, by)
	return l
}

// SortKey is what processes are ordered by, the largest figure first.
type SortKey string

// The orders of processes.
const (
	ByCPU     SortKey = "cpu"
	ByDisk    SortKey = "disk"
	ByQueue   SortKey = "queue"
	ByLag     SortKey = "lag"
	BySpace   SortKey = "space"
	ByMemory  SortKey = "memory"
	ByNetwork SortKey = "network"
	ByQueries SortKey = "queries"
	ByName    SortKey = "name"
)

// sortFigures are the figures of the orders; that by name has none.
var sortFigures = map[SortKey]func(ProcessLoad) *float64{
	ByCPU:     ProcessLoad.Busy,
	ByDisk:    func(p ProcessLoad) *float64 { return p.DiskBusy },
	ByQueue:   func(p ProcessLoad) *float64 { return numberOf(p.QueueBytes) },
	ByLag:     ProcessLoad.Lag,
	BySpace:   func(p ProcessLoad) *float64 { return p.SpaceUsed },
	ByMemory:  func(p ProcessLoad) *float64 { return numberOf(p.MemoryBytes) },
	ByNetwork: func(p ProcessLoad) *float64 { return sum(p.ReceivedMegabits, p.SentMegabits) },
	ByQueries: func(p ProcessLoad) *float64 { return p.QueriesPerSecond },
}

// SortKeys returns all orders.
func SortKeys() []string {
	return []string{string(ByCPU), string(ByDisk), string(ByQueue), string(ByLag), string(BySpace), string(ByMemory), string(ByNetwork), string(ByQueries), string(ByName)}
}

// ParseSortKey returns the order of a name.
func ParseSortKey(name string) (SortKey, error) {
	if !slices.Contains(SortKeys(), name) {
		return "", fmt.Errorf("invalid order %q: must be one of %s", name, strings.Join(SortKeys(), ", "))
	}
	return SortKey(name), nil
}

// Sort orders processes by a figure, the largest first and unknown ones last.
func Sort(processes []ProcessLoad, by SortKey) {
	stable.Sort(processes, func(a, b ProcessLoad) int {
		if figure := sortFigures[by]; figure != nil {
			if c := order(figure(a), figure(b)); c != 0 {
				return c
			}
		}
		return strings.Compare(a.Subject(), b.Subject())
	})
}
