package direct_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
)

func TestTransportOptionsSelectNativeOrFdbcli(t *testing.T) {
	open := func(string) (admin.Client, error) { return nil, errors.New("opened") }
	for _, c := range []struct {
		name   string
		o      direct.Options
		native bool
		err    error
	}{
		{"exec uses fdbcli", direct.Options{Transport: direct.Exec, InCluster: true, Open: open}, false, nil},
		{"exec takes no cluster file", direct.Options{Transport: direct.Exec, ClusterFile: "f"}, false, direct.ErrClusterFile},
		{"auto outside of a cluster uses fdbcli", direct.Options{Transport: direct.Auto, Open: open}, false, nil},
		{"auto inside of a cluster tries", direct.Options{Transport: direct.Auto, InCluster: true, Open: open}, true, nil},
		{"auto tries a cluster file", direct.Options{Transport: direct.Auto, ClusterFile: "f", Open: open}, true, nil},
		{"native is native", direct.Options{Transport: direct.Native, Open: open}, true, nil},
		{"another name is an error", direct.Options{Transport: "ssh", Open: open}, false, direct.ErrUnknown},
	} {
		d, err := direct.New(c.o)
		if (d != nil) != c.native || !errors.Is(err, c.err) {
			t.Errorf("%s: got %v (%v)", c.name, d, err)
		}
	}
	if admin.NativeAvailable {
		return
	}
	for _, c := range []struct {
		name string
		o    direct.Options
		err  error
	}{
		{"auto in a static build uses fdbcli", direct.Options{Transport: direct.Auto, InCluster: true}, nil},
		{"native in a static build is an error", direct.Options{Transport: direct.Native}, admin.ErrNoNative},
		{"no build ignores a cluster file", direct.Options{Transport: direct.Auto, ClusterFile: "f"}, admin.ErrNoNative},
	} {
		if d, err := direct.New(c.o); d != nil || !errors.Is(err, c.err) {
			t.Errorf("%s: got %v (%v)", c.name, d, err)
		}
	}
}

func TestAClusterFileHasAConnectionString(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fdb.cluster")
	if err := direct.CheckClusterFile(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for content, good := range map[string]bool{ours + "\n": true, "# comment\n" + ours: true, "": false, "10.1.0.1:4501": false} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := direct.CheckClusterFile(name); (err == nil) != good {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// elsewhere is a client that may not reach its database, of another connection string.
type elsewhere struct {
	admin.Client
	connection  fdb.ConnectionString
	err         error
	unreachable bool
	statuses    *int
}

func (e elsewhere) ConnectionString(context.Context) (fdb.ConnectionString, error) {
	return e.connection, nil
}

func (e elsewhere) Status(context.Context) (*fdb.Status, error) {
	*e.statuses++
	s := &fdb.Status{}
	s.Client.Coordinators.QuorumReachable = !e.unreachable
	return s, e.err
}

func connectionString(t *testing.T, text string) fdb.ConnectionString {
	t.Helper()
	s, err := fdb.ParseConnectionString(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const ours = "sample_cluster:abcdefgh@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501"

// TestTheTransportFlagChoosesTheDatabaseClient names the client by its statuses: 1 for the native one.
func TestTheTransportFlagChoosesTheDatabaseClient(t *testing.T) {
	broken := &admin.Error{Kind: admin.KindWrongProtocol}
	for _, c := range []struct {
		name      string
		transport direct.Transport
		file      string
		native    elsewhere
		want      string
		kind      admin.Kind
	}{
		{"auto prefers the database that it reaches", direct.Auto, "f", elsewhere{connection: connectionString(t, ours)}, "both", ""},
		{"native is the native client alone", direct.Native, "f", elsewhere{connection: connectionString(t, ours)}, "native", ""},
		{"a cluster file of another database is refused", direct.Native, "f", elsewhere{connection: connectionString(t, "sample_cluster:abcdefgh@10.9.0.1:4501")}, "", admin.KindRefused},
		{"so is one of another generation", direct.Native, "f", elsewhere{connection: connectionString(t, "sample_cluster:other@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501")}, "", admin.KindRefused},
		{"so is one of another name", direct.Native, "", elsewhere{connection: connectionString(t, "other:abcdefgh@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501")}, "", admin.KindRefused},
		{"coordinators that the library followed are those of the resource", direct.Native, "", elsewhere{connection: connectionString(t, "sample_cluster:new@10.1.0.1:4501,10.1.0.2:4501,10.1.0.4:4501")}, "native", ""},
		{"auto uses fdbcli instead of another database", direct.Auto, "f", elsewhere{connection: connectionString(t, "other:abcdefgh@10.1.0.1:4501")}, "exec", ""},
		{"auto uses fdbcli without a quorum", direct.Auto, "f", elsewhere{connection: connectionString(t, ours), unreachable: true}, "exec", ""},
		{"native shows a database without a quorum", direct.Native, "f", elsewhere{connection: connectionString(t, ours), unreachable: true}, "native", ""},
		{"auto uses fdbcli for another protocol", direct.Auto, "f", elsewhere{connection: connectionString(t, ours), err: broken}, "exec", ""},
		{"native reports another protocol", direct.Native, "f", elsewhere{connection: connectionString(t, ours), err: broken}, "", admin.KindWrongProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			natives, execs, notes := 0, 0, 0
			c.native.statuses = &natives
			exec := elsewhere{connection: connectionString(t, ours), statuses: &execs}
			d, err := direct.New(direct.Options{
				Transport: c.transport, ClusterFile: c.file, GivenUp: func(error) { notes++ },
				Open: func(string) (admin.Client, error) { return c.native, nil },
			})
			if c.file == "" && err == nil {
				t.Cleanup(func() { _ = d.Close() })
			}
			if err != nil {
				t.Fatal(err)
			}
			client, err := d.Client(t.Context(), ours, exec)
			if admin.KindOf(err) != c.kind {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			natives = 0
			if _, err := client.Status(t.Context()); err != nil {
				t.Fatal(err)
			}
			if (execs == 1) != (c.want == "exec") || (natives == 1) == (c.want == "exec") || (notes == 1) != (c.want == "exec") {
				t.Errorf("%d native statuses, %d of fdbcli, %d notes; want %s", natives, execs, notes, c.want)
			}
		})
	}
}

func TestAFailedNativeStatusReadSwitchesToFdbcliForGood(t *testing.T) {
	natives, execs := 0, 0
	native := &elsewhere{connection: connectionString(t, ours), statuses: &natives}
	exec := elsewhere{connection: connectionString(t, ours), statuses: &execs}
	var noted error
	d, err := direct.New(direct.Options{
		Transport: direct.Auto, ClusterFile: "f", GivenUp: func(cause error) { noted = cause },
		Open: func(string) (admin.Client, error) { return native, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Client(t.Context(), ours, exec)
	if err != nil {
		t.Fatal(err)
	}
	native.err = &admin.Error{Kind: admin.KindTimeout}
	if _, err := c.Status(t.Context()); err != nil || execs != 1 || admin.KindOf(noted) != admin.KindTimeout {
		t.Errorf("%d statuses of fdbcli, noted %v (%v)", execs, noted, err)
	}
	native.err = nil
	again, err := d.Client(t.Context(), ours, exec)
	if _, isExec := again.(elsewhere); err != nil || !isExec {
		t.Errorf("got %T (%v)", again, err)
	}
}

func TestATemporaryClusterFileIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	statuses, opened := 0, ""
	d, err := direct.New(direct.Options{
		Transport: direct.Native,
		Open: func(clusterFile string) (admin.Client, error) {
			opened = clusterFile
			return elsewhere{connection: connectionString(t, ours), statuses: &statuses}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Client(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(opened); err != nil || string(content) != ours+"\n" {
		t.Errorf("got %q (%v)", content, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(opened); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there (%v)", err)
	}
}

// TestUnresolvableCoordinatorNamesAreNotAnOutage distinguishes a database without a quorum from a machine
// that cannot find the coordinators.
func TestUnresolvableCoordinatorNamesAreNotAnOutage(t *testing.T) {
	const (
		byName = "sample_cluster:abcdefgh@log-1.x:4501,log-2.x:4501,log-3.x:4501"
		mixed  = "sample_cluster:abcdefgh@log-1.x:4501,10.1.0.2:4501,10.1.0.3:4501"
	)
	for _, c := range []struct {
		name, connection string
		known            []string
		reached          bool
		transport        direct.Transport
		want             string // a part of the error; empty for none
	}{
		{"no name resolves", byName, nil, false, direct.Native, "3 of 3 names of coordinators do not resolve here: log-1.x, log-2.x, log-3.x"},
		{"too few do", byName, []string{"log-2.x"}, false, direct.Native, "2 of 3 names of coordinators do not resolve here: log-1.x, log-3.x"},
		{"a quorum would", byName, []string{"log-2.x", "log-3.x"}, false, direct.Native, ""},
		{"all do", byName, []string{"log-1.x", "log-2.x", "log-3.x"}, false, direct.Native, ""},
		{"a quorum has addresses", mixed, nil, false, direct.Native, ""},
		{"all have addresses", ours, nil, false, direct.Native, ""},
		{"a quorum is reached all the same", byName, nil, true, direct.Native, ""},
		{"auto uses fdbcli", byName, nil, false, direct.Auto, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			natives, execs := 0, 0
			var causes []error
			d, err := direct.New(direct.Options{
				Transport: c.transport, ClusterFile: "f", GivenUp: func(cause error) { causes = append(causes, cause) },
				Open: func(string) (admin.Client, error) {
					return elsewhere{connection: connectionString(t, c.connection), unreachable: !c.reached, statuses: &natives}, nil
				},
				Resolve: func(_ context.Context, host string) ([]string, error) {
					if slices.Contains(c.known, host) {
						return []string{"10.1.0.1"}, nil
					}
					return nil, errors.New("no such host")
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			client, err := d.Client(t.Context(), c.connection, elsewhere{connection: connectionString(t, c.connection), statuses: &execs})
			if (err == nil) != (c.want == "") || (err != nil && (admin.KindOf(err) != admin.KindTransport || !strings.Contains(err.Error(), c.want))) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if c.transport == direct.Auto {
				if _, err := client.Status(t.Context()); err != nil || execs != 1 || len(causes) != 1 || !strings.Contains(causes[0].Error(), "do not resolve here") {
					t.Errorf("%v, %d statuses by fdbcli, given up for %v", err, execs, causes)
				}
			}
		})
	}
}
