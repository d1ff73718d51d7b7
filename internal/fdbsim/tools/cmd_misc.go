package tools

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/serverargs"
)

func init() { //nolint:gochecknoinits // the table names functions that use it
	commands = asCommands(dataCommands(), adminCommands(), smallCommands())
}

// adminCommands change the cluster.
func adminCommands() map[string]commandFunc {
	return map[string]commandFunc{
		"configure": (*cli).configure, "fileconfigure": (*cli).fileConfigure,
		"exclude": (*cli).exclude, "include": (*cli).include, "coordinators": (*cli).coordinators,
		"kill": (*cli).kill, "suspend": (*cli).suspend, "expensive_data_check": (*cli).expensiveCheck,
		"maintenance": (*cli).maintenance, "datadistribution": (*cli).dataDistribution,
		"lock": (*cli).lock, "unlock": (*cli).unlock, "setclass": (*cli).setClass,
		"consistencycheck": (*cli).consistencyCheck, "force_recovery_with_data_loss": (*cli).forceRecovery,
	}
}

// smallCommands show something or wait.
func smallCommands() map[string]commandFunc {
	return map[string]commandFunc{
		"status": (*cli).status, "help": (*cli).help, "sleep": (*cli).sleep,
		"exit": (*cli).exit, "quit": (*cli).exit, "waitconnected": (*cli).waitConnected, "waitopen": (*cli).waitOpen,
		"profile": (*cli).profile, "hotrange": (*cli).hotRange, "advanceversion": (*cli).advanceVersion,
	}
}

func (c *cli) exit([]string) error { return errExit }

func (c *cli) sleep(args []string) error {
	if len(args) != 1 {
		return c.usageOf("sleep")
	}
	seconds, err := strconv.ParseFloat(args[0], 64)
	if err != nil || seconds < 0 {
		return c.usageOf("sleep")
	}
	return c.Sleep(time.Duration(seconds * float64(time.Second)))
}

func (c *cli) waitConnected([]string) error {
	_, err := c.Database((*model.Database).Available)
	return err
}

func (c *cli) waitOpen([]string) error {
	_, err := c.Database((*model.Database).Readable)
	return err
}

// lock locks the database under a new UID.
func (c *cli) lock(args []string) error {
	if len(args) != 0 {
		return c.usageOf("lock")
	}
	uid := c.Simulation.Hex(2 * model.UIDBytes)
	c.printf("Locking database with lockUID: %s\n", uid)
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	if db.LockUID() != "" {
		return model.ErrLocked
	}
	raw, err := hex.DecodeString(uid)
	if err != nil {
		return model.ErrUnknown
	}
	db.Commit([]keyspace.Mutation{{Key: model.LockKey, Value: append(make([]byte, model.LockHeaderBytes), raw...)}})
	c.print("Database locked.\n")
	return nil
}

// passphraseLength is how many characters unlock wants to have repeated.
const passphraseLength = 10

// unlock takes the lock away, once a passphrase was repeated on stdin.
func (c *cli) unlock(args []string) error {
	if len(args) != 1 || len(args[0]) != 2*model.UIDBytes {
		return c.usageOf("unlock")
	}
	phrase := c.Simulation.Letters(passphraseLength, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	c.printf("Unlocking the database is a potentially dangerous operation.\n%s\n", phrase)
	c.unlocked(func() {
		if err := c.out.Flush(); err != nil {
			return
		}
	})
	if line, ok := c.readLine(); !ok || strings.TrimSpace(line) != phrase {
		return c.refuse("Incorrect passphrase entered.")
	}
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	uid := db.LockUID()
	if uid != "" && hex.EncodeToString([]byte(uid)) != args[0] {
		c.print("Unable to unlock database. Make sure to unlock with the correct lock UID.\n")
		return errFailed
	}
	removed := keyspace.Single(model.LockKey)
	db.Commit([]keyspace.Mutation{{Clear: &removed}})
	c.print("Database unlocked.\n")
	return nil
}

// setClass shows the classes of the processes, or changes one.
func (c *cli) setClass(args []string) error {
	if len(args) != 0 && len(args) != 2 {
		return c.usageOf("setclass")
	}
	// The list of processes is not read lock aware: a locked database has it wait, as observed on 7.3.79.
	db, err := c.Coordinated()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		c.listClasses(db)
		return nil
	}
	s := db.Member(args[0])
	if s == nil {
		c.print("No matching addresses found\n")
		return errFailed
	}
	class, known := serverargs.Classes[args[1]]
	if !known && args[1] != "default" {
		return c.refuse("'%s' is not a valid process class", args[1])
	}
	db.SetClass(s, class)
	return nil
}

func (c *cli) listClasses(db *model.Database) {
	addresses := db.WorkerAddresses()
	c.printf("There are currently %d processes in the database:\n", len(addresses))
	for _, a := range addresses {
		s := db.Member(a)
		c.printf("  %s: %s (%s)\n", a, s.Args.Class, s.ClassSource())
	}
}

const consistencyKey = "\xff\x02/ConsistencyCheck/Suspend"

func (c *cli) consistencyCheck(args []string) error {
	if len(args) > 1 || (len(args) == 1 && args[0] != "on" && args[0] != "off") {
		return c.usageOf("consistencycheck")
	}
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	_, suspended := db.Keys.Latest(consistencyKey)
	switch {
	case len(args) == 0 && suspended:
		c.print("ConsistencyCheck is off\n")
	case len(args) == 0:
		c.print("ConsistencyCheck is on\n")
	case args[0] == "off":
		db.Commit([]keyspace.Mutation{{Key: consistencyKey}})
	default:
		removed := keyspace.Single(consistencyKey)
		db.Commit([]keyspace.Mutation{{Clear: &removed}})
	}
	return nil
}

// forceRecovery makes a data center primary, whatever its logs have missed.
func (c *cli) forceRecovery(args []string) error {
	if len(args) != 1 {
		return c.usageOf("force_recovery_with_data_loss")
	}
	db, err := c.Database(func(db *model.Database) bool { return db.Roles.Controller.Taken() })
	if err != nil {
		return err
	}
	if db.Available() || !slices.ContainsFunc(db.Configuration().Regions, func(r model.Region) bool { return r.Main().ID == args[0] }) {
		return nil
	}
	db.Forced = args[0]
	db.Logs = db.Logs[:0]
	db.RecoverAfter(db.Simulation.Pace.Recruit, model.RequestedGenerations)
	return nil
}

// profile lists the processes that can be profiled.
func (c *cli) profile(args []string) error {
	if len(args) != 1 || args[0] != "list" {
		return c.answer(strings.Join(append([]string{"profile"}, args...), " "))
	}
	db, err := c.Database((*model.Database).Readable)
	if err != nil {
		return err
	}
	for _, a := range db.WorkerAddresses() {
		c.printf("%s\n", a)
	}
	return nil
}

// advanceVersion makes the database continue at a version. One that is already over changes nothing.
func (c *cli) advanceVersion(args []string) error {
	to, err := strconv.ParseInt(strings.Join(args, " "), 10, 64)
	if err != nil {
		return c.usageOf("advanceversion")
	}
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	now := db.CommitVersion()
	if to > now {
		return c.refuse("advancing to a version is not part of the simulated fdbcli")
	}
	c.printf("Current read version is %d\n", now)
	return nil
}

// hotRange lists the storage processes that can be queried.
func (c *cli) hotRange(args []string) error {
	if len(args) > 0 {
		return c.answer(strings.Join(append([]string{"hotrange"}, args...), " "))
	}
	db, err := c.Database((*model.Database).Readable)
	if err != nil {
		return err
	}
	var addresses []string
	for _, ss := range db.Storage {
		addresses = append(addresses, ss.Server.Address().HostPort())
	}
	slices.Sort(addresses)
	c.listAddresses(addresses, storageServers)
	return nil
}
