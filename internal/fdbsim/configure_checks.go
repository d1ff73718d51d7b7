package fdbsim

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// refuseChange is why fdbcli does not make a change; "" when it does.
func (db *database) refuseChange(old, next configuration, changes map[string]string) string {
	if next.invalid() {
		return "These changes would make the configuration invalid"
	}
	if next.values["storage_engine"] != old.values["storage_engine"] && number(next.values, "storage_migration_type", 1) == 1 {
		return "Storage engine type cannot be changed because storage_migration_type=disabled.\n" +
			"Type `configure perpetual_storage_wiggle=1 storage_migration_type=gradual' to enable gradual migration with the perpetual wiggle, " +
			"or `configure storage_migration_type=aggressive' for aggressive migration."
	}
	if mode, changed := changes["encryption_at_rest_mode"]; changed && mode != "0" {
		return "A cluster cannot change its encryption_at_rest state after database creation."
	}
	if refusal := db.refuseRegions(old, next); refusal != "" {
		return refusal + "\n" + configureHint
	}
	return ""
}

// refuseRegions are the rules about regions, in the order in which fdbcli
// checks them.
func (db *database) refuseRegions(old, next configuration) string {
	if old.usableRegions != next.usableRegions {
		if old.lostOrChanged(next) {
			return "The region configuration cannot be changed while simultaneously changing usable_regions"
		}
		if next.activeRegions() > 1 {
			return "When changing usable_regions, only one region can have priority >= 0"
		}
	}
	if len(next.regions) == 0 {
		return ""
	}
	if db.storageOutside(next) {
		return "All storage servers must be in one of the known regions"
	}
	if next.usableRegions > 1 && !db.activeReplicated(next) {
		return "When usable_regions > 1, all regions with priority >= 0 must be fully replicated before changing the configuration"
	}
	if db.emptyDataCenter(next) {
		return "Not enough processes exist to support the specified configuration"
	}
	return ""
}

func (c configuration) region(dc string) (region, bool) {
	i := slices.IndexFunc(c.regions, func(r region) bool { return r.main().ID == dc })
	if i < 0 {
		return region{}, false
	}
	return c.regions[i], true
}

// lostOrChanged reports whether a region of before is gone or has another
// priority.
func (c configuration) lostOrChanged(next configuration) bool {
	for _, r := range c.regions {
		n, kept := next.region(r.main().ID)
		if !kept || n.main().Priority != r.main().Priority {
			return true
		}
	}
	return false
}

func (c configuration) activeRegions() int {
	n := 0
	for _, r := range c.regions {
		if r.main().Priority >= 0 {
			n++
		}
	}
	return n
}

func (db *database) storageOutside(next configuration) bool {
	return slices.ContainsFunc(db.storage, func(ss *storageServer) bool {
		_, known := next.region(ss.server.locality(fdb.LocalityDCID))
		return !known
	})
}

func (db *database) activeReplicated(next configuration) bool {
	for _, r := range next.regions {
		if main := r.main(); main.Priority >= 0 && !db.replicatedIn(main.ID, next.storagePolicy) {
			return false
		}
	}
	return true
}

// replicatedIn reports whether a data centre has all replicas of everything.
func (db *database) replicatedIn(dc string, p policy) bool {
	for _, sh := range db.shards {
		var in []*server
		for _, ss := range sh.replicas {
			if ss.server.locality(fdb.LocalityDCID) == dc {
				in = append(in, ss.server)
			}
		}
		if !p.satisfiedBy(in) {
			return false
		}
	}
	return true
}

func (db *database) emptyDataCenter(next configuration) bool {
	for _, r := range next.regions {
		for _, dc := range r.DataCenters {
			if len(inDC(db.live(), dc.ID)) == 0 {
				return true
			}
		}
	}
	return false
}

// giveUpPrimary reports whether a change makes the primary data centre
// unusable while another can take over.
func (db *database) giveUpPrimary(old, next configuration) bool {
	before, known := old.region(db.crew.primaryDC)
	after, kept := next.region(db.crew.primaryDC)
	return known && kept && next.usableRegions > 1 && before.main().Priority >= 0 && after.main().Priority < 0
}
