package fdbtools

import "github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"

// The blob store that every sandbox has, for backups. It listens nowhere: simulated
// programs alone know it. Its secret key guards nothing, and has to be right all the same,
// so that credentials are found and passed on as they would be elsewhere.
const (
	StoreHost   = "store.sandbox:443"
	StoreKey    = "sandbox"
	StoreSecret = "sandbox-secret-key"
	StoreBucket = "fdb-backups"
)

func backupStore() fdbsim.BlobStore {
	return fdbsim.BlobStore{Host: StoreHost, Secrets: map[string]string{StoreKey: StoreSecret}, Buckets: []string{StoreBucket}}
}
