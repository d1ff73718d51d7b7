package admin

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// advice has what to check for messages of the backup tools.
var advice = []struct{ text, then string }{
	{"Failed to get region", "set it in spec.blobStoreConfiguration.urlParameters, as region=NAME"},
	{"Unknown URL parameter", "spec.blobStoreConfiguration.urlParameters has a name that this version does not support"},
	{"Backup does not exist", "no backup at this destination: check accountName, bucket and backupName in spec.blobStoreConfiguration"},
	{"Invalid restore version", "spec.backupVersion must be a version in the backup, as listed by backup describe; without it the latest one is restored"},
	{"is not restorable to any version", "its first snapshot is not complete, or was deleted: wait until backup status reports it as restorable"},
	{"non-empty destination database", "a restore never overwrites data: restore into an empty cluster, or delete the data first if it is not needed"},
	{"Platform error", "agents cannot write there"},
}

// advised returns the message of the tools, with what to check.
func advised(detail string) string {
	for _, a := range advice {
		if strings.Contains(detail, a.text) {
			return detail + ": " + a.then
		}
	}
	return detail
}

// storeTimeout returns the error of a tool that timed out although the database
// responds. The tools report no errors of a store: they retry forever.
func storeTimeout(m mutation, limit time.Duration) *Error {
	return &Error{Kind: KindStoreUnresponsive, Operation: m.operation, Detail: fmt.Sprintf(
		"no response from the store within %s, while the database responds; %s cannot be reached, has no such bucket, or denies access to the agents: "+
			"check spec.blobStoreConfiguration, and the files that FDB_BLOB_CREDENTIALS names in the pods of agents", limit, fdb.WithoutSecrets(m.store))}
}
