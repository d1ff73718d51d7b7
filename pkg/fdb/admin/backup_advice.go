package admin

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// advice is what to look at when the backup tools say something, beyond their words.
var advice = []struct{ text, then string }{
	{"Failed to get region", "name it in spec.blobStoreConfiguration.urlParameters, as region=NAME"},
	{"Unknown URL parameter", "spec.blobStoreConfiguration.urlParameters has a name that this version does not know"},
	{"Backup does not exist", "nothing was backed up to this place: look at accountName, bucket and backupName in spec.blobStoreConfiguration"},
	{"Invalid restore version", "spec.backupVersion has to be a version that the backup holds, which backup describe lists; without it the latest one is restored"},
	{"is not restorable to any version", "its first snapshot is not complete, or was deleted: wait until backup status says that it can be restored"},
	{"non-empty destination database", "a restore needs a database without data, and overwrites none"},
	{"Platform error", "agents cannot write there"},
}

// advised is what the tools said, and what to look at then.
func advised(detail string) string {
	for _, a := range advice {
		if strings.Contains(detail, a.text) {
			return detail + ": " + a.then
		}
	}
	return detail
}

// silentStore is a tool that got no answer though the database gives some. The tools say
// nothing of a store: they try for ever.
func silentStore(m mutation, limit time.Duration) *Error {
	return &Error{Kind: KindStoreSilent, Doing: m.doing, Detail: fmt.Sprintf(
		"no answer from the store within %s, while the database answers; %s cannot be reached, has no such bucket, or does not let the agents in: "+
			"look at spec.blobStoreConfiguration, and at the files that FDB_BLOB_CREDENTIALS names in the pods of agents", limit, fdb.WithoutSecrets(m.store))}
}
