package direct

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
