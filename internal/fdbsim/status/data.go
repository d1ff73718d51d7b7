package status

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// dataStatus is what data distribution reports. It reports nothing when it
// has just been recruited, and little while it initializes.
func dataStatus(db *model.Database) Object {
	if justRecruited(db) {
		return Object{"team_trackers": []any{}}
	}
	status := Object{}
	addSpace(db, status)
	if !db.Distributing() {
		status["state"] = Object{"name": "initializing", "description": "(Re)initializing automatic data distribution"}
		return status
	}
	inFlight, highest := movingBytes(db)
	trackers := trackers(db)
	status["moving_data"] = Object{
		"highest_priority": highest, "in_flight_bytes": inFlight, "in_queue_bytes": 0, "total_written_bytes": db.Distribution.Moved,
	}
	status["partitions_count"] = len(db.Shards)
	status["average_partition_size_bytes"] = averageShard
	status["system_kv_size_bytes"] = 0
	status["total_kv_size_bytes"] = totalBytes(db)
	status["state"] = trackers[0].(Object)["state"]
	status["team_trackers"] = trackers
	return status
}

// averageShard is the size that data distribution reports of a small database.
const averageShard = 20_016_470

func totalBytes(db *model.Database) int64 {
	var n int64
	for _, sh := range db.Shards {
		n += sh.Bytes
	}
	return n
}

func addSpace(db *model.Database, status Object) {
	status["total_disk_used_bytes"] = totalBytes(db)*2 + diskOverhead*int64(len(db.Storage)+1)
	status["least_operating_space_bytes_log_server"] = max(0, freeBytes(db)-diskTotalBytes/20)
	for _, ss := range db.Storage {
		if ss.Answers() {
			free := max(0, Disk(db, ss).Available-diskTotalBytes/20)
			least, set := status["least_operating_space_bytes_storage_server"].(int64)
			if !set || free < least {
				status["least_operating_space_bytes_storage_server"] = free
			}
		}
	}
}

// movingBytes is how much data is being moved, and the highest priority of a move.
func movingBytes(db *model.Database) (inFlight int64, highest int) {
	for _, sh := range db.Shards {
		if sh.Move != nil {
			inFlight += sh.Bytes
			highest = max(highest, sh.Move.Priority)
		}
	}
	return inFlight, highest
}

// trackers are the team trackers, primary first. A new region has none until
// its first data arrives.
func trackers(db *model.Database) []any {
	var each []any
	for i, g := range db.Distribution.Groups {
		inFlight, _ := movingBytes(db)
		each = append(each, Object{
			"primary": i == 0, "in_flight_bytes": inFlight,
			"unhealthy_servers": unhealthyIn(db, g), "state": groupState(db, g),
		})
	}
	return each
}

func unhealthyIn(db *model.Database, g model.DataGroup) int {
	n := 0
	for _, ss := range db.Storage {
		if g.Holds(ss.Server) && (ss.DeathNoticed || db.Excluded(ss.Server)) {
			n++
		}
	}
	return n
}

// groupState is the state of one group of replicas.
func groupState(db *model.Database, g model.DataGroup) Object {
	replicas, unhealthy, populating := groupReplicas(db, g)
	full := g.Policy.Replicas()
	switch {
	case replicas == 0 && !populating:
		return Object{"name": "missing_data", "description": "No replicas remain of some data", "healthy": false, "min_replicas_remaining": 0}
	case populating:
		return Object{
			"name": "healthy_populating_region", "description": "Populating remote region", "healthy": true, "min_replicas_remaining": full,
		}
	case replicas == 1 && full > 1:
		return healing("Only one replica remains of some data", 1)
	case replicas == 2 && full > 2:
		return healing("Only two replicas remain of some data", 2)
	case unhealthy:
		return healing("Restoring replication factor", full)
	}
	if state, shown := migrationShows(db, full); shown {
		return state
	}
	if _, highest := movingBytes(db); highest == model.PriorityRebalance {
		return Object{"name": "healthy_rebalancing", "description": "Rebalancing", "healthy": true, "min_replicas_remaining": full}
	} else if highest > 0 {
		return Object{"name": "healthy_repartitioning", "description": "Repartitioning", "healthy": true, "min_replicas_remaining": full}
	}
	return Object{"name": "healthy", "healthy": true, "min_replicas_remaining": full}
}

func healing(description string, replicas int) Object {
	return Object{"name": "healing", "description": description, "healthy": false, "min_replicas_remaining": replicas}
}

// groupReplicas is the smallest number of replicas that any shard has in a
// group, whether some of them have to be moved, and whether the group is being filled
// for the first time.
func groupReplicas(db *model.Database, g model.DataGroup) (fewest int, unhealthy, populating bool) {
	fewest = g.Policy.Replicas()
	for _, sh := range db.Shards {
		n, held := 0, 0
		for _, ss := range sh.Replicas {
			if !g.Holds(ss.Server) {
				continue
			}
			held++
			if !ss.DeathNoticed {
				n++
			}
			unhealthy = unhealthy || !db.HealthyHolder(ss)
		}
		if held == 0 && g.Dc != "" && g.Dc != db.Roles.PrimaryDC {
			populating = true
			continue
		}
		fewest = min(fewest, n)
		unhealthy = unhealthy || n < g.Policy.Replicas()
	}
	return fewest, unhealthy, populating
}

// migrationShows is the state of the data during a migration.
func migrationShows(db *model.Database, replicas int) (Object, bool) {
	switch db.Distribution.Migration.State {
	case model.MigrationHealing:
		return healing("Restoring replication factor", replicas), true
	case model.MigrationWiggling:
		return Object{
			"name": "healthy_perpetual_wiggle", "description": "Wiggling storage server", "healthy": true, "min_replicas_remaining": replicas,
		}, true
	default:
		return nil, false
	}
}
