package live

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// changeLists writes entries of this control-plane instance, or removes those of its former
// prefix, and never those of another one.
func (w *databaseWriter) changeLists(ctx context.Context, a plan.ChangeLists) error {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return err
	}
	if err := ownFormer(cluster, a); err != nil {
		return err
	}
	change := admin.ListChange{
		Instance: a.Below(cluster), At: a.At,
		Add: groupTexts(a.Add), Remove: groupTexts(a.Remove), Addresses: map[string][]string{},
	}
	for group, addresses := range a.Addresses {
		change.Addresses[string(group)] = addresses
	}
	return admin.ChangeLists(ctx, cli, fdb.LockKeys{Prefix: cluster.LockKeyPrefix()}, change)
}

// ownFormer refuses changes below another prefix, unless they remove entries of process groups
// of this very cluster.
func ownFormer(cluster *v1beta2.FoundationDBCluster, a plan.ChangeLists) error {
	if a.Former == nil {
		return nil
	}
	of := slices.Collect(maps.Keys(a.Addresses))
	for _, groups := range a.Remove {
		of = append(of, groups...)
	}
	foreign := slices.ContainsFunc(of, func(id v1beta2.ProcessGroupID) bool {
		return cluster.ProcessGroup(id) == nil || !fdb.Member{Instance: *a.Former, Group: string(id)}.IsNamedForIt()
	})
	adds := len(a.Add) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(a.Addresses)), func(ips []string) bool { return len(ips) > 0 })
	if foreign || adds {
		return fmt.Errorf("entries below the prefix %q belong to another control-plane instance: only entries of this cluster's own process groups may be removed", *a.Former)
	}
	return nil
}

func groupTexts(lists map[fdb.SharedList][]v1beta2.ProcessGroupID) map[fdb.SharedList][]string {
	named := map[fdb.SharedList][]string{}
	for list, groups := range lists {
		named[list] = texts(groups)
	}
	return named
}
