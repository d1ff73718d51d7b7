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

// restartProcesses restarts servers. What instances announced for it is used up first:
// should the restart fail, they announce again what is ready then. The other way round, a
// run that dies in between would leave announcements for a restart that has happened.
func (w *World) restartProcesses(ctx context.Context, a plan.RestartProcesses) error {
	cli, keys, err := w.sharedKeys("restarting processes")
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

// startMaintenance writes the notes first: maintenance that nobody has a note of would
// last until it runs out.
func (w *World) startMaintenance(ctx context.Context, a plan.StartMaintenance) error {
	cli, keys, err := w.sharedKeys("starting maintenance")
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

// endMaintenance ends the maintenance that was decided on, and no other's: the zone may
// have changed since.
func (w *World) endMaintenance(ctx context.Context, a plan.EndMaintenance) error {
	cli, _, err := w.sharedKeys("ending maintenance")
	if err != nil {
		return err
	}
	now, err := cli.Maintenance(ctx)
	if err != nil {
		return err
	}
	if now.Active() && now.Zone != a.Zone {
		return fmt.Errorf("ending the maintenance of zone %s: zone %s is under maintenance by now", a.Zone, now.Zone)
	}
	return cli.MaintenanceOff(ctx)
}

func (w *World) forgetMaintenance(ctx context.Context, a plan.ForgetMaintenance) error {
	cli, keys, err := w.sharedKeys("removing maintenance notes")
	if err != nil {
		return err
	}
	return admin.ForgetMaintenance(ctx, cli, keys, texts(a.Groups))
}

func (w *World) updateDenyList(ctx context.Context, a plan.UpdateDenyList) error {
	cli, keys, err := w.sharedKeys("changing the deny list")
	if err != nil {
		return err
	}
	denied := map[string]bool{}
	for _, owner := range a.Deny {
		denied[owner] = true
	}
	for _, owner := range a.Allow {
		if denied[owner] {
			return errors.New("changing the deny list: " + owner + " is to be denied and allowed")
		}
		denied[owner] = false
	}
	return admin.UpdateDenyList(ctx, cli, keys, denied, a.Note)
}

func (w *World) announceUpgrade(ctx context.Context, a plan.AnnounceUpgrade) error {
	cli, keys, err := w.sharedKeys("announcing the upgrade")
	if err != nil {
		return err
	}
	return admin.AnnounceUpgrade(ctx, cli, keys, a.Version, texts(a.Groups))
}

func (w *World) withdrawUpgrade(ctx context.Context, a plan.WithdrawUpgrade) error {
	cli, keys, err := w.sharedKeys("taking back announcements")
	if err != nil {
		return err
	}
	return admin.WithdrawUpgrade(ctx, cli, keys, a.Version, texts(a.Groups))
}

// sharedKeys is a client and the keys that all instances share through it.
func (w *World) sharedKeys(doing string) (*admin.FDBCLI, fdb.LockKeys, error) {
	cli, record, err := w.database()
	if err != nil {
		return nil, fdb.LockKeys{}, fmt.Errorf("%s: %w", doing, err)
	}
	return cli, fdb.LockKeys{Prefix: record.LockKeyPrefix()}, nil
}

func texts(groups []v1beta2.ProcessGroupID) []string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = string(g)
	}
	return all
}
