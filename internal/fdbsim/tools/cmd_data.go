package tools

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
)

// dataCommands read and write keys.
func dataCommands() map[string]commandFunc {
	return map[string]commandFunc{
		"get": (*cli).get, "getrange": (*cli).getRange, "getrangekeys": (*cli).getRangeKeys,
		"set": (*cli).set, "clear": (*cli).clearKey, "clearrange": (*cli).clearRange,
		"begin": (*cli).beginTxn, "commit": (*cli).commitTxn, "rollback": (*cli).rollbackTxn, "reset": (*cli).resetTxn,
		"getversion": (*cli).getVersion, "writemode": (*cli).setWriteMode, "option": (*cli).option,
	}
}

// transaction is the open transaction, or one for the running command alone.
func (c *cli) transaction(db *model.Database) (t *model.Transaction, own bool) {
	if c.txn == nil {
		return db.Begin(c.options), true
	}
	c.txn.Db = db
	return c.txn, false
}

// minimalLatency is what no operation is faster than: a shorter timeout of the
// transaction always expires.
const minimalLatency = 5 * time.Millisecond

// reach waits for the database, but no longer than the transaction's timeout.
func (c *cli) reach(ready func(*model.Database) bool) (*model.Database, error) {
	limit := c.options.Timeout
	if c.txn != nil {
		limit = c.txn.Options.Timeout
	}
	if limit == 0 {
		return c.Database(ready)
	}
	if limit < minimalLatency {
		return nil, model.ErrTimedOut
	}
	var db *model.Database
	held, err := c.Wait(c.Simulation.Now.Add(limit), func() bool {
		db = c.Locate()
		return db != nil && ready(db)
	})
	if err == nil && !held {
		err = model.ErrTimedOut
	}
	return db, err
}

func (c *cli) get(args []string) error {
	if len(args) != 1 {
		return c.usageOf("get")
	}
	value, found, err := c.read(args[0])
	if err != nil {
		return err
	}
	if !found {
		c.printf("`%s': not found\n", syntax.Printable(args[0]))
		return nil
	}
	c.printf("`%s' is `%s'\n", syntax.Printable(args[0]), syntax.Printable(string(value)))
	return nil
}

func (c *cli) read(key string) ([]byte, bool, error) {
	if err := c.applicable(); err != nil {
		return nil, false, err
	}
	if strings.HasPrefix(key, specialPrefix) {
		return c.specialGet(key)
	}
	if !c.mayRead(key) {
		return nil, false, model.ErrIllegalRange
	}
	db, err := c.reach((*model.Database).Readable)
	if err != nil {
		return nil, false, err
	}
	t, _ := c.transaction(db)
	return t.Get(key)
}

// mayRead reports without the database whether a key can be read at all.
func (c *cli) mayRead(key string) bool {
	t, _ := c.transaction(nil)
	t.Touched = true
	return t.MayRead(key)
}

func (c *cli) getRange(args []string) error {
	return c.scan(args, "getrange", func(p keyspace.Pair) {
		c.printf("`%s' is `%s'\n", syntax.Printable(p.Key), syntax.Printable(string(p.Value)))
	})
}

func (c *cli) getRangeKeys(args []string) error {
	return c.scan(args, "getrangekeys", func(p keyspace.Pair) { c.printf("`%s'\n", syntax.Printable(p.Key)) })
}

const (
	defaultLimit   = 25
	maxLimitDigits = 9
)

func (c *cli) scan(args []string, name string, show func(keyspace.Pair)) error {
	if len(args) < 1 || len(args) > 3 {
		return c.usageOf(name)
	}
	limit := defaultLimit
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		if err != nil || n < 0 || len(args[2]) > maxLimitDigits {
			return c.refuse("bad limit")
		}
		limit = n
	}
	end := model.PrefixEnd(args[0])
	if len(args) > 1 {
		end = args[1]
	}
	pairs, err := c.readRange(args[0], end, limit)
	if err != nil {
		return err
	}
	c.printf("\nRange limited to %d keys\n", limit)
	for _, p := range pairs {
		show(p)
	}
	c.print("\n")
	return nil
}

func (c *cli) readRange(begin, end string, limit int) ([]keyspace.Pair, error) {
	if err := c.applicable(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(begin, specialPrefix) {
		return c.specialRange(begin, end, limit)
	}
	if !c.mayRead(begin) {
		return nil, model.ErrIllegalRange
	}
	db, err := c.reach((*model.Database).Readable)
	if err != nil {
		return nil, err
	}
	t, _ := c.transaction(db)
	return t.Scan(begin, end, limit)
}

func (c *cli) set(args []string) error {
	if err := c.mayWrite(); err != nil {
		return err
	}
	if len(args) != 2 {
		return c.usageOf("set")
	}
	return c.write(func(t *model.Transaction) error {
		if strings.HasPrefix(args[0], specialPrefix) {
			return t.SpecialWrite(keyspace.Mutation{Key: args[0], Value: []byte(args[1])})
		}
		return t.Set(args[0], []byte(args[1]))
	})
}

func (c *cli) clearKey(args []string) error {
	if err := c.mayWrite(); err != nil {
		return err
	}
	if len(args) != 1 {
		return c.usageOf("clear")
	}
	return c.clearBetween(keyspace.Single(args[0]))
}

func (c *cli) clearRange(args []string) error {
	if err := c.mayWrite(); err != nil {
		return err
	}
	if len(args) != 2 {
		return c.usageOf("clearrange")
	}
	return c.clearBetween(keyspace.Range{Begin: args[0], End: args[1]})
}

func (c *cli) clearBetween(r keyspace.Range) error {
	return c.write(func(t *model.Transaction) error {
		if strings.HasPrefix(r.Begin, specialPrefix) {
			return t.SpecialWrite(keyspace.Mutation{Clear: &r})
		}
		return t.Clear(r)
	})
}

// mayWrite refuses changes of keys before anything else about a command is checked.
func (c *cli) mayWrite() error {
	if !c.writeMode {
		return c.refuse("writemode must be enabled to set or clear keys in the database.")
	}
	return nil
}

// write adds to the open transaction, or commits a transaction of its own.
func (c *cli) write(change func(*model.Transaction) error) error {
	if err := c.applicable(); err != nil {
		return err
	}
	t, own := c.transaction(nil)
	if err := change(t); err != nil || !own {
		return err
	}
	return c.finishTxn(t)
}

// finishTxn commits a transaction and prints its outcome.
func (c *cli) finishTxn(t *model.Transaction) error {
	if len(t.Writes) == 0 && len(t.Special) == 0 {
		c.print("Nothing to commit\n")
		return nil
	}
	db, err := c.reach((*model.Database).Available)
	if err != nil {
		return err
	}
	t.Db = db
	version, err := c.commitAll(t)
	if err != nil {
		return err
	}
	if c.Dropping {
		return client.ErrKilled
	}
	c.printf("Committed (%d)\n", version)
	return nil
}

func (c *cli) commitAll(t *model.Transaction) (int64, error) {
	if len(t.Special) > 0 {
		if err := c.applySpecial(t); err != nil {
			return 0, err
		}
		if len(t.Writes) == 0 {
			return t.Db.CommitVersion(), nil
		}
	}
	return t.Commit()
}

func (c *cli) beginTxn(args []string) error {
	if len(args) != 0 {
		return c.usageOf("begin")
	}
	if c.txn != nil {
		return c.refuse("Already in transaction")
	}
	if err := c.applicable(); err != nil {
		return err
	}
	c.txn, _ = c.transaction(nil)
	c.print("Transaction started\n")
	return nil
}

// commitTxn commits the open transaction. Committing one that was never touched
// crashes fdbcli from 7.3 on.
func (c *cli) commitTxn(args []string) error {
	if len(args) > 1 { // one is the description of a change of the dynamic configuration
		return c.usageOf("commit")
	}
	if c.txn == nil {
		return c.refuse("No active transaction")
	}
	if !c.txn.Touched && c.Release.Minor >= 3 {
		c.errorf("SIGNAL: Segmentation fault (11)")
		return endError{exitCrashed}
	}
	if err := c.finishTxn(c.txn); err != nil {
		return err
	}
	c.txn = nil
	return nil
}

func (c *cli) rollbackTxn(args []string) error {
	if len(args) != 0 {
		return c.usageOf("rollback")
	}
	if c.txn == nil {
		return c.refuse("No active transaction")
	}
	c.txn = nil
	c.print("Transaction rolled back\n")
	return nil
}

func (c *cli) resetTxn(args []string) error {
	if len(args) != 0 {
		return c.usageOf("reset")
	}
	if c.txn == nil {
		return c.refuse("No active transaction")
	}
	options := c.txn.Options
	c.txn = nil
	c.txn, _ = c.transaction(nil)
	c.txn.Options = options
	c.print("Transaction reset\n")
	return nil
}

func (c *cli) getVersion(args []string) error {
	if len(args) != 0 {
		return c.usageOf("getversion")
	}
	if err := c.applicable(); err != nil {
		return err
	}
	db, err := c.reach((*model.Database).Available)
	if err != nil {
		return err
	}
	t, _ := c.transaction(db)
	version, err := t.ReadVersion()
	if err != nil {
		return err
	}
	c.printf("%d\n", version)
	return nil
}

func (c *cli) setWriteMode(args []string) error {
	if len(args) != 1 || (args[0] != "on" && args[0] != "off") {
		return c.usageOf("writemode")
	}
	c.writeMode = args[0] == "on"
	return nil
}
