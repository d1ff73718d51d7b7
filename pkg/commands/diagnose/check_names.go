package diagnose

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// lookUpNames measures how the coordinators' DNS names resolve in a pod, if there are names and
// a rule needs them. A failed measurement is a fact.
func lookUpNames(ctx context.Context, r session.Reader, into *check.Facts, options check.Options) {
	names, unknown := into.CoordinatorNames()
	if len(names) == 0 || unknown != "" || !options.AsksFor("CONN-003") && !options.AsksFor("CONN-004") {
		return
	}
	lookups, err := r.ReadNames(ctx, names)
	if err != nil {
		into.NamesUnread = exit.Explain(err)
		return
	}
	into.Names = lookups
}
