package groups

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// preparing selects process groups of a cluster, and builds the change of them.
type preparing func(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error)

// carryOut finds a cluster, and carries out the change of its process groups. It returns the cluster
// as it was before.
func carryOut(ctx context.Context, env *session.Env, args []string, flag session.ClusterFlag, i session.Intent, prepare preparing) (*v1beta2.FoundationDBCluster, error) {
	record, err := env.Cluster(ctx, args, flag.Name, i)
	if err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	c, err := prepare(ctx, env, key)
	if err != nil {
		return nil, exit.CauseOf(ctx, err)
	}
	return record, apply.CarryOut(ctx, env, key, c)
}
