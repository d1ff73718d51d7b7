package fdbsim

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// specialPrefix starts the keys that stand for the cluster itself.
const specialPrefix = "\xff\xff/"

const (
	specialExcluded         = specialPrefix + "management/excluded/"
	specialExcludedLocality = specialPrefix + "management/excluded_locality/"
	specialFailed           = specialPrefix + "management/failed/"
	specialFailedLocality   = specialPrefix + "management/failed_locality/"
	specialInProgress       = specialPrefix + "management/in_progress_exclusion/"
	specialMaintenance      = specialPrefix + "management/maintenance/"
	specialCoordinators     = specialPrefix + "configuration/coordinators/"
	specialClassType        = specialPrefix + "configuration/process/class_type/"
	specialClassSource      = specialPrefix + "configuration/process/class_source/"
	specialWorkers          = specialPrefix + "worker_interfaces/"
)

// specialGet reads one special key.
func (c *cli) specialGet(key string) ([]byte, bool, error) {
	if c.txn != nil {
		c.txn.touched = true
	}
	switch key {
	case specialPrefix + "connection_string":
		c.locate()
		return []byte(c.conn.String()), true, nil
	case specialPrefix + "cluster_file_path":
		return []byte(c.opts.clusterFile), true, nil
	case specialPrefix + "status/json":
		return c.specialStatus()
	case specialPrefix + "error_message":
		return nil, false, nil
	case specialPrefix + "management/db_locked":
		return c.specialLock()
	}
	pairs, err := c.specialRange(key, key+"\x00", 1)
	if err != nil || len(pairs) == 0 {
		return nil, false, err
	}
	return pairs[0].value, true, nil
}

func (c *cli) specialStatus() ([]byte, bool, error) {
	if err := c.pause(c.statusDelay()); err != nil {
		return nil, false, err
	}
	return []byte(compactJSON(c.statusDocument())), true, nil
}

func (c *cli) specialLock() ([]byte, bool, error) {
	db, err := c.database((*database).readable)
	if err != nil || db.lockUID() == "" {
		return nil, false, err
	}
	return []byte(hex.EncodeToString([]byte(db.lockUID()))), true, nil
}

// specialRange reads the special keys of a range.
func (c *cli) specialRange(begin, end string, limit int) ([]pair, error) {
	if c.txn != nil {
		c.txn.touched = true
	}
	db, err := c.database((*database).readable)
	if err != nil {
		return nil, err
	}
	var in []pair
	for _, p := range c.specialKeys(db) {
		if p.key >= begin && p.key < end {
			in = append(in, p)
		}
	}
	slices.SortFunc(in, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return in[:min(limit, len(in))], nil
}

// specialKeys are the special keys that can be listed.
func (c *cli) specialKeys(db *database) []pair {
	var all []pair
	add := func(prefix, name, value string) { all = append(all, pair{prefix + name, []byte(value)}) }
	for _, failed := range []bool{false, true} {
		for _, e := range db.exclusions(failed) {
			add(specialExclusionPrefix(e, failed), e.text, "")
		}
	}
	for _, address := range db.inProgress() {
		add(specialInProgress, address, "")
	}
	if zone, end := db.maintenance(); zone != "" {
		add(specialMaintenance, zone, strconv.Itoa(wholeSecondsLeft(db.maintenanceSeconds(end))))
	}
	add(specialCoordinators, "cluster_description", db.conn.Description)
	add(specialCoordinators, "processes", coordinatorList(sortedCoordinators(db.conn.Coordinators)))
	add(specialPrefix, "management/auto_coordinators", coordinatorList(sortedCoordinators(db.autoCoordinators())))
	for _, s := range db.live() {
		add(specialClassType, s.address().HostPort(), s.args.Class)
		add(specialClassSource, s.address().HostPort(), s.classSource())
		add(specialWorkers, s.address().String(), s.disk.processID)
	}
	return all
}

func specialExclusionPrefix(e exclusion, failed bool) string {
	switch {
	case e.locality && failed:
		return specialFailedLocality
	case e.locality:
		return specialExcludedLocality
	case failed:
		return specialFailed
	default:
		return specialExcluded
	}
}

// specialWrite adds a write of a special key to the transaction. What it means
// is decided at the commit.
func (t *txn) specialWrite(m mutation) error {
	t.touched = true
	if !t.options.specialWrites {
		return errNotWritable
	}
	t.special = append(t.special, m)
	return nil
}

// applySpecial does what the special writes of a transaction ask for.
func (c *cli) applySpecial(t *txn) error {
	for _, m := range t.special {
		var err error
		if m.clear != nil {
			t.db.clearSpecial(*m.clear)
		} else {
			err = c.setSpecial(t.db, m.key, string(m.value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) setSpecial(db *database, key, value string) error {
	for prefix, failed := range map[string]bool{
		specialExcluded: false, specialExcludedLocality: false, specialFailed: true, specialFailedLocality: true,
	} {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			e, valid := parseExclusion(name)
			if !valid || e.locality != strings.Contains(prefix, "locality") {
				return errSpecialAPI
			}
			db.setExclusions([]exclusion{e}, failed)
			return nil
		}
	}
	if zone, ok := strings.CutPrefix(key, specialMaintenance); ok {
		return db.setSpecialMaintenance(zone, value)
	}
	if key == specialCoordinators+"processes" {
		return c.setSpecialCoordinators(db, value)
	}
	return errSpecialAPI
}

func (db *database) setSpecialMaintenance(zone, value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || db.failuresIgnored() {
		return errSpecialAPI
	}
	db.setMaintenance(zone, seconds)
	return nil
}

func (c *cli) setSpecialCoordinators(db *database, value string) error {
	var r coordinatorsRequest
	addresses, err := fdb.ParseAddresses(value)
	if err != nil {
		return errSpecialAPI
	}
	r.addresses = addresses
	_, err = c.changeCoordinators(db, r)
	if _, refused := errors.AsType[refusal](err); refused {
		return errSpecialAPI
	}
	return err
}

// clearSpecial takes exclusions or maintenance back.
func (db *database) clearSpecial(r keyRange) {
	for _, failed := range []bool{false, true} {
		var targets []exclusion
		for _, e := range db.exclusions(failed) {
			if singleKey(specialExclusionPrefix(e, failed) + e.text).overlaps(r) {
				targets = append(targets, e)
			}
		}
		if len(targets) > 0 {
			db.include(excludeRequest{targets: targets, failed: failed})
		}
	}
	if zone, _ := db.maintenance(); zone != "" && singleKey(specialMaintenance+zone).overlaps(r) {
		db.clearMaintenance()
	}
}
