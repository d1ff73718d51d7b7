package commandstest

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Attendance is who else acts on all clusters, backups and restores, and how often a command began to change one.
type Attendance struct {
	Other   *reconcile.Operation
	Refuses bool
	Begun   int
	Ended   int
	Own     []reconcile.Operation
}

// attended is a session with others around.
type attended struct {
	session.Session
	of *Attendance
}

func (a attended) Begin(ctx context.Context) error {
	a.of.Begun++
	return a.Session.Begin(ctx)
}

func (a attended) Gates(_ context.Context, o live.GateOptions) ([]plan.Check, error) {
	return []plan.Check{{ID: plan.CheckNoOperator, Gate: plan.GateOperator, OK: !a.of.Refuses || o.Coexist}}, nil
}

func (a attended) Operations() reconcile.OperationKeeper { return a.of }

// OtherOperation implements reconcile.OperationKeeper.
func (a *Attendance) OtherOperation(context.Context) (*reconcile.Operation, error) {
	return a.Other, nil
}

// RefuseBesideOthers implements reconcile.OperationKeeper.
func (*Attendance) RefuseBesideOthers() {}

// SetOperation implements reconcile.OperationKeeper.
func (a *Attendance) SetOperation(o reconcile.Operation) { a.Own = append(a.Own, o) }

// KeepOperation implements reconcile.OperationKeeper.
func (*Attendance) KeepOperation(context.Context) error { return nil }

// EndOperation implements reconcile.OperationKeeper.
func (a *Attendance) EndOperation(context.Context) error { a.Ended++; return nil }

// AbortRequest implements reconcile.OperationKeeper.
func (*Attendance) AbortRequest(context.Context) (*reconcile.OperationAbort, error) { return nil, nil }

// RenewOperation implements reconcile.OperationKeeper.
func (*Attendance) RenewOperation(context.Context, reconcile.OperationProgress) error { return nil }

// Attend has all commands of a vault meet others.
func (v *Vault) Attend() *Attendance {
	of := &Attendance{}
	v.Connect = func() (session.Session, error) { return attended{Simulated{v.Cluster, v.Given}, of}, nil }
	v.Record = func(e *session.Env, key types.NamespacedName) (session.Session, error) {
		s, err := v.Open(e, key)
		return attended{s, of}, err
	}
	return of
}

// InRegions has the spec name regions that the database does not have yet.
func (v *Vault) InRegions(database, primary string) {
	region := func(dc string, priority int) v1beta2.Region {
		return v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: dc, Priority: priority}}}
	}
	spec := &v.Cluster.Resource.Spec
	spec.DataCenter, spec.LockOptions.DisableLocks = database, new(true)
	spec.DatabaseConfiguration.UsableRegions = 2
	spec.DatabaseConfiguration.Regions = []v1beta2.Region{region(database, 0), region(primary, 1)}
}

// Locked makes the cluster one of several control-plane instances of its database.
func (v *Vault) Locked() {
	v.Cluster.Resource.Spec.ProcessGroupIDPrefix, v.Cluster.Resource.Spec.LockOptions.DisableLocks = "dc1", new(bool)
}
