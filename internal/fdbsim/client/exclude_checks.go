package client

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
)

// keptFreeShare is the share of the space that an exclusion must leave free.
const keptFreeShare = 0.1

// CheckExclusion refuses an exclusion that the client library finds too dangerous.
func (c *Client) CheckExclusion(db *model.Database, e Exclusion) error {
	unknown := spaceUnknown(db)
	if err := c.Pause(workerDelay(db)); err != nil {
		return err
	}
	switch {
	case unknown:
		return errSpaceUnknown
	case leavesNoSpace(db, e.Targets):
		return errNoSpace
	case e.Kind == model.KindFailed && losesTeam(db, e.Targets):
		return errTeamLost
	default:
		return nil
	}
}

// The refusals of exclusions.
const (
	errSpaceUnknown RefusedError = "Could not calculate the impact of this exclude on the total available space in the cluster.\n" +
		"Please try the exclude again in 30 seconds."
	errNoSpace  RefusedError = "This exclude may cause the total available space in the cluster to drop below 10%."
	errTeamLost RefusedError = "It is unsafe to exclude the specified servers at this time.\n" +
		"Please check that this exclusion does not bring down an entire storage team.\n" +
		"Please also ensure that the exclusion will keep a majority of coordinators alive.\n" +
		"You may add more storage processes or coordinators to make the operation safe."
)

// spaceUnknown reports whether status lacks the disk figures of a storage role:
// for a moment after its process died.
func spaceUnknown(db *model.Database) bool {
	return slices.ContainsFunc(db.Storage, func(ss *model.StorageServer) bool {
		return !ss.Answers() && slices.Contains(db.Members, ss.Server)
	})
}

// leavesNoSpace is the rule about the last tenth of the space.
func leavesNoSpace(db *model.Database, targets []model.Exclusion) bool {
	var used, free, unavailable float64
	excluded, remaining := 0, 0
	for _, ss := range db.Storage {
		if !ss.Answers() {
			continue
		}
		figures := status.Disk(db, ss)
		used += float64(figures.Used)
		unavailable += float64(figures.Free - figures.Available)
		if db.Excluded(ss.Server) || slices.ContainsFunc(targets, func(e model.Exclusion) bool { return e.Matches(ss.Server) }) {
			excluded++
			continue
		}
		remaining++
		free += float64(figures.Used + figures.Free)
	}
	if excluded == 0 {
		return false
	}
	return remaining == 0 || (used+unavailable)/free > 1-keptFreeShare
}

// losesTeam reports whether the targets hold every replica of something.
func losesTeam(db *model.Database, targets []model.Exclusion) bool {
	return slices.ContainsFunc(db.Shards, func(sh *model.Shard) bool {
		return !slices.ContainsFunc(sh.Replicas, func(ss *model.StorageServer) bool {
			return !slices.ContainsFunc(targets, func(e model.Exclusion) bool { return e.Matches(ss.Server) })
		})
	})
}

// workerDelay is how long a question to every worker takes: longer while one of
// them is dead and not yet forgotten or given up.
func workerDelay(db *model.Database) time.Duration {
	switch {
	case slices.ContainsFunc(db.Members, func(s *model.Process) bool { return !s.Alive() }):
		return 4 * time.Second
	case slices.ContainsFunc(db.Storage, func(ss *model.StorageServer) bool { return !ss.Answers() && !ss.DeathNoticed }):
		return 2 * time.Second
	default:
		return 0
	}
}
