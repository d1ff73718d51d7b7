package apply

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// specObserver rejects a spec that the stages of a pass must not carry out, as soon as it is
// read: before the first action.
type specObserver struct {
	reconcile.Observer
	key types.NamespacedName
	// kind is that of the resource. Default FoundationDBCluster.
	kind   string
	stages []plan.Stage
}

// Observe implements reconcile.Observer.
func (o specObserver) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := o.Observer.Observe(ctx, into, facets); err != nil {
		return err
	}
	if facets&(plan.ClusterResource|plan.Backup|plan.Restore) == 0 {
		return nil
	}
	errs := []error{invalid(*into, o.stages)}
	if into.Cluster != nil {
		errs = append(errs, objects.ValidateForStages(into.Cluster, o.stages))
	}
	if err := errors.Join(errs...); err != nil {
		return &reconcile.InvalidSpecError{Err: &live.InvalidResourceError{Key: o.key, Err: err, Kind: o.kind}}
	}
	return nil
}

// MayCarryOut rejects a spec at the start that a pass would reject when it reads it.
func MayCarryOut(e *session.Env, c *v1beta2.FoundationDBCluster, from []plan.Stage) error {
	err := errors.Join(c.Validate(), objects.ValidateForStages(c, from))
	if err == nil {
		return nil
	}
	return exit.Usage(fmt.Errorf("FoundationDBCluster %s in namespace %s is invalid: %w", c.Name, c.Namespace, err),
		e.KubectlIn(c.Namespace, "edit", "foundationdbcluster", c.Name))
}

// invalid returns the errors of a spec that stages need; nil where they do the same whatever it has.
func invalid(s plan.Snapshot, from []plan.Stage) error {
	if !plan.NeedsSpec(from) {
		return nil
	}
	return plan.InvalidSpecError(s.InvalidSpec)
}
