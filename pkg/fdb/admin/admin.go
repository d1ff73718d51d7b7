package admin

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ConfigureKind says whether a database is being created or changed.
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

// part is what of a configuration the command sends and reads back.
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
// mutation reads back what it did.
type Admin interface {
	// Status is the status document. An unavailable database is described by it and
	// is no error.
	Status(ctx context.Context) (*fdb.Status, error)
	// Configure creates or changes the database's configuration. It refuses a
	// configuration that fails its Check, and can take 75 s. KindNotYet means that
	// FoundationDB will take the same command later.
	Configure(ctx context.Context, c fdb.Configuration, kind ConfigureKind) error
	// ChangeCoordinators moves the coordinators and returns the new connection string.
	ChangeCoordinators(ctx context.Context, coordinators []fdb.Address) (fdb.ConnectionString, error)
	// ConnectionString is the one in force. It works without an available database.
	ConnectionString(ctx context.Context) (fdb.ConnectionString, error)
	// Exclude starts moving data and roles off the targets (addresses without flags,
	// IPs, or localities). It does not wait for the end of it.
	Exclude(ctx context.Context, targets []string) error
	// Include ends exclusions.
	Include(ctx context.Context, targets []string) error
	// Exclusions are the targets excluded now, failed ones included.
	Exclusions(ctx context.Context) ([]string, error)
	// InProgressExclusions are addresses, without flags, that still hold something.
	// fdb.UnknownLogAddress among them may be anybody.
	InProgressExclusions(ctx context.Context) ([]string, error)
	// Kill restarts all processes at these addresses at once. Those that cannot be
	// reached are not killed and reported with KindPartial.
	Kill(ctx context.Context, addresses []fdb.Address) error
	// KillForUpgrade restarts all processes at once, which then speak another protocol
	// than this client. Nobody is killed unless all can be reached.
	KillForUpgrade(ctx context.Context, addresses []fdb.Address) error
	// Maintenance is the zone under maintenance, if any.
	Maintenance(ctx context.Context) (fdb.Maintenance, error)
	// MaintenanceOn puts a zone under maintenance for d. It refuses while another zone
	// is, because the database would forget that one.
	MaintenanceOn(ctx context.Context, zone string, d time.Duration) error
	// MaintenanceOff ends maintenance of whatever zone.
	MaintenanceOff(ctx context.Context) error
	// Version is the version of the client that talks to the database, not the
	// database's own.
	Version(ctx context.Context) (fdb.Version, error)
}

// KV reads and writes keys in transactions.
type KV interface {
	// Txn reads, lets decide look at what was read, and commits the mutations it
	// returns if nobody wrote what was read in the meantime; otherwise it starts over
	// a few times, so decide can be called repeatedly and must not act by itself.
	// Without mutations nothing is committed and version is 0. KindUnknownResult means
	// that the mutations may have been committed. System keys are accessible, and a
	// locked database is not in the way: whoever must respect that lock reads
	// DatabaseLockedKey too.
	Txn(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (version int64, err error)
}
