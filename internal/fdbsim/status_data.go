package fdbsim

// dataStatus is what data distribution says. It says nothing when it has just
// been recruited, and little while it initialises.
func (db *database) dataStatus() object {
	if db.justRecruited() {
		return object{"team_trackers": []any{}}
	}
	status := object{}
	db.addSpace(status)
	if !db.distributing() {
		status["state"] = object{"name": "initializing", "description": "(Re)initializing automatic data distribution"}
		return status
	}
	inFlight, highest := db.movingBytes()
	trackers := db.trackers()
	status["moving_data"] = object{
		"highest_priority": highest, "in_flight_bytes": inFlight, "in_queue_bytes": 0, "total_written_bytes": db.dist.moved,
	}
	status["partitions_count"] = len(db.shards)
	status["average_partition_size_bytes"] = averageShard
	status["system_kv_size_bytes"] = 0
	status["total_kv_size_bytes"] = db.totalBytes()
	status["state"] = trackers[0].(object)["state"]
	status["team_trackers"] = trackers
	return status
}

// averageShard is the size that data distribution reports of a small database.
const averageShard = 20_016_470

func (db *database) totalBytes() int64 {
	var n int64
	for _, sh := range db.shards {
		n += sh.bytes
	}
	return n
}

func (db *database) addSpace(status object) {
	status["total_disk_used_bytes"] = db.totalBytes()*2 + diskOverhead*int64(len(db.storage)+1)
	status["least_operating_space_bytes_log_server"] = diskFreeBytes - diskTotalBytes/20
	for _, ss := range db.storage {
		if ss.answers() {
			free := db.diskOf(ss).available - diskTotalBytes/20
			least, set := status["least_operating_space_bytes_storage_server"].(int64)
			if !set || free < least {
				status["least_operating_space_bytes_storage_server"] = free
			}
		}
	}
}

// movingBytes is how much is on its way, and how urgent the most urgent move is.
func (db *database) movingBytes() (inFlight int64, highest int) {
	for _, sh := range db.shards {
		if sh.move != nil {
			inFlight += sh.bytes
			highest = max(highest, sh.move.priority)
		}
	}
	return inFlight, highest
}

// trackers are the team trackers, primary first. A new region has none until
// its first data arrives.
func (db *database) trackers() []any {
	var each []any
	for i, g := range db.dist.groups {
		inFlight, _ := db.movingBytes()
		each = append(each, object{
			"primary": i == 0, "in_flight_bytes": inFlight,
			"unhealthy_servers": db.unhealthyIn(g), "state": db.groupState(g),
		})
	}
	return each
}

func (db *database) unhealthyIn(g dataGroup) int {
	n := 0
	for _, ss := range db.storage {
		if g.holds(ss.server) && (ss.deathNoticed || db.excluded(ss.server)) {
			n++
		}
	}
	return n
}

// groupState is the state of one group of replicas.
func (db *database) groupState(g dataGroup) object {
	replicas, unhealthy, populating := db.groupReplicas(g)
	full := g.policy.replicas()
	switch {
	case replicas == 0 && !populating:
		return object{"name": "missing_data", "description": "No replicas remain of some data", "healthy": false, "min_replicas_remaining": 0}
	case populating:
		return object{
			"name": "healthy_populating_region", "description": "Populating remote region", "healthy": true, "min_replicas_remaining": full,
		}
	case replicas == 1 && full > 1:
		return healing("Only one replica remains of some data", 1)
	case replicas == 2 && full > 2:
		return healing("Only two replicas remain of some data", 2)
	case unhealthy:
		return healing("Restoring replication factor", full)
	}
	if state, shown := db.migrationShows(full); shown {
		return state
	}
	if _, highest := db.movingBytes(); highest == priorityRebalance {
		return object{"name": "healthy_rebalancing", "description": "Rebalancing", "healthy": true, "min_replicas_remaining": full}
	} else if highest > 0 {
		return object{"name": "healthy_repartitioning", "description": "Repartitioning", "healthy": true, "min_replicas_remaining": full}
	}
	return object{"name": "healthy", "healthy": true, "min_replicas_remaining": full}
}

func healing(description string, replicas int) object {
	return object{"name": "healing", "description": description, "healthy": false, "min_replicas_remaining": replicas}
}

// groupReplicas is the smallest number of replicas that any shard has in a
// group, whether some of them have to go, and whether the group is being filled
// for the first time.
func (db *database) groupReplicas(g dataGroup) (fewest int, unhealthy, populating bool) {
	fewest = g.policy.replicas()
	for _, sh := range db.shards {
		n, held := 0, 0
		for _, ss := range sh.replicas {
			if !g.holds(ss.server) {
				continue
			}
			held++
			if !ss.deathNoticed {
				n++
			}
			unhealthy = unhealthy || !db.healthyHolder(ss)
		}
		if held == 0 && g.dc != "" && g.dc != db.crew.primaryDC {
			populating = true
			continue
		}
		fewest = min(fewest, n)
		unhealthy = unhealthy || n < g.policy.replicas()
	}
	return fewest, unhealthy, populating
}
