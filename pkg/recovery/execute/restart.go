package execute

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// restartScript ends the fdbserver processes with these IDs; the monitor of the container starts them
// again.
const restartScript = `for p in "$@"; do
if [ "$(cat "/proc/$p/comm" 2>/dev/null)" = fdbserver ]; then kill "$p" || exit 1; fi
done`

// restart ends all fdbserver processes, and waits until each pod has others. A process reads its
// cluster file only when it starts. In a database that is available with all of its process groups with
// data, an earlier run has restarted those that report.
func (r Run) restart(ctx context.Context, p recovery.Plan) error {
	before, s, err := r.Read(ctx)
	if err != nil {
		return err
	}
	if health := recovery.HealthOf(s.Database); p.IsReached(before) && recovery.AllReport(before, health) {
		before.Groups = slices.DeleteFunc(before.Groups, func(g recovery.Group) bool {
			return health.Reporting[g.ID] || g.Files == nil || len(g.Files.Processes) == 0
		})
	}
	for _, g := range before.Groups {
		if g.Files == nil {
			return fmt.Errorf("%s could not be read: %s", g.Name(), g.Unread)
		}
	}
	if err := r.inPods(ctx, before, func(ctx context.Context, g recovery.Group) error {
		var ids []string
		for _, id := range g.Files.Processes {
			ids = append(ids, strconv.Itoa(id))
		}
		_, err := r.run(ctx, s.Pods[g.Pod], restartScript, ids...)
		return err
	}); err != nil {
		return err
	}
	return r.until(ctx, func(now recovery.Facts, _ plan.Snapshot) string {
		var old []string
		for _, g := range before.Groups {
			if !restarted(g, now) {
				old = append(old, g.Name())
			}
		}
		if len(old) == 0 {
			return ""
		}
		return phrase.Count(len(old), "pod") + " without restarted processes: " + phrase.List(old)
	})
}

// restarted reports whether the pod of a process group has processes now, none of which ran before.
func restarted(before recovery.Group, now recovery.Facts) bool {
	for _, g := range now.Groups {
		if g.ID == before.ID {
			return g.Files != nil && len(g.Files.Processes) > 0 &&
				!slices.ContainsFunc(g.Files.Processes, func(id int) bool { return slices.Contains(before.Files.Processes, id) })
		}
	}
	return false
}

// available waits until the database is available with the new connection string, and every process
// group with data reports to it.
func (r Run) available(ctx context.Context, p recovery.Plan) error {
	return r.until(ctx, func(now recovery.Facts, s plan.Snapshot) string {
		switch {
		case p.Kind != recovery.CoordinatorsMoved && p.IsBack(now, recovery.HealthOf(s.Database)):
			return ""
		case !p.IsReached(now) && now.Outage.RecoveryState != "":
			return "the database is not available, recovery state " + now.Outage.RecoveryState
		case !p.IsReached(now):
			return "the database is not available yet"
		case !recovery.AllReport(now, recovery.HealthOf(s.Database)):
			return "not every process group with data reports yet"
		}
		return ""
	})
}

// until reads the facts until missing returns nothing, or the context ends.
func (r Run) until(ctx context.Context, missing func(recovery.Facts, plan.Snapshot) string) error {
	why := ""
	for {
		facts, s, err := r.Read(ctx)
		if err == nil {
			if why = missing(facts, s); why == "" {
				return nil
			}
		}
		timer := r.Clock.NewTimer(pollInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			if why == "" {
				return err // no read succeeded
			}
			return fmt.Errorf("%s: %w", why, context.Cause(ctx))
		case <-timer.C():
		}
	}
}
