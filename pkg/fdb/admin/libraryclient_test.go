package admin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
)

// simulatedLibrary is the client library of the model, without the C interface around it.
type simulatedLibrary struct {
	cluster *fdbsim.Simulation
	files   *simulatedFiles
}

func (l simulatedLibrary) Begin(ctx context.Context, limit time.Duration) (admin.LibraryTransaction, error) {
	t, err := l.cluster.BeginClient(ctx, "7.3.79", l.files, admin.LiveClusterFile)
	if err != nil {
		return nil, simulatedError(err)
	}
	for _, option := range []string{"ACCESS_SYSTEM_KEYS", "LOCK_AWARE", "TIMEOUT"} {
		if err := t.Enable(option, limit); err != nil {
			return nil, simulatedError(err)
		}
	}
	return simulatedTransaction{t}, nil
}

func (l simulatedLibrary) Reboot(ctx context.Context, addresses []string) (bool, error) {
	t, err := l.cluster.BeginClient(ctx, "7.3.79", l.files, admin.LiveClusterFile)
	if err != nil {
		return false, simulatedError(err)
	}
	sent, err := t.Reboot(addresses)
	return sent, simulatedError(err)
}

func (simulatedLibrary) Version() (fdb.Version, error) { return fdb.ParseVersion("7.3.79") }

type simulatedTransaction struct{ t *fdbsim.ClientTransaction }

func (s simulatedTransaction) EnableSpecialWrites() error {
	return simulatedError(s.t.Enable("SPECIAL_KEY_SPACE_ENABLE_WRITES", 0))
}

func (s simulatedTransaction) Get(key []byte) ([]byte, bool, error) {
	value, found, err := s.t.Get(string(key))
	return value, found, simulatedError(err)
}

func (s simulatedTransaction) GetRange(begin, end []byte, limit int) ([]admin.Pair, error) {
	rows, err := s.t.Range(string(begin), string(end), limit)
	var pairs []admin.Pair
	for _, row := range rows {
		pairs = append(pairs, admin.Pair{Key: []byte(row.Key), Value: row.Value})
	}
	return pairs, simulatedError(err)
}

func (s simulatedTransaction) Apply(m admin.Mutation) {
	switch {
	case m.Value != nil:
		s.t.Set(string(m.Key), m.Value)
	case m.End != nil:
		s.t.Clear(fdbsim.KeyRange{Begin: string(m.Key), End: string(m.End)})
	default:
		s.t.Clear(fdbsim.KeyRange{Begin: string(m.Key), End: string(m.Key) + "\x00"})
	}
}

func (s simulatedTransaction) Commit() (int64, error) {
	version, err := s.t.Commit()
	return version, simulatedError(err)
}

func (simulatedTransaction) Close() {}

func simulatedError(err error) error {
	if e, ok := errors.AsType[fdbsim.ClientError](err); ok {
		return &admin.LibraryError{Code: e.Code, Err: e}
	}
	return err
}

func newSimulatedLibrary(cluster *fdbsim.Simulation, files *simulatedFiles) *admin.LibraryClient {
	return admin.NewLibraryClient(simulatedLibrary{cluster, files}, simulatedClock{clock.RealClock{}, cluster})
}

// newDatabaseFor is a simulated database that is up, with both clients.
func newDatabaseFor(t *testing.T) (*fdbsim.Simulation, *admin.LibraryClient, *admin.FDBCLI) {
	t.Helper()
	cluster, files := newSimulation(t)
	cli := newSimulatedCLI(cluster, simulated{cluster, files})
	if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(5 * time.Minute)
	return cluster, newSimulatedLibrary(cluster, files), cli
}

// TestTheLibraryClientPassesTheConformanceSuite runs the conformance suite through special keys, with fdbcli for what
// they do not offer.
func TestTheLibraryClientPassesTheConformanceSuite(t *testing.T) {
	admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
		t.Helper()
		_, library, cli := newDatabaseFor(t)
		c := chosen(t, direct.Options{Transport: direct.Auto, InCluster: true}, library, cli)
		return c, c
	})
}

// chosen is the client that the options choose for the database of library and cli.
func chosen(t *testing.T, o direct.Options, library, cli admin.Client) admin.Client {
	t.Helper()
	if o.Open == nil {
		o.Open = func(string) (admin.Client, error) { return library, nil }
	}
	d, err := direct.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	want, err := cli.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Client(t.Context(), want.String(), cli)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheLibraryClientReturnsUnsupportedForConfigureAndUpgrade(t *testing.T) {
	_, library, _ := newDatabaseFor(t)
	for name, err := range map[string]error{
		"configure": library.Configure(t.Context(), ordinary(), admin.ChangeDatabase),
		"create":    library.Configure(t.Context(), ordinary(), admin.NewDatabase),
		"upgrade":   library.KillForUpgrade(t.Context(), []fdb.Address{{Host: "10.1.0.1", Port: 4501}}),
	} {
		if admin.KindOf(err) != admin.KindUnsupported || !admin.CertainlyNotRun(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTheClientLibraryKillsProcessesAndMovesCoordinators(t *testing.T) {
	_, library, cli := newDatabaseFor(t)
	victims := []fdb.Address{{Host: "10.1.0.1", Port: 4501}, {Host: "10.1.0.8", Port: 4501}, {Host: "192.0.2.1", Port: 4501}}
	err := library.Kill(t.Context(), victims)
	if e, ok := errors.AsType[*admin.Error](err); !ok || e.Kind != admin.KindPartial || strings.Join(e.Targets, " ") != "192.0.2.1:4501" {
		t.Errorf("got %v, want the one that is not reached", err)
	}
	moved := []fdb.Address{{Host: "10.1.0.4", Port: 4501}, {Host: "10.1.0.5", Port: 4501}, {Host: "10.1.0.1", Port: 4501}}
	after, err := library.ChangeCoordinators(t.Context(), moved)
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := cli.ConnectionString(t.Context()); err != nil || seen.String() != after.String() || !after.SameCoordinators(moved) {
		t.Errorf("got %s, fdbcli has %s (%v)", after, seen, err)
	}
}

func TestAnUnsentClientLibraryKillIsNotYetAndALostOneUnknown(t *testing.T) {
	cluster, files := newSimulation(t)
	l := &deafLibrary{simulatedLibrary: simulatedLibrary{cluster, files}}
	cli := newSimulatedCLI(cluster, simulated{cluster, files})
	if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(5 * time.Minute)
	library := admin.NewLibraryClient(l, simulatedClock{clock.RealClock{}, cluster})
	err := library.Kill(t.Context(), []fdb.Address{{Host: "10.1.0.1", Port: 4501}})
	if admin.KindOf(err) != admin.KindNotYet {
		t.Errorf("got %v, want that it was not sent", err)
	}
	l.err = &admin.LibraryError{Code: 1026, Err: errors.New("network connection failed")}
	err = library.Kill(t.Context(), []fdb.Address{{Host: "10.1.0.1", Port: 4501}})
	if admin.KindOf(err) != admin.KindUnknownResult {
		t.Errorf("got %v, want that it may have been sent", err)
	}
}

// deafLibrary sends no restart.
type deafLibrary struct {
	simulatedLibrary
	err error
}

func (d *deafLibrary) Reboot(context.Context, []string) (bool, error) { return false, d.err }

func TestAnExclusionRefusedThroughSpecialKeysReportsTheReason(t *testing.T) {
	_, library, _ := newDatabaseFor(t)
	all := []string{"10.1.0.4:4501", "10.1.0.5:4501", "10.1.0.6:4501", "10.1.0.7:4501"} // all storage processes
	err := library.Exclude(t.Context(), all)
	e, ok := errors.AsType[*admin.Error](err)
	if !ok || e.Kind != admin.KindRefused || !strings.HasPrefix(e.Detail, "This exclude may") || strings.Contains(e.Error(), "FORCE") {
		t.Errorf("got %v", err)
	}
	if excluded, err := library.Exclusions(t.Context()); err != nil || len(excluded) > 0 {
		t.Errorf("excluded %v (%v)", excluded, err)
	}
}

func TestIncludingAnIPEndsTheExclusionsOfItsPorts(t *testing.T) {
	_, library, _ := newDatabaseFor(t)
	if err := library.Exclude(t.Context(), []string{"192.0.2.1:4501", "192.0.2.10:4501"}); err != nil {
		t.Fatal(err)
	}
	if err := library.Include(t.Context(), []string{"192.0.2.1"}); err != nil {
		t.Fatal(err)
	}
	if left, err := library.Exclusions(t.Context()); err != nil || strings.Join(left, " ") != "192.0.2.10:4501" {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestTheClientLibraryReportsAnIncompatibleProtocol(t *testing.T) {
	cluster, files := newSimulation(t)
	library := admin.NewLibraryClient(otherVersion{simulatedLibrary{cluster, files}}, simulatedClock{clock.RealClock{}, cluster})
	if _, err := library.Status(t.Context()); admin.KindOf(err) != admin.KindWrongProtocol {
		t.Errorf("got %v", err)
	}
}

// otherVersion is a library whose processes have another protocol.
type otherVersion struct{ simulatedLibrary }

func (otherVersion) Version() (fdb.Version, error) { return fdb.ParseVersion("7.4.6") }

func TestACanceledClientLibraryReadReturnsTheCancellation(t *testing.T) {
	_, library, _ := newDatabaseFor(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := library.Status(ctx); admin.KindOf(err) != admin.KindTimeout || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
