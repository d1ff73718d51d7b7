package live

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// changeLists writes under this instance's own name, whatever the action names: another
// instance's entries are never its business.
func (w *World) changeLists(ctx context.Context, a plan.ChangeLists) error {
	cli, record, err := w.database()
	if err != nil {
		return err
	}
	change := admin.ListChange{
		Instance: record.Spec.ProcessGroupIDPrefix, At: a.At,
		Add: groupTexts(a.Add), Remove: groupTexts(a.Remove), Addresses: map[string][]string{},
	}
	for group, addresses := range a.Addresses {
		change.Addresses[string(group)] = addresses
	}
	return admin.ChangeLists(ctx, cli, fdb.LockKeys{Prefix: record.LockKeyPrefix()}, change)
}

func groupTexts(lists map[fdb.SharedList][]v1beta2.ProcessGroupID) map[fdb.SharedList][]string {
	named := map[fdb.SharedList][]string{}
	for list, groups := range lists {
		named[list] = texts(groups)
	}
	return named
}
