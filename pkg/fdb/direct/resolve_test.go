package direct_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
)

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
