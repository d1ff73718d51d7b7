package fdbsim

import (
	"strconv"
	"strings"
	"time"
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
func (c *cli) transaction(db *database) (t *txn, own bool) {
	if c.txn == nil {
		return db.begin(c.options), true
	}
	c.txn.db = db
	return c.txn, false
}

// minimalLatency is what no operation is faster than: a shorter timeout of the
// transaction always expires.
const minimalLatency = 5 * time.Millisecond

// reach waits for the database, but no longer than the transaction's timeout.
func (c *cli) reach(ready func(*database) bool) (*database, error) {
	limit := c.options.timeout
	if c.txn != nil {
		limit = c.txn.options.timeout
	}
	if limit == 0 {
		return c.database(ready)
	}
	if limit < minimalLatency {
		return nil, errTimedOut
	}
	var db *database
	held, err := c.wait(c.w.now.Add(limit), func() bool {
		db = c.locate()
		return db != nil && ready(db)
	})
	if err == nil && !held {
		err = errTimedOut
	}
	return db, err
}

func (c *cli) get(args []string) error {
	if len(args) != 1 {
		return c.usage("get <KEY>")
	}
	value, found, err := c.read(args[0])
	if err != nil {
		return err
	}
	if !found {
		c.printf("`%s': not found\n", printable(args[0]))
		return nil
	}
	c.printf("`%s' is `%s'\n", printable(args[0]), printable(string(value)))
	return nil
}

func (c *cli) read(key string) ([]byte, bool, error) {
	if strings.HasPrefix(key, specialPrefix) {
		return c.specialGet(key)
	}
	if !c.mayRead(key) {
		return nil, false, errIllegalRange
	}
	db, err := c.reach((*database).readable)
	if err != nil {
		return nil, false, err
	}
	t, _ := c.transaction(db)
	return t.get(key)
}

// mayRead tells without the database whether a key can be read at all.
func (c *cli) mayRead(key string) bool {
	t, _ := c.transaction(nil)
	t.touched = true
	return t.mayRead(key)
}

func (c *cli) getRange(args []string) error {
	return c.scan(args, "getrange", func(p pair) { c.printf("`%s' is `%s'\n", printable(p.key), printable(string(p.value))) })
}

func (c *cli) getRangeKeys(args []string) error {
	return c.scan(args, "getrangekeys", func(p pair) { c.printf("`%s'\n", printable(p.key)) })
}

const (
	defaultLimit   = 25
	maxLimitDigits = 9
)

func (c *cli) scan(args []string, name string, show func(pair)) error {
	if len(args) < 1 || len(args) > 3 {
		return c.usage(name + " <BEGINKEY> [ENDKEY] [LIMIT]")
	}
	limit := defaultLimit
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		if err != nil || n < 0 || len(args[2]) > maxLimitDigits {
			return c.refuse("bad limit")
		}
		limit = n
	}
	end := prefixEnd(args[0])
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

func (c *cli) readRange(begin, end string, limit int) ([]pair, error) {
	if strings.HasPrefix(begin, specialPrefix) {
		return c.specialRange(begin, end, limit)
	}
	if !c.mayRead(begin) {
		return nil, errIllegalRange
	}
	db, err := c.reach((*database).readable)
	if err != nil {
		return nil, err
	}
	t, _ := c.transaction(db)
	return t.scan(begin, end, limit)
}

func (c *cli) set(args []string) error {
	if len(args) != 2 {
		return c.usage("set <KEY> <VALUE>")
	}
	return c.write(func(t *txn) error {
		if strings.HasPrefix(args[0], specialPrefix) {
			return t.specialWrite(mutation{key: args[0], value: []byte(args[1])})
		}
		return t.set(args[0], []byte(args[1]))
	})
}

func (c *cli) clearKey(args []string) error {
	if len(args) != 1 {
		return c.usage("clear <KEY>")
	}
	return c.clearBetween(singleKey(args[0]))
}

func (c *cli) clearRange(args []string) error {
	if len(args) != 2 {
		return c.usage("clearrange <BEGINKEY> <ENDKEY>")
	}
	return c.clearBetween(keyRange{args[0], args[1]})
}

func (c *cli) clearBetween(r keyRange) error {
	return c.write(func(t *txn) error {
		if strings.HasPrefix(r.begin, specialPrefix) {
			return t.specialWrite(mutation{clear: &r})
		}
		return t.clear(r)
	})
}

// write adds to the open transaction, or commits a transaction of its own.
func (c *cli) write(change func(*txn) error) error {
	if !c.writeMode {
		return c.refuse("writemode must be enabled to set or clear keys in the database.")
	}
	t, own := c.transaction(nil)
	if err := change(t); err != nil || !own {
		return err
	}
	return c.finishTxn(t)
}

// finishTxn commits a transaction and says what became of it.
func (c *cli) finishTxn(t *txn) error {
	if len(t.writes) == 0 && len(t.special) == 0 {
		c.print("Nothing to commit\n")
		return nil
	}
	db, err := c.reach((*database).available)
	if err != nil {
		return err
	}
	t.db = db
	version, err := c.commitAll(t)
	if err != nil {
		return err
	}
	if c.dropping {
		return endError{exitKilled}
	}
	c.printf("Committed (%d)\n", version)
	return nil
}

func (c *cli) commitAll(t *txn) (int64, error) {
	if len(t.special) > 0 {
		if err := c.applySpecial(t); err != nil {
			return 0, err
		}
		if len(t.writes) == 0 {
			return t.db.commitVersion(), nil
		}
	}
	return t.commit()
}

func (c *cli) beginTxn(args []string) error {
	if len(args) != 0 {
		return c.usage("begin")
	}
	if c.txn != nil {
		return c.refuse("Already in transaction")
	}
	c.txn, _ = c.transaction(nil)
	c.print("Transaction started\n")
	return nil
}

// commitTxn commits the open transaction. Committing one that was never touched
// crashes fdbcli from 7.3 on.
func (c *cli) commitTxn(args []string) error {
	if len(args) != 0 {
		return c.usage("commit")
	}
	if c.txn == nil {
		return c.refuse("No active transaction")
	}
	if !c.txn.touched && c.version.Minor >= 3 {
		c.errorf("SIGNAL: Segmentation fault (11)")
		return endError{exitCrashed}
	}
	if err := c.finishTxn(c.txn); err != nil {
		return err
	}
	c.txn = nil
	return nil
}

func (c *cli) rollbackTxn([]string) error {
	if c.txn == nil {
		return c.refuse("No active transaction")
	}
	c.txn = nil
	c.print("Transaction rolled back\n")
	return nil
}

func (c *cli) resetTxn([]string) error {
	if c.txn == nil {
		return c.refuse("No active transaction")
	}
	options := c.txn.options
	c.txn = nil
	c.txn, _ = c.transaction(nil)
	c.txn.options = options
	c.print("Transaction reset\n")
	return nil
}

func (c *cli) getVersion(args []string) error {
	if len(args) != 0 {
		return c.usage("getversion")
	}
	db, err := c.reach((*database).available)
	if err != nil {
		return err
	}
	t, _ := c.transaction(db)
	version, err := t.readVersion()
	if err != nil {
		return err
	}
	c.printf("%d\n", version)
	return nil
}

func (c *cli) setWriteMode(args []string) error {
	if len(args) != 1 || (args[0] != "on" && args[0] != "off") {
		return c.usage("writemode <on|off>")
	}
	c.writeMode = args[0] == "on"
	return nil
}
