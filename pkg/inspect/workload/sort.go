package workload

import (
	"fmt"
	"slices"
	"strings"
)

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
	slices.SortStableFunc(processes, func(a, b ProcessLoad) int {
		if figure := sortFigures[by]; figure != nil {
			if c := order(figure(a), figure(b)); c != 0 {
				return c
			}
		}
		return strings.Compare(a.Subject(), b.Subject())
	})
}
