package model

import "strings"

// systemView is what the system keys mean, read again only after something was
// written: the model asks many times a second.
type systemView struct {
	// read is whether it was read at all; asOf is the number of changes that the
	// keys had then.
	read bool
	asOf uint64

	configuration Configuration
	// exclusionTargets are the targets of all exclusions and failed marks, as stored.
	exclusionTargets map[string]bool
	// meant holds which processes they mean, as far as that was computed.
	meant map[*Process]bool
}

func (v *systemView) refresh(db *Database) {
	if v.read && v.asOf == db.Keys.Changes {
		return
	}
	v.read, v.asOf = true, db.Keys.Changes
	v.configuration = ConfigurationOf(db.confValues())
	v.exclusionTargets, v.meant = db.exclusionTargets(), map[*Process]bool{}
}

// exclusionTargets are the targets below the keys of exclusions. An address and a locality
// never look alike, so one set holds both.
func (db *Database) exclusionTargets() map[string]bool {
	targets := map[string]bool{}
	for _, prefix := range []string{excludedKeys, failedKeys, excludedLocalityKeys, failedLocalityKeys} {
		for _, p := range db.Keys.LatestRange(prefix, PrefixEnd(prefix)) {
			targets[strings.TrimPrefix(p.Key, prefix)] = true
		}
	}
	return targets
}
