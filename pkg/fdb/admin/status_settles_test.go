package admin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// printing is a transport whose tool prints a document, and that reports whether it is conclusive.
type printing struct {
	document string
	settled  *bool
}

func (p printing) Run(_ context.Context, c admin.Command) (admin.Result, error) {
	r := admin.Result{Stdout: []byte(p.document)}
	*p.settled = c.SettledBy(r)
	return r, nil
}

func (printing) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("not used")
}

// A document that is not conclusive is requested from further pods, and each takes up to 15 s where no
// database is available.
func TestAConclusiveStatusIsNotRequestedFromASecondPod(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		want     bool
	}{
		"an available database": {`{"client":{"database_status":{"available":true}},"cluster":{}}`, true},
		"one that was never configured": {
			`{"client":{"coordinators":{"quorum_reachable":true},"database_status":{"available":false}},"cluster":{"recovery_state":{"name":"configuration_never_created"}}}`, true,
		},
		"one that an isolated pod takes for it": {
			`{"client":{"coordinators":{"quorum_reachable":false},"database_status":{"available":false}},"cluster":{"recovery_state":{"name":"configuration_never_created"}}}`, false,
		},
		"one that is not available": {
			`{"client":{"coordinators":{"quorum_reachable":true},"database_status":{"available":false}},"cluster":{"recovery_state":{"name":"reading_transaction_system_state"}}}`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			settled := false
			cli := admin.NewFDBCLI(printing{tc.document, &settled}, admin.FDBCLIOptions{Binaries: []string{"fdbcli"}})
			if _, err := cli.Status(t.Context()); err != nil || settled != tc.want {
				t.Errorf("conclusive: %t, %v", settled, err)
			}
		})
	}
}
