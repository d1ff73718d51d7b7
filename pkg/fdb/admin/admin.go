package admin

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ConfigureKind is what a configure command creates or changes.
type ConfigureKind string

// Kinds of configure commands.
const (
	// NewDatabase creates the database. Never use it on one that was ever configured.
	NewDatabase ConfigureKind = "new"
	// ChangeDatabase changes an existing database.
	ChangeDatabase ConfigureKind = "change"
	// ChangeRegions changes the regions of an existing database and nothing else.
	ChangeRegions ConfigureKind = "regions"
	// ChangeUsableRegions changes how many regions are usable and nothing else.
	ChangeUsableRegions ConfigureKind = "usable_regions"
)

// part returns the part of a configuration that the command sends and reads
// back.
func (k ConfigureKind) part() fdb.Part {
	switch k {
	case ChangeRegions:
		return fdb.OnlyRegions
	case ChangeUsableRegions:
		return fdb.OnlyUsableRegions
	case NewDatabase, ChangeDatabase:
	}
	return fdb.Whole
}

// Admin changes and describes one database. Every method may return an *Error; each
// mutation reads back its effect.
type Admin interface {
	// Status returns the status document. An unavailable database is not an error.
	Status(ctx context.Context) (*fdb.Status, error)
	// Configure creates or changes the database's configuration. It rejects a
	// configuration that fails its Check, and can take 75 s. KindNotYet means that
	// FoundationDB will accept the same command later.
	Configure(ctx context.Context, c fdb.Configuration, kind ConfigureKind) error
	// ChangeCoordinators changes the coordinators and returns the new connection
	// string.
	ChangeCoordinators(ctx context.Context, coordinators []fdb.Address) (fdb.ConnectionString, error)
	// ConnectionString returns the connection string in force. It works without an
	// available database.
	ConnectionString(ctx context.Context) (fdb.ConnectionString, error)
	// Exclude starts moving data and roles off the targets (addresses without flags,
	// IPs, or localities). It does not wait for its end.
	Exclude(ctx context.Context, targets []string) error
	// Include ends exclusions.
	Include(ctx context.Context, targets []string) error
	// Exclusions returns the targets excluded now, including failed ones.
	Exclusions(ctx context.Context) ([]string, error)
	// InProgressExclusions returns the addresses, without flags, that still hold
	// data or roles. fdb.UnknownLogAddress among them may be any process.
	InProgressExclusions(ctx context.Context) ([]string, error)
	// Kill restarts all processes at these addresses at once. Those that cannot be
	// reached are not killed and reported with KindPartial.
	Kill(ctx context.Context, addresses []fdb.Address) error
	// KillForUpgrade restarts all processes at once, which then use another protocol
	// than this client. No process is killed unless all can be reached.
	KillForUpgrade(ctx context.Context, addresses []fdb.Address) error
	// Maintenance returns the zone under maintenance, if any.
	Maintenance(ctx context.Context) (fdb.Maintenance, error)
	// MaintenanceOn puts a zone under maintenance for d. It fails while another zone
	// is, because the database would drop that one.
	MaintenanceOn(ctx context.Context, zone string, d time.Duration) error
	// MaintenanceOff ends maintenance of any zone.
	MaintenanceOff(ctx context.Context) error
	// Version returns the version of the client, not of the database.
	Version(ctx context.Context) (fdb.Version, error)
}

// KV reads and writes keys in transactions.
type KV interface {
	// Txn reads, passes the values to decide, and commits the mutations it returns if
	// the values were not written in the meantime; otherwise it retries a few times,
	// so decide can be called repeatedly and must not have effects of its own. Without
	// mutations nothing is committed and version is 0. KindUnknownResult means that
	// the mutations may have been committed. System keys are accessible, and the
	// transaction ignores a locked database: callers that must respect that lock read
	// DatabaseLockedKey too.
	Txn(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (version int64, err error)
}
