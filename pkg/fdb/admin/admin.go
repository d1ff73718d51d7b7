// Package admin accesses a FoundationDB database: the interfaces that the rest of
// the program uses, fdbcli's text protocol behind them, and the transports that run
// fdbcli in a pod or on this machine.
//
// A mutation succeeds when its expected text was printed and a read-back confirms
// it; an exit code alone proves nothing. An unknown result is reported as
// KindUnknownResult and never as success. The package must never decide what should
// be done to a database, force a command past FoundationDB's own checks, or repeat
// fdbcli's hints to do so.
package admin

import (
	"context"
	"fmt"
	"slices"
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

// Texts with which configure succeeds.
var (
	createdTexts = []string{"Database created"}
	changedTexts = []string{"Configuration changed", "Configuration changed, with warnings"}
)

// A new database takes a moment to report its configuration.
const (
	configurationReads = 4
	configurationPause = 2 * time.Second
)

// Configure creates or changes the configuration and reads it back. An accepted
// command is no proof that it is in force, and an error is no proof that it is not.
func (c *FDBCLI) Configure(ctx context.Context, desired fdb.Configuration, kind ConfigureKind) error {
	operation := "configuring the database"
	words, texts := []string{"configure"}, changedTexts
	if kind == NewDatabase {
		operation = "creating the database"
		words, texts = append(words, "new"), createdTexts
	}
	tokens, err := desired.TokensOf(kind.part())
	if err != nil {
		return &Error{Kind: KindBadInput, Operation: operation, Err: err}
	}
	return c.change(ctx, mutation{
		operation: operation,
		script:    command(append(words, tokens...)...),
		limit:     configureLimit,
		succeeded: func(r Result) bool {
			return slices.ContainsFunc(answerLines(r.Stdout), func(line string) bool { return slices.Contains(texts, line) })
		},
		inForce: func(ctx context.Context) (bool, error) { return c.configurationInForce(ctx, desired, kind.part()) },
	})
}

// ConfigureLine returns the command that sets a configuration, as it can be typed into
// fdbcli, which accepts other notations of regions but reads them as none.
func ConfigureLine(desired fdb.Configuration) (string, error) {
	tokens, err := desired.Tokens()
	if err != nil {
		return "", err
	}
	return command(append([]string{"configure"}, tokens...)...), nil
}

func (c *FDBCLI) configurationInForce(ctx context.Context, desired fdb.Configuration, part fdb.Part) (bool, error) {
	for range configurationReads {
		s, err := c.Status(ctx)
		if err != nil {
			return false, err
		}
		if s.Cluster.Configuration != nil {
			return c.satisfies(ctx, *s.Cluster.Configuration, desired, part)
		}
		if err := c.pause(ctx, configurationPause); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("the status document has no configuration")
}

// satisfies compares configurations, resolving engine names by version if they
// differ.
func (c *FDBCLI) satisfies(ctx context.Context, current, desired fdb.Configuration, part fdb.Part) (bool, error) {
	if current.EqualIn(part, desired, fdb.Version{}) {
		return true, nil
	}
	v, err := c.Version(ctx)
	if err != nil {
		return false, err
	}
	return current.EqualIn(part, desired, v), nil
}
