package workload

import (
	"cmp"
	"slices"
)

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
	slices.SortFunc(all, func(a, b ClassLoad) int { return cmp.Compare(a.Class, b.Class) })
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
