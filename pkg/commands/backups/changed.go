package backups

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// changed checks the flags of a change, and returns the backup or restore that args name.
func changed(ctx context.Context, env *session.Env, f apply.ChangeFlags, kind *session.ResourceKind, args []string) (types.NamespacedName, error) {
	if err := f.Check(env); err != nil {
		return types.NamespacedName{}, err
	}
	key, err := kind.Key(ctx, env, args, f.Intent())
	if err != nil {
		return key, exit.CauseOf(ctx, err)
	}
	return key, nil
}
