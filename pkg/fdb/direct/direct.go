// Package direct chooses how a database is reached: through FoundationDB's client library in
// this process, or by fdbcli in its pods.
package direct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Transport is how databases are reached.
type Transport string

const (
	// Exec runs fdbcli in pods, from wherever the API server can be reached.
	Exec Transport = "exec"
	// Native uses FoundationDB's client library in this process, which must reach
	// the processes, and fails at what that cannot do.
	Native Transport = "native"
	// Auto is native where the library can be expected to reach the processes and
	// does, and exec for everything else.
	Auto Transport = "auto"
)

// Errors of New, and of a database.
var (
	// ErrUnknown means that the name is none of those above.
	ErrUnknown = errors.New("unknown transport")
	// ErrClusterFile means that a cluster file was given for fdbcli, which uses those
	// of the pods.
	ErrClusterFile = errors.New("transport exec uses the cluster files of the pods and takes no other")
	// ErrAnotherDatabase means that the cluster file leads to a database other than the
	// resource's.
	ErrAnotherDatabase = errors.New("another database: omit --cluster-file, or use the cluster file of this database")
)

// CheckClusterFile returns an error unless a file has a connection string.
func CheckClusterFile(name string) error {
	content, err := limit.File(name, limit.Small)
	if err != nil {
		return fmt.Errorf("--cluster-file: %w", err)
	}
	if _, err := fdb.ParseClusterFile(string(content)); err != nil {
		return fmt.Errorf("--cluster-file %s: %w", name, err)
	}
	return nil
}

// Options are the options of a Database.
type Options struct {
	// Transport is Auto by default.
	Transport Transport
	// ClusterFile is the cluster file to connect with, which the library rewrites when the
	// coordinators change. Empty for a temporary one with the connection string of the
	// resource.
	ClusterFile string
	// InCluster means that this process runs in a pod, from where databases can usually be
	// reached.
	InCluster bool
	// Open connects with a cluster file. Nil is OpenNative.
	Open func(clusterFile string) (admin.Client, error)
	// Resolve returns the addresses of a host name. Nil is the resolver of this machine.
	Resolve func(ctx context.Context, host string) ([]string, error)
	// GivenUp is called once when Auto goes on with fdbcli alone, with the cause.
	GivenUp func(cause error)
}

// Database is the native transport to one database. A nil Database has none.
type Database struct {
	options Options

	mu        sync.Mutex
	native    admin.Client
	met       bool   // native reached the right database before
	temporary string // directory of the cluster file that was written
	cause     error  // why native is not used any longer
}

// New returns the native transport that the options ask for; nil if they leave only
// fdbcli.
func New(o Options) (*Database, error) {
	o.Transport = cmp.Or(o.Transport, Auto)
	available := admin.NativeAvailable || o.Open != nil
	switch o.Transport {
	case Exec:
		if o.ClusterFile != "" {
			return nil, ErrClusterFile
		}
		return nil, nil
	case Native, Auto:
	default:
		return nil, fmt.Errorf("%w %q: must be %s, %s or %s", ErrUnknown, o.Transport, Auto, Exec, Native)
	}
	if !available && (o.Transport == Native || o.ClusterFile != "") {
		return nil, admin.ErrNoNative
	}
	if !available || (o.Transport == Auto && o.ClusterFile == "" && !o.InCluster) {
		return nil, nil
	}
	if o.Open == nil {
		o.Open = func(clusterFile string) (admin.Client, error) { return admin.OpenNative(clusterFile) }
	}
	if o.Resolve == nil {
		o.Resolve = lookUp
	}
	if o.GivenUp == nil {
		o.GivenUp = func(error) {}
	}
	return &Database{options: o}, nil
}

// Client returns the client to use for the database whose resource has a connection string;
// exec is the one that runs fdbcli in its pods, nil if there is none. The result is nil if neither can
// be used. It is an error if the transport is native and does not reach that database.
func (d *Database) Client(ctx context.Context, connectionString string, exec admin.Client) (admin.Client, error) {
	if d == nil {
		return exec, nil
	}
	err := d.lost()
	if err == nil {
		err = d.connect(ctx, connectionString)
	}
	switch {
	case err == nil && (d.options.Transport == Native || exec == nil):
		return d.native, nil
	case err == nil:
		return autoClient{Client: d.native, direct: d, exec: exec}, nil
	case d.options.Transport == Native || ctx.Err() != nil:
		return nil, err
	default:
		d.lose(err)
		return exec, nil
	}
}

// Close removes what was written.
func (d *Database) Close() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.temporary == "" {
		return nil
	}
	return os.RemoveAll(d.temporary)
}

// lost returns why the native transport is not used any longer; nil if it is.
func (d *Database) lost() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cause
}

// lose ends the use of the native transport.
func (d *Database) lose(cause error) {
	d.mu.Lock()
	first := d.cause == nil
	if first {
		d.cause = cause
	}
	d.mu.Unlock()
	if first {
		d.options.GivenUp(cause)
	}
}

// connectLimit is how long the first contact may take. An unavailable database takes up to
// 19 s for a status, so only Native waits for it.
const connectLimit = 8 * time.Second

// connect opens the database and proves that it is the one with the connection string.
func (d *Database) connect(ctx context.Context, connectionString string) error {
	want, err := fdb.ParseConnectionString(connectionString)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(want); err != nil {
		return err
	}
	if d.met && d.verify(ctx, want) == nil {
		return nil
	}
	limited := ctx
	if d.options.Transport == Auto {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, connectLimit)
		defer cancel()
	}
	s, err := d.native.Status(limited)
	if err != nil {
		return err
	}
	if err := d.unresolved(ctx, s, want.Coordinators); err != nil {
		return err
	}
	if d.options.Transport == Auto {
		if err := reachable(s); err != nil {
			return err
		}
	}
	if err := d.verify(ctx, want); err != nil {
		return err
	}
	d.met = true
	return nil
}

// verify fails if the database is another one than that with a connection string. A
// cluster file that was given can be of any; one that was written leads to coordinators of
// the right one, which know newer ones than the resource if that is outdated.
func (d *Database) verify(ctx context.Context, want fdb.ConnectionString) error {
	now, err := d.native.ConnectionString(ctx)
	if err != nil {
		return err
	}
	if now.Description == want.Description && (d.temporary != "" || sameGeneration(now, want)) {
		return nil
	}
	return &admin.Error{
		Kind: admin.KindRefused, Operation: "connecting directly",
		Detail: fmt.Sprintf("the cluster file is of %s, the FoundationDBCluster of %s", now, want), Err: ErrAnotherDatabase,
	}
}

// open opens the cluster file, which it writes if none was given.
func (d *Database) open(want fdb.ConnectionString) error {
	if d.native != nil {
		return nil
	}
	clusterFile := d.options.ClusterFile
	if clusterFile == "" {
		var err error
		if clusterFile, err = d.writeClusterFile(want); err != nil {
			return &admin.Error{Kind: admin.KindBadClusterFile, Operation: "writing a cluster file", Err: err}
		}
	}
	native, err := d.options.Open(clusterFile)
	if err != nil {
		return err
	}
	d.native = native
	return nil
}

func (d *Database) writeClusterFile(content fdb.ConnectionString) (string, error) {
	dir, err := os.MkdirTemp("", "kubectl-fdb-")
	if err != nil {
		return "", err
	}
	d.temporary = dir
	name := filepath.Join(dir, "fdb.cluster")
	const onlyOurs = 0o600
	return name, os.WriteFile(name, []byte(content.String()+"\n"), onlyOurs)
}

// sameGeneration reports whether both connection strings have the ID of the same change of
// coordinators.
func sameGeneration(a, b fdb.ConnectionString) bool {
	return a.ID == b.ID && a.SameCoordinators(b.Coordinators)
}

// reachable fails if a status document is of a client that does not reach the coordinators.
func reachable(s *fdb.Status) error {
	if s.Client.Coordinators.QuorumReachable {
		return nil
	}
	return &admin.Error{Kind: admin.KindUnavailable, Operation: "connecting directly", Detail: "a quorum of coordinators cannot be reached from here"}
}

// autoClient is the client of Auto: the native one, and fdbcli for what that does
// not support. Once a status could not be read, Database.Client returns fdbcli alone.
type autoClient struct {
	admin.Client
	direct *Database
	exec   admin.Client
}

// Status reads the status, which every observation begins with.
func (a autoClient) Status(ctx context.Context) (*fdb.Status, error) {
	s, err := a.Client.Status(ctx)
	if err == nil {
		err = reachable(s)
	}
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return s, err
	}
	a.direct.lose(err)
	return a.exec.Status(ctx)
}

// Configure implements Admin.
func (a autoClient) Configure(ctx context.Context, c fdb.Configuration, kind admin.ConfigureKind) error {
	err := a.Client.Configure(ctx, c, kind)
	if admin.KindOf(err) == admin.KindUnsupported {
		return a.exec.Configure(ctx, c, kind)
	}
	return err
}

// KillForUpgrade implements Admin.
func (a autoClient) KillForUpgrade(ctx context.Context, addresses []fdb.Address) error {
	err := a.Client.KillForUpgrade(ctx, addresses)
	if admin.KindOf(err) == admin.KindUnsupported {
		return a.exec.KillForUpgrade(ctx, addresses)
	}
	return err
}

// resolveLimit is how long the names of all coordinators may take together.
const resolveLimit = 5 * time.Second

// unresolved fails if no quorum of coordinators can be reached only because too many of their names do not
// resolve here. The status document of a client that reached no coordinator describes the client, not the
// database.
func (d *Database) unresolved(ctx context.Context, s *fdb.Status, coordinators []fdb.Address) error {
	if s.Client.Coordinators.QuorumReachable {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	var unknown []string
	for _, a := range coordinators {
		if a.IsIP() {
			continue
		}
		if _, err := d.options.Resolve(ctx, a.Host); err != nil {
			unknown = append(unknown, a.Host)
		}
	}
	if resolved, majority := len(coordinators)-len(unknown), len(coordinators)/2+1; len(unknown) == 0 || resolved >= majority {
		return nil
	}
	return &admin.Error{Kind: admin.KindTransport, Operation: "connecting directly", Detail: fmt.Sprintf(
		"%s of coordinators %s not resolve here: %s", phrase.CountOf(len(unknown), len(coordinators), "name"),
		phrase.EitherOf(len(unknown), len(coordinators), "does", "do"), strings.Join(unknown, ", "))}
}

// lookUp resolves a name as this machine does.
func lookUp(ctx context.Context, host string) ([]string, error) {
	return net.DefaultResolver.LookupHost(ctx, host)
}
