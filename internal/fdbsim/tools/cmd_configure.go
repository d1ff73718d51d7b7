package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

const configureHint = "Type `configure FORCE <TOKEN...>' to configure without this check"

// configUnreadable is how long configure tries to read the configuration.
const configUnreadable = 60 * time.Second

// configure creates the database or changes its configuration.
func (c *cli) configure(args []string) error {
	if len(args) > 0 && args[0] == "auto" {
		return c.configureAuto()
	}
	r, problem := parseConfigure(args)
	c.print(r.notes)
	switch problem {
	case wordsFine:
		return c.applyConfigure(r)
	case wordsUsage:
		return c.usageOf("configure")
	default:
		return model.ErrUnknown
	}
}

// configureAuto reads the status document and finds no advice in it, as in every run on 7.3.79.
func (c *cli) configureAuto() error {
	if err := c.pause(c.statusDelay()); err != nil {
		return err
	}
	c.print("Unable to provide advice for the current configuration.\n")
	return errFailed
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
	db, err := c.database(func(db *model.Database) bool { return db.Roles.Controller.Taken() })
	if err != nil {
		return err
	}
	if len(db.Logs) > 0 {
		return c.refuse("Database already exists! To change configuration, don't say `new'")
	}
	values := newDatabaseValues()
	maps.Copy(values, r.values)
	if model.ConfigurationOf(values).Invalid() {
		return c.refuse("These changes would make the configuration invalid")
	}
	values["initialized"] = "1"
	if r.locked {
		db.InitializeLocked(values)
	} else {
		db.Initialize(values)
	}
	if c.dropping {
		return endError{model.ExitKilled}
	}
	if _, err := c.database((*model.Database).Available); err != nil {
		return err
	}
	c.print("Database created\n")
	return nil
}

// newDatabaseValues are the settings that every new database starts with.
func newDatabaseValues() map[string]string {
	return map[string]string{"log_spill": "2", "perpetual_storage_wiggle": "0", "storage_migration_type": "1"}
}

func (c *cli) changeConfiguration(r configureRequest) error {
	configurable := c.configurable
	if r.force {
		configurable = c.forceable
	}
	db, err := configurable()
	if err != nil {
		return err
	}
	old := db.Configuration()
	next := model.ConfigurationOf(withValues(old.Values, r.values))
	if !r.force {
		if refusal := refuseChange(db, old, next, r.values); refusal != "" {
			c.errorf("ERROR: %s", refusal)
			return errFailed
		}
	}
	swapped := givesUpPrimary(db, old, next)
	db.ConfigureTo(old, next)
	if swapped {
		db.AttemptAfter(failOverAtOnce - time.Second)
	}
	if c.dropping {
		return endError{model.ExitKilled}
	}
	if swapped {
		return c.lateRefusal()
	}
	if _, err := c.database((*model.Database).Available); err != nil {
		return err
	}
	return c.configured(next)
}

// lateRefusal is the error of a change that gives up the primary data center at
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

// forceable waits until a new configuration would be read.
func (c *cli) forceable() (*model.Database, error) {
	return c.database(func(db *model.Database) bool { return db.Roles.Controller.Taken() && db.Configured() })
}

// configurable waits until the configuration can be read.
func (c *cli) configurable() (*model.Database, error) {
	var db *model.Database
	held, err := c.wait(c.w.Now.Add(configUnreadable), func() bool {
		db = c.locate()
		return db != nil && db.Writable()
	})
	if err == nil && !held {
		c.errorf("ERROR: The database is unavailable\n" + configureHint)
		err = errFailed
	}
	return db, err
}

// configured prints that a change is in force.
func (c *cli) configured(next model.Configuration) error {
	gradual := next.Values["storage_migration_type"] == model.Choices["storage_migration_type"].Stored["gradual"]
	if gradual && next.Values["perpetual_storage_wiggle"] != "1" {
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
		return c.usageOf("fileconfigure")
	}
	content, err := c.tool.Files.ReadFile(args[0])
	if err != nil {
		return model.ClientError{Text: "File not found", Code: 1511}
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
