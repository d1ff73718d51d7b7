package fdbsim

import (
	"slices"
	"strconv"
	"time"
)

// option switches transaction options on and off.
func (c *cli) option(args []string) error {
	switch {
	case len(args) == 0:
		return c.listOptions()
	case len(args) < 2 || (args[0] != "on" && args[0] != "off"):
		return c.usage("option <STATE> <OPTION> <ARG>")
	case !slices.Contains(transactionOptions, args[1]):
		return c.refuse("invalid option '%s'. Try `help options' for a list of available options.", args[1])
	case args[0] == "off":
		return c.optionOff(args[1])
	}
	target := &c.options
	if c.txn != nil {
		target = &c.txn.options
	}
	if err := c.enable(target, args[1], args[2:]); err != nil {
		return err
	}
	if c.txn != nil {
		c.txn.touched = true
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
	if name == "TIMEOUT" {
		c.options.timeout = 0
		return nil
	}
	if flag := c.options.flag(name); flag != nil {
		*flag = false
	}
	return nil
}

// flag is the field that an option sets; nil for options that change nothing in
// the model.
func (o *txnOptions) flag(name string) *bool {
	switch name {
	case "READ_SYSTEM_KEYS":
		return &o.readSystem
	case "ACCESS_SYSTEM_KEYS":
		return &o.accessSystem
	case "LOCK_AWARE":
		return &o.lockAware
	case "READ_LOCK_AWARE":
		return &o.readLockAware
	case "SPECIAL_KEY_SPACE_ENABLE_WRITES":
		return &o.specialWrites
	default:
		return nil
	}
}

func (c *cli) enable(o *txnOptions, name string, args []string) error {
	if flag := o.flag(name); flag != nil {
		*flag = true
		return nil
	}
	if !slices.Contains(numericOptions, name) {
		return nil
	}
	if len(args) != 1 {
		return c.refuse("option `%s' needs a value", name)
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		text, _, _ := cutNUL(args[0])
		return c.refuse("could not parse value `%s' as an integer", text)
	}
	if name == "TIMEOUT" {
		o.timeout = time.Duration(n) * time.Millisecond
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

var numericOptions = []string{"TIMEOUT", "RETRY_LIMIT", "SIZE_LIMIT", "MAX_RETRY_DELAY", "TRANSACTION_LOGGING_MAX_FIELD_LENGTH"}
