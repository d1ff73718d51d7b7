package client

import "github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"

const errFailuresIgnored RefusedError = "Maintenance mode cannot be used while data distribution is disabled for storage server failures. " +
	"Use 'datadistribution on' to reenable data distribution."

// StartMaintenance begins the maintenance of a zone.
func (c *Client) StartMaintenance(zone string, seconds float64) error {
	if seconds < 0 {
		return model.ErrSpecialAPI
	}
	return c.changeMaintenance(func(db *model.Database) { db.SetMaintenance(zone, seconds) })
}

// EndMaintenance ends the maintenance of any zone.
func (c *Client) EndMaintenance() error {
	return c.changeMaintenance((*model.Database).ClearMaintenance)
}

func (c *Client) changeMaintenance(change func(*model.Database)) error {
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	if db.FailuresIgnored() {
		return errFailuresIgnored
	}
	change(db)
	return c.ended()
}
