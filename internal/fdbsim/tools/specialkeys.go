package tools

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
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
		c.txn.Touched = true
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
	return pairs[0].Value, true, nil
}

func (c *cli) specialStatus() ([]byte, bool, error) {
	if err := c.pause(c.statusDelay()); err != nil {
		return nil, false, err
	}
	return []byte(status.Compact(c.statusDocument())), true, nil
}

func (c *cli) specialLock() ([]byte, bool, error) {
	db, err := c.database((*model.Database).Readable)
	if err != nil || db.LockUID() == "" {
		return nil, false, err
	}
	return []byte(hex.EncodeToString([]byte(db.LockUID()))), true, nil
}

// specialRange reads the special keys of a range.
func (c *cli) specialRange(begin, end string, limit int) ([]keyspace.Pair, error) {
	if c.txn != nil {
		c.txn.Touched = true
	}
	db, err := c.database((*model.Database).Readable)
	if err != nil {
		return nil, err
	}
	var in []keyspace.Pair
	for _, p := range c.specialKeys(db) {
		if p.Key >= begin && p.Key < end {
			in = append(in, p)
		}
	}
	slices.SortFunc(in, func(a, b keyspace.Pair) int { return strings.Compare(a.Key, b.Key) })
	return in[:min(limit, len(in))], nil
}

// specialKeys are the special keys that can be listed.
func (c *cli) specialKeys(db *model.Database) []keyspace.Pair {
	var all []keyspace.Pair
	add := func(prefix, name, value string) {
		all = append(all, keyspace.Pair{Key: prefix + name, Value: []byte(value)})
	}
	for _, failed := range []bool{false, true} {
		for _, e := range db.Exclusions(failed) {
			add(specialExclusionPrefix(e, failed), e.Text, "")
		}
	}
	for _, address := range db.InProgress() {
		add(specialInProgress, address, "")
	}
	if zone, end := db.Maintenance(); zone != "" {
		add(specialMaintenance, zone, strconv.Itoa(model.WholeSecondsLeft(db.MaintenanceSeconds(end))))
	}
	add(specialCoordinators, "cluster_description", db.Connection.Description)
	add(specialCoordinators, "processes", coordinatorList(sortedCoordinators(db.Connection.Coordinators)))
	add(specialPrefix, "management/auto_coordinators", coordinatorList(sortedCoordinators(db.AutoCoordinators())))
	for _, s := range db.Live() {
		add(specialClassType, s.Address().HostPort(), s.Args.Class)
		add(specialClassSource, s.Address().HostPort(), s.ClassSource())
		add(specialWorkers, s.Address().String(), s.Disk.ProcessID)
	}
	return all
}

func specialExclusionPrefix(e model.Exclusion, failed bool) string {
	switch {
	case e.Locality && failed:
		return specialFailedLocality
	case e.Locality:
		return specialExcludedLocality
	case failed:
		return specialFailed
	default:
		return specialExcluded
	}
}

// applySpecial does what the special writes of a transaction ask for.
func (c *cli) applySpecial(t *model.Transaction) error {
	for _, m := range t.Special {
		var err error
		if m.Clear != nil {
			clearSpecial(t.Db, *m.Clear)
		} else {
			err = c.setSpecial(t.Db, m.Key, string(m.Value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) setSpecial(db *model.Database, key, value string) error {
	for prefix, failed := range map[string]bool{
		specialExcluded: false, specialExcludedLocality: false, specialFailed: true, specialFailedLocality: true,
	} {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			e, valid := model.ParseExclusion(name)
			if !valid || e.Locality != strings.Contains(prefix, "locality") {
				return model.ErrSpecialAPI
			}
			db.SetExclusions([]model.Exclusion{e}, failed)
			return nil
		}
	}
	if zone, ok := strings.CutPrefix(key, specialMaintenance); ok {
		return setSpecialMaintenance(db, zone, value)
	}
	if key == specialCoordinators+"processes" {
		return c.setSpecialCoordinators(db, value)
	}
	return model.ErrSpecialAPI
}

func setSpecialMaintenance(db *model.Database, zone, value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || db.FailuresIgnored() {
		return model.ErrSpecialAPI
	}
	db.SetMaintenance(zone, seconds)
	return nil
}

func (c *cli) setSpecialCoordinators(db *model.Database, value string) error {
	var r coordinatorsRequest
	addresses, err := fdb.ParseAddresses(value)
	if err != nil {
		return model.ErrSpecialAPI
	}
	r.addresses = addresses
	_, err = c.changeCoordinators(db, r)
	if _, refused := errors.AsType[refusal](err); refused {
		return model.ErrSpecialAPI
	}
	return err
}

// clearSpecial takes exclusions or maintenance back.
func clearSpecial(db *model.Database, r keyspace.Range) {
	for _, failed := range []bool{false, true} {
		var targets []model.Exclusion
		for _, e := range db.Exclusions(failed) {
			if keyspace.Single(specialExclusionPrefix(e, failed) + e.Text).Overlaps(r) {
				targets = append(targets, e)
			}
		}
		if len(targets) > 0 {
			db.Include(targets, failed)
		}
	}
	if zone, _ := db.Maintenance(); zone != "" && keyspace.Single(specialMaintenance+zone).Overlaps(r) {
		db.ClearMaintenance()
	}
}
