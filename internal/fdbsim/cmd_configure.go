package fdbsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
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
