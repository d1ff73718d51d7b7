package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// restartProcesses restarts processes. Announcements for the restart are removed first: if the
// restart fails, the control-plane instances announce again what is ready then. The other way
// round, a run that dies in between would leave announcements for a restart that has happened.
func (w *databaseWriter) restartProcesses(ctx context.Context, a plan.RestartProcesses) error {
	cli, keys, err := w.sharedKeys(ctx, "restart processes")
	if err != nil {
		return err
	}
	if a.UpgradeTo == "" {
		if len(a.Announced) > 0 {
			if err := admin.ClearRestarts(ctx, cli, keys, a.Announced); err != nil {
				return err
			}
		}
		return cli.Kill(ctx, a.Addresses)
	}
	if err := admin.ClearUpgrades(ctx, cli, keys); err != nil {
		return err
	}
	return cli.KillForUpgrade(ctx, a.Addresses)
}

// startMaintenance writes the entries first: maintenance without entries would last until it
// expires.
func (w *databaseWriter) startMaintenance(ctx context.Context, a plan.StartMaintenance) error {
	cli, keys, err := w.sharedKeys(ctx, "start maintenance")
	if err != nil {
		return err
	}
	if len(a.Groups) > 0 {
		if err := admin.NoteMaintenance(ctx, cli, keys, texts(a.Groups), a.At); err != nil {
			return err
		}
	}
	return cli.MaintenanceOn(ctx, a.Zone, a.Duration)
}

// endMaintenance ends the maintenance of the action's zone only: the zone may have changed
// since.
func (w *databaseWriter) endMaintenance(ctx context.Context, a plan.EndMaintenance) error {
	cli, _, err := w.sharedKeys(ctx, "end maintenance")
	if err != nil {
		return err
	}
	now, err := cli.Maintenance(ctx)
	if err != nil {
		return err
	}
	if now.Active() && now.Zone != a.Zone {
		return fmt.Errorf("end the maintenance of zone %s: zone %s is under maintenance now", a.Zone, now.Zone)
	}
	return cli.MaintenanceOff(ctx)
}

func (w *databaseWriter) forgetMaintenance(ctx context.Context, a plan.ForgetMaintenance) error {
	cli, keys, err := w.sharedKeys(ctx, "remove maintenance entries")
	if err != nil {
		return err
	}
	return admin.ForgetMaintenance(ctx, cli, keys, texts(a.Groups))
}

func (w *databaseWriter) updateDenyList(ctx context.Context, a plan.UpdateDenyList) error {
	cli, keys, err := w.sharedKeys(ctx, "change the deny list")
	if err != nil {
		return err
	}
	denied := map[string]bool{}
	for _, owner := range a.Deny {
		denied[owner] = true
	}
	for _, owner := range a.Allow {
		if denied[owner] {
			return errors.New("change the deny list: " + owner + " is both denied and allowed")
		}
		denied[owner] = false
	}
	return admin.UpdateDenyList(ctx, cli, keys, denied, a.Note)
}

func (w *databaseWriter) announceUpgrade(ctx context.Context, a plan.AnnounceUpgrade) error {
	cli, keys, err := w.sharedKeys(ctx, "announce the upgrade")
	if err != nil {
		return err
	}
	return admin.AnnounceUpgrade(ctx, cli, keys, a.Version, texts(a.Groups))
}

func (w *databaseWriter) withdrawUpgrade(ctx context.Context, a plan.WithdrawUpgrade) error {
	cli, keys, err := w.sharedKeys(ctx, "withdraw announcements")
	if err != nil {
		return err
	}
	return admin.WithdrawUpgrade(ctx, cli, keys, a.Version, texts(a.Groups))
}

// sharedKeys is a client and the keys that all control-plane instances share.
func (w *databaseWriter) sharedKeys(ctx context.Context, operation string) (admin.Client, fdb.LockKeys, error) {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return nil, fdb.LockKeys{}, fmt.Errorf("%s: %w", operation, err)
	}
	return cli, fdb.LockKeys{Prefix: cluster.LockKeyPrefix()}, nil
}

func texts(groups []v1beta2.ProcessGroupID) []string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = string(g)
	}
	return all
}
