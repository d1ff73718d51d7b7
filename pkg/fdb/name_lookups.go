package fdb

import (
	"slices"
	"time"
)

// NameLookups is how a container's resolver answered when all names were looked up several
// times at the same time.
type NameLookups struct {
	Names []NameLookup
	// Overhead is the slowest lookup of an IP address among them, which needs no resolver: what
	// starting programs in the container takes.
	Overhead time.Duration
}

// NameLookup is how the lookups of one name ended.
type NameLookup struct {
	Name    string
	Lookups int
	// Failed found no address.
	Failed int
	// Unanswered were ended at their time limit.
	Unanswered int
	// Slowest is the longest of all, ended ones included.
	Slowest time.Duration
}

// Of returns the lookups of a name, and whether there were any.
func (l NameLookups) Of(name string) (NameLookup, bool) {
	i := slices.IndexFunc(l.Names, func(n NameLookup) bool { return n.Name == name })
	if i < 0 {
		return NameLookup{}, false
	}
	return l.Names[i], l.Names[i].Lookups > 0
}

// Total is how many lookups of names there were.
func (l NameLookups) Total() int {
	total := 0
	for _, n := range l.Names {
		total += n.Lookups
	}
	return total
}

// HostNames are the coordinators' hosts that have to be resolved, each once.
func (s ConnectionString) HostNames() []string {
	var names []string
	for _, c := range s.Coordinators {
		if !c.IsIP() && !slices.Contains(names, c.Host) {
			names = append(names, c.Host)
		}
	}
	return names
}
