package fdbsim

import (
	"slices"
	"time"
)

// kept is a share of the space that an exclusion must leave free.
const keptFreeShare = 0.1

// checkExclude is what fdbcli looks at before it excludes.
func (c *cli) checkExclude(db *database, r excludeRequest) error {
	unknown := db.spaceUnknown()
	if err := c.pause(db.workerDelay()); err != nil {
		return err
	}
	const hint = "Type `exclude FORCE failed <ADDRESS...>' to exclude without performing safety checks."
	if unknown {
		c.errorf("ERROR: Could not calculate the impact of this exclude on the total available space in the cluster.\n" +
			"Please try the exclude again in 30 seconds.\n" + hint)
		return errFailed
	}
	if db.leavesNoSpace(r.targets) {
		c.errorf("ERROR: This exclude may cause the total available space in the cluster to drop below 10%%.\n" + hint)
		return errFailed
	}
	if r.failed && db.losesTeam(r.targets) {
		c.errorf("ERROR: It is unsafe to exclude the specified servers at this time.\n" +
			"Please check that this exclusion does not bring down an entire storage team.\n" +
			"Please also ensure that the exclusion will keep a majority of coordinators alive.\n" +
			"You may add more storage processes or coordinators to make the operation safe.\n" + hint)
		return errFailed
	}
	return nil
}

// spaceUnknown reports whether status lacks the disk figures of a storage role:
// for a moment after its process died.
func (db *database) spaceUnknown() bool {
	return slices.ContainsFunc(db.storage, func(ss *storageServer) bool {
		return !ss.answers() && slices.Contains(db.members, ss.server)
	})
}

// leavesNoSpace is the rule about the last tenth of the space.
func (db *database) leavesNoSpace(targets []exclusion) bool {
	var used, free, unavailable float64
	leaving, staying := 0, 0
	for _, ss := range db.storage {
		if !ss.answers() {
			continue
		}
		figures := db.diskOf(ss)
		used += float64(figures.used)
		unavailable += float64(figures.free - figures.available)
		if db.excluded(ss.server) || slices.ContainsFunc(targets, func(e exclusion) bool { return e.matches(ss.server) }) {
			leaving++
			continue
		}
		staying++
		free += float64(figures.used + figures.free)
	}
	if leaving == 0 {
		return false
	}
	return staying == 0 || (used+unavailable)/free > 1-keptFreeShare
}

// losesTeam reports whether the targets hold every replica of something.
func (db *database) losesTeam(targets []exclusion) bool {
	return slices.ContainsFunc(db.shards, func(sh *shard) bool {
		return !slices.ContainsFunc(sh.replicas, func(ss *storageServer) bool {
			return !slices.ContainsFunc(targets, func(e exclusion) bool { return e.matches(ss.server) })
		})
	})
}

// workerDelay is how long a question to every worker takes: longer while one of
// them is dead and not yet forgotten or given up.
func (db *database) workerDelay() time.Duration {
	switch {
	case slices.ContainsFunc(db.members, func(s *server) bool { return !s.alive() }):
		return 4 * time.Second
	case slices.ContainsFunc(db.storage, func(ss *storageServer) bool { return !ss.answers() && !ss.deathNoticed }):
		return 2 * time.Second
	default:
		return 0
	}
}
