package fdbsim

import (
	"slices"
)

// faultTolerance is how many zones may fail on top of those that have, as far
// as status knows.
func (db *database) faultTolerance() object {
	n := db.coordinatorTolerance()
	for _, sh := range db.shards {
		n = min(n, db.noticedReplicas(sh)-1)
	}
	for _, g := range db.logs {
		for _, set := range g.sets {
			if set.kind == logLocal {
				n = min(n, set.tolerance(db))
			}
		}
	}
	if zone, _ := db.maintenance(); zone != "" && n > 0 {
		n--
	}
	n = max(n, -1)
	return object{"max_zone_failures_without_losing_availability": n, "max_zone_failures_without_losing_data": n}
}

// coordinatorTolerance is how many more zones of coordinators may fail.
func (db *database) coordinatorTolerance() int {
	perZone := map[string]int{}
	up := db.coordinatorServers()
	for _, s := range up {
		perZone[s.zone()]++
	}
	sizes := make([]int, 0, len(perZone))
	for _, n := range perZone {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	left, tolerated := len(up), 0
	for _, n := range slices.Backward(sizes) {
		left -= n
		if left <= len(db.conn.Coordinators)/2 {
			break
		}
		tolerated++
	}
	return tolerated
}
