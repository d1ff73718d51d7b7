package tools

import (
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// maintenance shows, sets or ends the maintenance of a zone.
func (c *cli) maintenance(args []string) error {
	switch {
	case len(args) == 0:
		return c.showMaintenance()
	case args[0] == "on" && len(args) == 3:
		seconds, err := strconv.ParseFloat(args[2], 64)
		if err != nil {
			return c.usageOf("maintenance")
		}
		return c.StartMaintenance(args[1], seconds)
	case args[0] == "off" && len(args) == 1:
		return c.EndMaintenance()
	default:
		return c.usageOf("maintenance")
	}
}

func (c *cli) showMaintenance() error {
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	zone, end := db.Maintenance()
	switch {
	case zone == "":
		c.print("No ongoing maintenance.\n")
	case model.IsSpecialZone(zone):
		c.print("Data distribution has been disabled for all storage server failures in this cluster and thus maintenance mode is not active.\n")
	default:
		c.printf("Maintenance for zone %s will continue for %d seconds.\n", zone, model.WholeSecondsLeft(db.MaintenanceSeconds(end)))
	}
	return nil
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
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	word := args[len(args)-1]
	switch {
	case len(args) == 1 && word == "on":
		c.switchDistributionOn(db)
	case len(args) == 1 && word == "off":
		c.switchDistributionOff(db)
	case word == "ssfailure" && args[0] == "disable":
		db.SetMaintenance(model.IgnoreFailures, 0)
		c.print("Data distribution is disabled for storage server failures.\n")
	case word == "ssfailure" && args[0] == "enable":
		db.ClearMaintenance()
		c.print("Data distribution is enabled for storage server failures.\n")
	default:
		return c.usage(distributionUsage)
	}
	return nil
}

// distributionMode is what \xff\xff/management/data_distribution/mode has: -1 before the first
// change, then 0 for off and 1 for on.
func distributionMode(db *model.Database) string {
	mode, set := db.Keys.Latest(distributionKey)
	if !set || len(mode) == 0 {
		return "-1"
	}
	return strconv.Itoa(int(mode[0]))
}

func (c *cli) switchDistributionOn(db *model.Database) {
	db.Distribution.On = true
	if db.FailuresIgnored() {
		db.ClearMaintenance()
	}
	db.Commit([]keyspace.Mutation{{Key: distributionKey, Value: []byte("\x01\x00\x00\x00")}})
	db.RestartDistribution(db.Simulation.Pace.Distribution)
	c.print("Data distribution is turned on.\n")
}

func (c *cli) switchDistributionOff(db *model.Database) {
	db.Distribution.On = false
	db.Commit([]keyspace.Mutation{{Key: distributionKey, Value: []byte("\x00\x00\x00\x00")}})
	c.print("Data distribution is turned off.\n")
}
