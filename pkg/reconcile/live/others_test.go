package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// That listing is forbidden for the other records of a kind is a fact, and no failure; that there are
// none is another one.
func TestUnlistableBackupsAndRestoresDoNotFailTheRead(t *testing.T) {
	v := newVault(t)
	v.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
	look := func(lists func() error) (plan.OtherBackupFacts, plan.OtherRestoreFacts) {
		refusing := interceptor.NewClient(v.api, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			switch list.(type) {
			case *v1beta2.FoundationDBBackupList, *v1beta2.FoundationDBRestoreList:
				if err := lists(); err != nil {
					return err
				}
			}
			return c.List(ctx, list, options...)
		}})
		var of plan.Snapshot
		v.backup.Client = refusing
		if err := v.backup.Observe(t.Context(), &of, plan.Backup); err != nil {
			t.Fatal(err)
		}
		v.restore.Client = refusing
		if err := v.restore.Observe(t.Context(), &of, plan.Restore|plan.OtherRestores); err != nil {
			t.Fatal(err)
		}
		return of.OtherBackups, of.OtherRestores
	}
	backups, restores := look(func() error { return errors.New("forbidden") })
	if backups.Read || restores.Read || !strings.Contains(backups.NotRead, "forbidden") || !strings.Contains(restores.NotRead, "forbidden") {
		t.Errorf("got %+v and %+v", backups, restores)
	}
	backups, restores = look(func() error { return nil })
	if !backups.Read || !restores.Read || len(backups.All) > 0 || len(restores.All) > 0 {
		t.Errorf("its own is no other one: %+v and %+v", backups, restores)
	}
}

// An observation is also made for a dashboard, which restores the terminal before it reports a bug.
func TestAReadThatPanicsIsAnErrorOfTheObservation(t *testing.T) {
	v := newVault(t)
	v.cluster.Client = interceptor.NewClient(v.api, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		panic("no list")
	}})
	var into plan.Snapshot
	err := v.cluster.Observe(t.Context(), &into, plan.ClusterResource|plan.Pods)
	if fault, is := errors.AsType[*reconcile.FaultError](err); !is || fault.Value != "no list" {
		t.Errorf("%v", err)
	}
}
