package tools

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
)

// option switches transaction options on and off.
func (c *cli) option(args []string) error {
	switch {
	case len(args) == 0:
		return c.listOptions()
	case len(args) < 2 || (args[0] != "on" && args[0] != "off"):
		return c.usageOf("option")
	case !slices.Contains(syntax.TransactionOptions, args[1]):
		return c.refuse("invalid option '%s'. Try `help options' for a list of available options.", args[1])
	case args[0] == "off":
		return c.optionOff(args[1])
	}
	target := &c.options
	if c.txn != nil {
		target = &c.txn.Options
	}
	if err := c.enable(target, args[1], args[2:]); err != nil {
		return err
	}
	if c.txn != nil {
		c.txn.Touched = true
		c.print("Option enabled for current transaction\n")
		return nil
	}
	if !slices.Contains(c.enabled, args[1]) {
		c.enabled = append(c.enabled, args[1])
	}
	c.print("Option enabled for all transactions\n")
	return nil
}

func (c *cli) listOptions() error {
	if len(c.enabled) == 0 {
		c.errorf("There are no options enabled")
		return nil
	}
	c.print("\nThe following options are enabled for all transactions:\n")
	for _, name := range slices.Sorted(slices.Values(c.enabled)) {
		c.printf("  %s\n", name)
	}
	c.print("\n")
	return nil
}

func (c *cli) optionOff(name string) error {
	if c.txn != nil {
		return c.refuse("Options cannot be turned off in a transaction")
	}
	if err := c.disable(name); err != nil {
		return err
	}
	c.enabled = slices.DeleteFunc(c.enabled, func(o string) bool { return o == name })
	c.print("Option disabled for all transactions\n")
	return nil
}

func (c *cli) disable(name string) error {
	delete(c.unfit, name)
	if name == "TIMEOUT" {
		c.options.Timeout = 0
		return nil
	}
	if flag := optionFlag(&c.options, name); flag != nil {
		*flag = false
	}
	return nil
}

// optionFlag is the field that an option sets; nil for options that change nothing in
// the model.
func optionFlag(o *model.TransactionOptions, name string) *bool {
	switch name {
	case "READ_SYSTEM_KEYS":
		return &o.ReadSystem
	case "ACCESS_SYSTEM_KEYS":
		return &o.AccessSystem
	case "LOCK_AWARE":
		return &o.LockAware
	case "READ_LOCK_AWARE":
		return &o.ReadLockAware
	case "SPECIAL_KEY_SPACE_ENABLE_WRITES":
		return &o.SpecialWrites
	default:
		return nil
	}
}

func (c *cli) enable(o *model.TransactionOptions, name string, args []string) error {
	if flag := optionFlag(o, name); flag != nil {
		if len(args) > 0 {
			return c.refuse("option did not expect a parameter")
		}
		*flag = true
		return nil
	}
	if _, numeric := numericOptions[name]; !numeric {
		return nil
	}
	if len(args) != 1 {
		return c.refuse("option expected a parameter")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		text, _, _ := cutNUL(args[0])
		return c.refuse("could not parse value `%s' as an integer", text)
	}
	limits := numericOptions[name]
	fits := n >= limits[0] && n <= limits[1]
	if c.txn != nil && !fits {
		return errFailed // without a word
	}
	c.unfit[name] = !fits
	if name == "TIMEOUT" {
		o.Timeout = time.Duration(n) * time.Millisecond
	}
	return nil
}

// applicable refuses to begin a transaction with an option whose value is out of range: options for
// all transactions are checked only then.
func (c *cli) applicable() error {
	if c.txn == nil && slices.Contains(slices.Collect(maps.Values(c.unfit)), true) {
		return model.ErrOptionValue
	}
	return nil
}

// cutNUL is what of a text a C program prints.
func cutNUL(s string) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == 0 {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// numericOptions are the options that take a number, with their limits.
var numericOptions = map[string][2]int{
	"TIMEOUT": {0, math.MaxInt32}, "RETRY_LIMIT": {-1, math.MaxInt32}, "MAX_RETRY_DELAY": {0, math.MaxInt32},
	"SIZE_LIMIT": {32, 10_000_000}, "TRANSACTION_LOGGING_MAX_FIELD_LENGTH": {-1, math.MaxInt32},
}
