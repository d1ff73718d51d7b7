package fdbsim

import "strconv"

const (
	maintenanceUsage = "maintenance [on|off] [ZONEID] [SECONDS]"
	ignoredFailures  = "Maintenance mode cannot be used while data distribution is disabled for storage server failures. " +
		"Use 'datadistribution on' to reenable data distribution."
)

// maintenance shows, sets or ends the maintenance of a zone.
func (c *cli) maintenance(args []string) error {
	switch {
	case len(args) == 0:
		return c.showMaintenance()
	case args[0] == "on" && len(args) == 3:
		seconds, err := strconv.ParseFloat(args[2], 64)
		if err != nil {
			return c.usage(maintenanceUsage)
		}
		return c.changeMaintenance(func(db *database) { db.setMaintenance(args[1], seconds) })
	case args[0] == "off" && len(args) == 1:
		return c.changeMaintenance((*database).clearMaintenance)
	default:
		return c.usage(maintenanceUsage)
	}
}

func (c *cli) changeMaintenance(change func(*database)) error {
	db, err := c.database((*database).writable)
	if err != nil {
		return err
	}
	if db.failuresIgnored() {
		return c.refuse(ignoredFailures)
	}
	change(db)
	if c.dropping {
		return endError{exitKilled}
	}
	return nil
}

func (c *cli) showMaintenance() error {
	db, err := c.database((*database).writable)
	if err != nil {
		return err
	}
	zone, end := db.maintenance()
	switch {
	case zone == "":
		c.print("No ongoing maintenance.\n")
	case isSpecialZone(zone):
		c.print("Data distribution has been disabled for all storage server failures in this cluster and thus maintenance mode is not active.\n")
	default:
		c.printf("Maintenance for zone %s will continue for %d seconds.\n", zone, wholeSecondsLeft(db.maintenanceSeconds(end)))
	}
	return nil
}

// wholeSecondsLeft is the time left as FoundationDB shows it: a moment has
// always passed.
func wholeSecondsLeft(seconds float64) int {
	const moment = 0.001
	return int(max(0, seconds-moment))
}

const distributionUsage = "datadistribution <on|off|disable <ssfailure|rebalance|rebalance_disk|rebalance_read>|" +
	"enable <ssfailure|rebalance|rebalance_disk|rebalance_read>>"

const distributionKey = "\xff\x02/dataDistributionMode"

// dataDistribution turns data distribution, or its reaction to failures, on and
// off.
func (c *cli) dataDistribution(args []string) error {
	if len(args) == 0 || len(args) > 2 {
		return c.usage(distributionUsage)
	}
	db, err := c.database((*database).writable)
	if err != nil {
		return err
	}
	word := args[len(args)-1]
	switch {
	case len(args) == 1 && (word == "on" || word == "off"):
		return c.switchDistribution(db, word == "on")
	case word == "ssfailure" && args[0] == "disable":
		db.setMaintenance(ignoreFailures, 0)
		c.print("Data distribution is disabled for storage server failures.\n")
	case word == "ssfailure" && args[0] == "enable":
		db.clearMaintenance()
		c.print("Data distribution is enabled for storage server failures.\n")
	default:
		return c.usage(distributionUsage)
	}
	return nil
}

func (c *cli) switchDistribution(db *database, on bool) error {
	db.dist.on = on
	if on {
		if db.failuresIgnored() {
			db.clearMaintenance()
		}
		gone := singleKey(distributionKey)
		db.commit([]mutation{{clear: &gone}})
		db.restartDistribution(db.w.pace.Distribution)
		c.print("Data distribution is turned on.\n")
		return nil
	}
	db.commit([]mutation{{key: distributionKey, value: []byte("\x00\x00\x00\x00")}})
	c.print("Data distribution is turned off.\n")
	return nil
}
