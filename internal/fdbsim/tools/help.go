package tools

import (
	"maps"
	"slices"
	"strings"
)

// help lists the commands, or the transaction options. The list of options is
// long enough to push everything printed before it through the pipe.
func (c *cli) help(args []string) error {
	switch {
	case len(args) == 0:
		c.print("\nList of commands:\n\n")
		for _, name := range slices.Sorted(maps.Keys(commands)) {
			c.printf(" %s\n", name)
		}
		c.print("\nFor information on a specific command, type `help <command>'.\n" +
			"For information on escaping keys and values, type `help escaping'.\n" +
			"For information on available options, type `help options'.\n\n")
	case args[0] == "options":
		c.print("\nThe following options are available to be set using the `option' command:\n\n")
		for _, name := range transactionOptions {
			c.printf("%s - %s\n\n", name, optionMeaning(name))
		}
	case commands[args[0]] != nil:
		c.printf("\n%s\n\nThe simulated fdbcli has no longer text about this command.\n\n", args[0])
	default:
		c.printf("No help available for `%s'\n", args[0])
	}
	return nil
}

// transactionOptions are the options that fdbcli knows.
var transactionOptions = strings.Fields(`
ACCESS_SYSTEM_KEYS AUTHORIZATION_TOKEN AUTOMATIC_IDEMPOTENCY AUTO_THROTTLE_TAG BYPASS_STORAGE_QUOTA BYPASS_UNREADABLE
CAUSAL_READ_RISKY CAUSAL_WRITE_RISKY COMMIT_ON_FIRST_PROXY DEBUG_TRANSACTION_IDENTIFIER EXPENSIVE_CLEAR_COST_ESTIMATION_ENABLE
FIRST_IN_BATCH IDEMPOTENCY_ID INCLUDE_PORT_IN_ADDRESS INITIALIZE_NEW_DATABASE LOCK_AWARE LOG_TRANSACTION MAX_RETRY_DELAY
NEXT_WRITE_NO_WRITE_CONFLICT_RANGE PRIORITY_BATCH PRIORITY_SYSTEM_IMMEDIATE RAW_ACCESS READ_LOCK_AWARE READ_PRIORITY_HIGH
READ_PRIORITY_LOW READ_PRIORITY_NORMAL READ_SERVER_SIDE_CACHE_DISABLE READ_SERVER_SIDE_CACHE_ENABLE READ_SYSTEM_KEYS
READ_YOUR_WRITES_DISABLE REPORT_CONFLICTING_KEYS RETRY_LIMIT SERVER_REQUEST_TRACING SIZE_LIMIT SKIP_GRV_CACHE
SNAPSHOT_RYW_DISABLE SNAPSHOT_RYW_ENABLE SPAN_PARENT SPECIAL_KEY_SPACE_ENABLE_WRITES SPECIAL_KEY_SPACE_RELAXED TAG TIMEOUT
TRANSACTION_LOGGING_MAX_FIELD_LENGTH USED_DURING_COMMIT_PROTECTION_DISABLE USE_GRV_CACHE USE_PROVISIONAL_PROXIES
`)

// optionMeaning describes what an option does here.
func optionMeaning(name string) string {
	if m, ok := optionMeanings[name]; ok {
		return m
	}
	const words = "Taken and remembered like any other option. It has no effect on a transaction of the simulated database,\n" +
		"which has neither load nor several clients' worth of caches, and it is listed here so that scripts which set it\n" +
		"run as they would against a real one."
	return words
}

var optionMeanings = map[string]string{
	"ACCESS_SYSTEM_KEYS":              "The transaction may read and write keys that begin with the byte 0xFF.",
	"READ_SYSTEM_KEYS":                "The transaction may read keys that begin with the byte 0xFF.",
	"LOCK_AWARE":                      "The transaction may read and write a locked database.",
	"READ_LOCK_AWARE":                 "The transaction may read a locked database.",
	"SPECIAL_KEY_SPACE_ENABLE_WRITES": "The transaction may write keys that begin with the bytes 0xFF 0xFF, which change the cluster.",
	"TIMEOUT":                         "The transaction ends with an error after that time. (Int) milliseconds",
}
