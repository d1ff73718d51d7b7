package client

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// refuseChange is why a change is not made; "" when it is.
func refuseChange(db *model.Database, old, next model.Configuration, changes map[string]string) RefusedError {
	if next.Invalid() {
		return errInvalid
	}
	if next.Values["storage_engine"] != old.Values["storage_engine"] && model.Number(next.Values, "storage_migration_type", 1) == 1 {
		return "Storage engine type cannot be changed because storage_migration_type=disabled.\n" +
			"Type `configure perpetual_storage_wiggle=1 storage_migration_type=gradual' to enable gradual migration with the perpetual wiggle, " +
			"or `configure storage_migration_type=aggressive' for aggressive migration."
	}
	if mode, changed := changes["encryption_at_rest_mode"]; changed && mode != "0" {
		return "A cluster cannot change its encryption_at_rest state after database creation."
	}
	if refusal := refuseRegions(db, old, next); refusal != "" {
		return refusal + "\n" + configureHint
	}
	return ""
}

// refuseRegions are the rules about regions, in the order in which fdbcli
// checks them.
func refuseRegions(db *model.Database, old, next model.Configuration) RefusedError {
	if old.UsableRegions != next.UsableRegions {
		if lostOrChanged(old, next) {
			return "The region configuration cannot be changed while simultaneously changing usable_regions"
		}
		if activeRegions(next) > 1 {
			return "When changing usable_regions, only one region can have priority >= 0"
		}
	}
	if len(next.Regions) == 0 {
		return ""
	}
	if storageOutside(db, next) {
		return "All storage servers must be in one of the known regions"
	}
	if next.UsableRegions > 1 && !activeReplicated(db, next) {
		return "When usable_regions > 1, all regions with priority >= 0 must be fully replicated before changing the configuration"
	}
	if emptyDataCenter(db, next) {
		return errTooFew
	}
	return ""
}

func regionNamed(c model.Configuration, dc string) (model.Region, bool) {
	i := slices.IndexFunc(c.Regions, func(r model.Region) bool { return r.Main().ID == dc })
	if i < 0 {
		return model.Region{}, false
	}
	return c.Regions[i], true
}

// lostOrChanged reports whether a region of c is missing in next or has another
// priority there.
func lostOrChanged(c model.Configuration, next model.Configuration) bool {
	for _, r := range c.Regions {
		n, kept := regionNamed(next, r.Main().ID)
		if !kept || n.Main().Priority != r.Main().Priority {
			return true
		}
	}
	return false
}

func activeRegions(c model.Configuration) int {
	n := 0
	for _, r := range c.Regions {
		if r.Main().Priority >= 0 {
			n++
		}
	}
	return n
}

func storageOutside(db *model.Database, next model.Configuration) bool {
	return slices.ContainsFunc(db.Storage, func(ss *model.StorageServer) bool {
		_, known := regionNamed(next, ss.Server.Locality(fdb.LocalityDCID))
		return !known
	})
}

func activeReplicated(db *model.Database, next model.Configuration) bool {
	for _, r := range next.Regions {
		if main := r.Main(); main.Priority >= 0 && !db.ReplicatedIn(main.ID, next.StoragePolicy) {
			return false
		}
	}
	return true
}

func emptyDataCenter(db *model.Database, next model.Configuration) bool {
	for _, r := range next.Regions {
		for _, dc := range r.DataCenters {
			if len(model.InDataCenter(db.Live(), dc.ID)) == 0 {
				return true
			}
		}
	}
	return false
}

// givesUpPrimary reports whether a change makes the primary data center
// unusable while another can take over.
func givesUpPrimary(db *model.Database, old, next model.Configuration) bool {
	before, known := regionNamed(old, db.Roles.PrimaryDC)
	after, kept := regionNamed(next, db.Roles.PrimaryDC)
	return known && kept && next.UsableRegions > 1 && before.Main().Priority >= 0 && after.Main().Priority < 0
}

// withValues returns the settings after a change.
func withValues(values, changes map[string]string) map[string]string {
	next := maps.Clone(values)
	maps.Copy(next, changes)
	return next
}
