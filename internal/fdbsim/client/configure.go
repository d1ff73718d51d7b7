package client

import (
	"maps"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

const configureHint = "Type `configure FORCE <TOKEN...>' to configure without this check"

// configUnreadable is how long configure tries to read the configuration.
const configUnreadable = 60 * time.Second

// The refusals of configurations that need no look at what is configured.
const (
	errOnlyNewLocked RefusedError = "`only new databases can be configured as locked`"
	errExists        RefusedError = "Database already exists! To change configuration, don't say `new'"
	errInvalid       RefusedError = "These changes would make the configuration invalid"
	errUnavailable   RefusedError = "The database is unavailable\n" + configureHint
	errTooFew        RefusedError = "Not enough processes exist to support the specified configuration"
	errTooFewAfter                = errTooFew + "\n" + configureHint
)

// Configure creates the database or changes its configuration, and returns what was configured last.
func (c *Client) Configure(r ConfigureRequest) (model.Configuration, error) {
	switch {
	case r.Locked && !r.New:
		return model.Configuration{}, errOnlyNewLocked
	case r.New:
		return c.createDatabase(r)
	default:
		return c.changeConfiguration(r)
	}
}

func (c *Client) createDatabase(r ConfigureRequest) (model.Configuration, error) {
	db, err := c.Database(governed)
	if err != nil {
		return model.Configuration{}, err
	}
	if len(db.Logs) > 0 {
		return model.Configuration{}, errExists
	}
	values := newDatabaseValues()
	maps.Copy(values, r.Settings)
	created := model.ConfigurationOf(values)
	if created.Invalid() {
		return created, errInvalid
	}
	values["initialized"] = "1"
	if r.Locked {
		db.InitializeLocked(values)
	} else {
		db.Initialize(values)
	}
	return created, c.recovered()
}

// recovered waits until a configuration that was written is in force.
func (c *Client) recovered() error {
	if err := c.ended(); err != nil {
		return err
	}
	_, err := c.Database((*model.Database).Available)
	return err
}

// newDatabaseValues are the settings that every new database starts with.
func newDatabaseValues() map[string]string {
	return map[string]string{"log_spill": "2", "perpetual_storage_wiggle": "0", "storage_migration_type": "1"}
}

func (c *Client) changeConfiguration(r ConfigureRequest) (model.Configuration, error) {
	configurable := c.configurable
	if r.Force {
		configurable = c.forceable
	}
	db, err := configurable()
	if err != nil {
		return model.Configuration{}, err
	}
	old := db.Configuration()
	next := model.ConfigurationOf(withValues(old.Values, r.Settings))
	if !r.Force {
		if refusal := refuseChange(db, old, next, r.Settings); refusal != "" {
			return old, refusal
		}
	}
	swapped := givesUpPrimary(db, old, next)
	db.ConfigureTo(old, next)
	if swapped {
		db.AttemptAfter(failOverAtOnce - time.Second)
		return next, c.lateRefusal()
	}
	return next, c.recovered()
}

// lateRefusal is the error of a change that gives up the primary data center at
// once: it is in force by then.
func (c *Client) lateRefusal() error {
	if err := c.ended(); err != nil {
		return err
	}
	if err := c.Pause(failOverAtOnce); err != nil {
		return err
	}
	return errTooFewAfter
}

// failOverAtOnce is how long that takes.
const failOverAtOnce = 29 * time.Second

// forceable waits until a new configuration would be read.
func (c *Client) forceable() (*model.Database, error) {
	return c.Database(func(db *model.Database) bool { return governed(db) && db.Configured() })
}

// configurable waits until the configuration can be read.
func (c *Client) configurable() (*model.Database, error) {
	var db *model.Database
	held, err := c.Wait(c.Simulation.Now.Add(configUnreadable), func() bool {
		db = c.Locate()
		return db != nil && db.Writable()
	})
	if err == nil && !held {
		err = errUnavailable
	}
	return db, err
}
