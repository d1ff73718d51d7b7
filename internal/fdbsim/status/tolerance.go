package status

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// faultTolerance is how many zones may fail on top of those that have, as far
// as status knows.
func faultTolerance(db *model.Database) Object {
	n := coordinatorTolerance(db)
	for _, sh := range db.Shards {
		n = min(n, db.NoticedReplicas(sh)-1)
	}
	for _, g := range db.Logs {
		for _, set := range g.Sets {
			if set.Kind == model.LogLocal {
				n = min(n, tolerance(set, db))
			}
		}
	}
	if zone, _ := db.Maintenance(); zone != "" && n > 0 {
		n--
	}
	n = max(n, -1)
	return Object{"max_zone_failures_without_losing_availability": n, "max_zone_failures_without_losing_data": n}
}

// coordinatorTolerance is how many more zones of coordinators may fail.
func coordinatorTolerance(db *model.Database) int {
	perZone := map[string]int{}
	up := db.CoordinatorServers()
	for _, s := range up {
		perZone[s.Zone()]++
	}
	sizes := make([]int, 0, len(perZone))
	for _, n := range perZone {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	left, tolerated := len(up), 0
	for _, n := range slices.Backward(sizes) {
		left -= n
		if left <= len(db.Connection.Coordinators)/2 {
			break
		}
		tolerated++
	}
	return tolerated
}
