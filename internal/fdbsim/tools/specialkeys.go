package tools

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
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
		c.Locate()
		return []byte(c.Conn.String()), true, nil
	case specialPrefix + "cluster_file_path":
		return []byte(c.ClusterFile), true, nil
	case specialPrefix + "status/json":
		return c.specialStatus()
	case specialPrefix + "error_message":
		return nil, false, nil
	case specialPrefix + "management/db_locked":
		return c.specialLock()
	}
	if !ofModule(key) {
		return nil, false, model.ErrNoModule
	}
	pairs, err := c.specialRange(key, key+"\x00", 1)
	if err != nil || len(pairs) == 0 {
		return nil, false, err
	}
	return pairs[0].Value, true, nil
}

// specialModules are the prefixes of special keys that are read by prefix (7.3.79,
// fdbclient/NativeAPI.actor.cpp); others are single keys.
var specialModules = []string{
	"management/", "worker_interfaces/", "metrics/", "transaction/", "configuration/", "tracing/", "globals/", "actor_lineage/", "actor_profiler_conf/",
}

// ofModule reports whether a module has a special key.
func ofModule(key string) bool {
	name := strings.TrimPrefix(key, specialPrefix)
	return slices.ContainsFunc(specialModules, func(module string) bool { return strings.HasPrefix(name, module) })
}

func (c *cli) specialStatus() ([]byte, bool, error) {
	if err := c.Pause(c.statusDelay()); err != nil {
		return nil, false, err
	}
	return []byte(status.Compact(c.statusDocument())), true, nil
}

func (c *cli) specialLock() ([]byte, bool, error) {
	db, err := c.Database((*model.Database).Readable)
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
	db, err := c.Database((*model.Database).Readable)
	if err != nil {
		return nil, err
	}
	var in []keyspace.Pair
	for _, p := range c.specialKeys(db, keyspace.Range{Begin: begin, End: end}) {
		if p.Key >= begin && p.Key < end {
			in = append(in, p)
		}
	}
	stable.Sort(in, func(a, b keyspace.Pair) int { return strings.Compare(a.Key, b.Key) })
	return in[:min(limit, len(in))], nil
}

// specialKeys are the special keys that can be listed, without those of processes where no such key
// is in a range.
func (c *cli) specialKeys(db *model.Database, in keyspace.Range) []keyspace.Pair {
	var all []keyspace.Pair
	add := func(prefix, name, value string) {
		all = append(all, keyspace.Pair{Key: prefix + name, Value: []byte(value)})
	}
	for _, kind := range model.ExclusionKinds() {
		for _, e := range db.Exclusions(kind) {
			add(specialExclusionPrefix(e, kind), e.Text, "")
		}
	}
	for _, address := range db.InProgress() {
		add(specialInProgress, address, "")
	}
	if zone, end := db.Maintenance(); zone != "" {
		add(specialMaintenance, zone, strconv.Itoa(model.WholeSecondsLeft(db.MaintenanceSeconds(end))))
	}
	add(specialCoordinators, "cluster_description", db.Connection.Description)
	add(specialCoordinators, "processes", coordinatorList(client.SortedCoordinators(db.Connection.Coordinators)))
	add(specialPrefix, "management/auto_coordinators", coordinatorList(client.SortedCoordinators(db.AutoCoordinators())))
	add(specialPrefix, "management/data_distribution/mode", distributionMode(db))
	ofProcesses := slices.ContainsFunc([]string{specialClassType, specialClassSource, specialWorkers}, func(prefix string) bool {
		return keyspace.Range{Begin: prefix, End: model.PrefixEnd(prefix)}.Overlaps(in)
	})
	if !ofProcesses {
		return all
	}
	for _, s := range db.Live() {
		add(specialClassType, s.Address().HostPort(), s.Args.Class)
		add(specialClassSource, s.Address().HostPort(), s.ClassSource())
		add(specialWorkers, s.Address().String(), s.Disk.ProcessID)
	}
	return all
}

func specialExclusionPrefix(e model.Exclusion, kind model.ExclusionKind) string {
	switch {
	case e.Locality && kind == model.KindFailed:
		return specialFailedLocality
	case e.Locality:
		return specialExcludedLocality
	case kind == model.KindFailed:
		return specialFailed
	default:
		return specialExcluded
	}
}

// specialKeyError is why a write of special keys was refused: the content of
// \xff\xff/error_message.
type specialKeyError struct {
	Retriable bool   `json:"retriable"`
	Command   string `json:"command"`
	Message   string `json:"message"`
}

func (e specialKeyError) Error() string { return e.Command + ": " + e.Message }
func (specialKeyError) Unwrap() error   { return model.ErrSpecialAPI }

// applySpecial does what the special writes of a transaction ask for, or nothing of it.
func (c *cli) applySpecial(t *model.Transaction) error {
	if err := c.checkSpecialExclusions(t); err != nil {
		return err
	}
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

// specialExclusion is the exclusion that a special key stands for. For keys
// of another kind, is reports that there is none.
func specialExclusion(key string) (e model.Exclusion, kind model.ExclusionKind, is bool, err error) {
	for _, prefix := range []string{specialExcluded, specialExcludedLocality, specialFailed, specialFailedLocality} {
		name, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		e, valid := model.ParseExclusion(name)
		if !valid || e.Locality != (prefix == specialExcludedLocality || prefix == specialFailedLocality) {
			err = specialKeyError{Command: "exclude", Message: "ERROR: '" + name + "' is not a valid network endpoint address\n"}
		}
		if prefix == specialFailed || prefix == specialFailedLocality {
			kind = model.KindFailed
		}
		return e, kind, true, err
	}
	return e, kind, false, nil
}

// checkSpecialExclusions refuses exclusions that the client library finds too dangerous.
func (c *cli) checkSpecialExclusions(t *model.Transaction) error {
	for _, kind := range model.ExclusionKinds() {
		r := client.Exclusion{Kind: kind}
		for _, m := range t.Special {
			e, as, is, err := specialExclusion(m.Key)
			if m.Clear != nil || !is || as != kind {
				continue
			}
			if err != nil {
				return err
			}
			r.Targets = append(r.Targets, e)
		}
		if len(r.Targets) == 0 {
			continue
		}
		err := c.CheckExclusion(t.Db, r)
		if risk, is := errors.AsType[client.RefusedError](err); is {
			const hint = "\nType `exclude FORCE <ADDRESS...>' to exclude without checking available space.\n"
			return specialKeyError{Command: "exclude", Message: "ERROR: " + string(risk) + hint}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) setSpecial(db *model.Database, key, value string) error {
	if e, kind, is, err := specialExclusion(key); is {
		if err == nil {
			db.SetExclusions([]model.Exclusion{e}, kind)
		}
		return err
	}
	if zone, ok := strings.CutPrefix(key, specialMaintenance); ok {
		return setSpecialMaintenance(db, zone, value)
	}
	if key == specialCoordinators+"processes" {
		return c.setSpecialCoordinators(db, value)
	}
	return specialKeyError{Command: "set", Message: "ERROR: no such special key"}
}

func setSpecialMaintenance(db *model.Database, zone, value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return specialKeyError{Command: "maintenance", Message: "The specified maintenance time is not a number"}
	case db.FailuresIgnored():
		return specialKeyError{
			Command: "maintenance",
			Message: "Maintenance mode cannot be used while data distribution is disabled for storage server failures.",
		}
	}
	db.SetMaintenance(zone, seconds)
	return nil
}

// setSpecialCoordinators changes the coordinators. Those in force are refused, as "no
// change".
func (c *cli) setSpecialCoordinators(db *model.Database, value string) error {
	addresses, err := fdb.ParseAddresses(value)
	if err != nil {
		return specialKeyError{Command: "coordinators", Message: "ERROR: '" + value + "' is not a valid network endpoint address\n"}
	}
	changed, err := c.MoveCoordinators(db, client.Coordination{Addresses: addresses})
	if refused, is := errors.AsType[client.RefusedError](err); is {
		return specialKeyError{Retriable: refused == client.ErrUnreachableCoordinator, Command: "coordinators", Message: string(refused)}
	}
	if err == nil && !changed {
		return specialKeyError{Command: "coordinators", Message: sameCoordinators}
	}
	return err
}

// clearSpecial takes exclusions or maintenance back.
func clearSpecial(db *model.Database, r keyspace.Range) {
	for _, kind := range model.ExclusionKinds() {
		var targets []model.Exclusion
		for _, e := range db.Exclusions(kind) {
			if keyspace.Single(specialExclusionPrefix(e, kind) + e.Text).Overlaps(r) {
				targets = append(targets, e)
			}
		}
		if len(targets) > 0 {
			db.Include(targets, kind)
		}
	}
	if zone, _ := db.Maintenance(); zone != "" && keyspace.Single(specialMaintenance+zone).Overlaps(r) {
		db.ClearMaintenance()
	}
}
