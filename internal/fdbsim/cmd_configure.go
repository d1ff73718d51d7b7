package fdbsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const configureUsage = "configure [new|tss]<single|double|triple|three_data_hall|three_datacenter|ssd|memory|memory-radixtree-beta|" +
	"proxies=<PROXIES>|commit_proxies=<COMMIT_PROXIES>|grv_proxies=<GRV_PROXIES>|logs=<LOGS>|resolvers=<RESOLVERS>>*|count=<TSS_COUNT>|" +
	"perpetual_storage_wiggle=<WIGGLE_SPEED>|perpetual_storage_wiggle_locality=<<LOCALITY_KEY>:<LOCALITY_VALUE>|0>|" +
	"storage_migration_type={disabled|gradual|aggressive}|tenant_mode={disabled|optional_experimental|required_experimental}|" +
	"blob_granules_enabled={0|1}|encryption_at_rest_mode={disabled|domain_aware|cluster_aware}|exclude=<ADDRESS...>"

const configureHint = "Type `configure FORCE <TOKEN...>' to configure without this check"

// configUnreadable is how long configure tries to read the configuration.
const configUnreadable = 60 * time.Second

// configure creates the database or changes its configuration.
func (c *cli) configure(args []string) error {
	r, problem := parseConfigure(args)
	c.print(r.said)
	switch problem {
	case wordsFine:
		return c.applyConfigure(r)
	case wordsUsage:
		return c.usage(configureUsage)
	default:
		return errUnknown
	}
}

func (c *cli) applyConfigure(r configureRequest) error {
	switch {
	case r.locked && !r.create:
		return c.refuse("`only new databases can be configured as locked`")
	case r.create:
		return c.createDatabase(r)
	default:
		return c.changeConfiguration(r)
	}
}

func (c *cli) createDatabase(r configureRequest) error {
	db, err := c.database(func(db *database) bool { return db.crew.controller.taken() })
	if err != nil {
		return err
	}
	if len(db.logs) > 0 {
		return c.refuse("Database already exists! To change configuration, don't say `new'")
	}
	values := newDatabaseValues()
	maps.Copy(values, r.values)
	if configurationOf(values).invalid() {
		return c.refuse("These changes would make the configuration invalid")
	}
	values["initialized"] = "1"
	db.initialize(values, r.locked)
	if c.dropping {
		return endError{exitKilled}
	}
	if _, err := c.database((*database).available); err != nil {
		return err
	}
	c.print("Database created\n")
	return nil
}

// newDatabaseValues are the settings that every new database starts with.
func newDatabaseValues() map[string]string {
	return map[string]string{"log_spill": "2", "perpetual_storage_wiggle": "0", "storage_migration_type": "1"}
}

// initialize writes the first configuration, in place of one that never led to
// a database.
func (db *database) initialize(values map[string]string, locked bool) {
	old := keyRange{confPrefix, prefixEnd(confPrefix)}
	changes := []mutation{{clear: &old}, {key: coordinatorsKey, value: []byte(db.conn.String())}}
	if locked {
		changes = append(changes, mutation{key: lockKey, value: []byte(strings.Repeat("\x00", lockHeaderBytes) + db.w.hex(16))})
	}
	db.commit(append(changes, settings(values)...))
	db.attemptAfter(db.w.pace.Recruit)
}

func settings(values map[string]string) []mutation {
	var changes []mutation
	for _, name := range slices.Sorted(maps.Keys(values)) {
		changes = append(changes, mutation{key: confPrefix + name, value: []byte(values[name])})
	}
	return changes
}

func (c *cli) changeConfiguration(r configureRequest) error {
	db, err := c.configurable(r.force)
	if err != nil {
		return err
	}
	old := db.configuration()
	next := configurationOf(withValues(old.values, r.values))
	if !r.force {
		if refusal := db.refuseChange(old, next, r.values); refusal != "" {
			c.errorf("ERROR: %s", refusal)
			return errFailed
		}
	}
	swapped := db.giveUpPrimary(old, next)
	db.configureTo(old, next)
	if swapped {
		db.attemptAfter(failOverAtOnce - time.Second)
	}
	if c.dropping {
		return endError{exitKilled}
	}
	if swapped {
		return c.lateRefusal()
	}
	if _, err := c.database((*database).available); err != nil {
		return err
	}
	return c.configured(next)
}

// lateRefusal is the error of a change that gives up the primary data centre at
// once: it is in force by then.
func (c *cli) lateRefusal() error {
	if err := c.pause(failOverAtOnce); err != nil {
		return err
	}
	c.errorf("ERROR: Not enough processes exist to support the specified configuration\n" + configureHint)
	return errFailed
}

// failOverAtOnce is how long that takes.
const failOverAtOnce = 29 * time.Second

// configurable waits until the configuration can be read, or with force only
// until somebody takes a new one.
func (c *cli) configurable(force bool) (*database, error) {
	if force {
		return c.database(func(db *database) bool { return db.crew.controller.taken() && db.configured() })
	}
	var db *database
	held, err := c.wait(c.w.now.Add(configUnreadable), func() bool {
		db = c.locate()
		return db != nil && db.writable()
	})
	if err == nil && !held {
		c.errorf("ERROR: The database is unavailable\n" + configureHint)
		err = errFailed
	}
	return db, err
}

// configureTo writes the settings that differ. Nothing that differs restarts
// data distribution all the same, but needs no recovery.
func (db *database) configureTo(old, next configuration) {
	db.commit(settings(next.values))
	if maps.Equal(old.values, next.values) {
		db.restartDistributionIn(sameConfigurationNoticed)
		return
	}
	db.dist.reconfigured = true
	db.recoverAfter(db.w.pace.Recruit, requestedGenerations)
}

// configured says that a change is in force.
func (c *cli) configured(next configuration) error {
	gradual := next.values["storage_migration_type"] == choices["storage_migration_type"].stored["gradual"]
	if gradual && next.values["perpetual_storage_wiggle"] != "1" {
		c.print("Configuration changed, with warnings\n")
		c.errorf("WARN: To make progress toward the desired storage type with storage_migration_type=gradual, the Perpetual Wiggle must be enabled.\n" +
			"Type `configure perpetual_storage_wiggle=1' to enable the perpetual wiggle, or `configure storage_migration_type=gradual' " +
			"to set the gradual migration type.")
		return nil
	}
	c.print("Configuration changed\n")
	return nil
}

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

// fileConfigure configures from a JSON file.
func (c *cli) fileConfigure(args []string) error {
	create, force := false, false
	if len(args) == 2 {
		create, force = args[0] == "new", args[0] == "FORCE"
		args = args[1:]
	}
	if len(args) != 1 {
		return c.usage("fileconfigure [new|FORCE] <FILENAME>")
	}
	content, err := c.tool.Files.ReadFile(args[0])
	if err != nil {
		return clientError{"File not found", 1511}
	}
	words, ok := fileWords(content)
	if !ok {
		return c.refuse("invalid JSON")
	}
	r, problem := parseConfigure(words)
	if problem != wordsFine {
		return c.refuse("Could not translate the configuration file")
	}
	r.create, r.force = create, force
	return c.applyConfigure(r)
}

// fileWords turns a configuration document into the words of configure.
func fileWords(content []byte) ([]string, bool) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, false
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(document)) {
		value := string(document[name])
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		switch name {
		case "redundancy_mode":
			words = append(words, value)
		case "storage_engine":
			words = append(words, value)
		case "log_engine", "excluded_servers", "coordinators_count", "proxies":
		default:
			words = append(words, name+"="+value)
		}
	}
	return words, true
}
