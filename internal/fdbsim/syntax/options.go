package syntax

import "strings"

// TransactionOptions are the names of the transaction options that fdbcli knows, as `help options` lists
// them.
var TransactionOptions = strings.Fields(`
ACCESS_SYSTEM_KEYS AUTHORIZATION_TOKEN AUTOMATIC_IDEMPOTENCY AUTO_THROTTLE_TAG BYPASS_STORAGE_QUOTA BYPASS_UNREADABLE
CAUSAL_READ_RISKY CAUSAL_WRITE_RISKY COMMIT_ON_FIRST_PROXY DEBUG_TRANSACTION_IDENTIFIER EXPENSIVE_CLEAR_COST_ESTIMATION_ENABLE
FIRST_IN_BATCH IDEMPOTENCY_ID INCLUDE_PORT_IN_ADDRESS INITIALIZE_NEW_DATABASE LOCK_AWARE LOG_TRANSACTION MAX_RETRY_DELAY
NEXT_WRITE_NO_WRITE_CONFLICT_RANGE PRIORITY_BATCH PRIORITY_SYSTEM_IMMEDIATE RAW_ACCESS READ_LOCK_AWARE READ_PRIORITY_HIGH
READ_PRIORITY_LOW READ_PRIORITY_NORMAL READ_SERVER_SIDE_CACHE_DISABLE READ_SERVER_SIDE_CACHE_ENABLE READ_SYSTEM_KEYS
READ_YOUR_WRITES_DISABLE REPORT_CONFLICTING_KEYS RETRY_LIMIT SERVER_REQUEST_TRACING SIZE_LIMIT SKIP_GRV_CACHE
SNAPSHOT_RYW_DISABLE SNAPSHOT_RYW_ENABLE SPAN_PARENT SPECIAL_KEY_SPACE_ENABLE_WRITES SPECIAL_KEY_SPACE_RELAXED TAG TIMEOUT
TRANSACTION_LOGGING_MAX_FIELD_LENGTH USED_DURING_COMMIT_PROTECTION_DISABLE USE_GRV_CACHE USE_PROVISIONAL_PROXIES
`)

// OptionMeaning describes what a transaction option does here.
func OptionMeaning(name string) string {
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
