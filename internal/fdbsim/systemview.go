package fdbsim

import "strings"

// systemView is what the system keys mean, read again only after something was
// written: the model asks many times a second.
type systemView struct {
	// read says that it was read at all; asOf is the number of changes that the
	// keys had then.
	read bool
	asOf uint64

	configuration configuration
	// leaving are the targets of all exclusions and failed marks, as stored.
	leaving map[string]bool
}

func (v *systemView) refresh(db *database) {
	if v.read && v.asOf == db.keys.changes {
		return
	}
	v.read, v.asOf = true, db.keys.changes
	v.configuration = configurationOf(db.confValues())
	v.leaving = db.leaving()
}

// leaving are the targets below the keys of exclusions. An address and a locality
// never look alike, so one set holds both.
func (db *database) leaving() map[string]bool {
	targets := map[string]bool{}
	for _, prefix := range []string{excludedKeys, failedKeys, excludedLocalityKeys, failedLocalityKeys} {
		for _, p := range db.keys.latestRange(prefix, prefixEnd(prefix)) {
			targets[strings.TrimPrefix(p.key, prefix)] = true
		}
	}
	return targets
}
