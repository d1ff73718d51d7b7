package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// podSteps are the steps of plans that create pods. They change the target of the plan.
func (r Run) podSteps(p *recovery.Plan) map[recovery.Step]func(context.Context) error {
	if p.To == "" {
		p.To = p.From // the coordinators stay, unless their addresses turn out to be others
	}
	return map[recovery.Step]func(context.Context) error{
		recovery.StepReserveVolumes: func(ctx context.Context) error { return r.reserveVolumes(ctx, *p) },
		recovery.StepRebuild:        func(ctx context.Context) error { return r.rebuildStatus(ctx, *p) },
		recovery.StepPVCs:           func(ctx context.Context) error { return r.createPVCs(ctx, *p) },
		recovery.StepPods:           func(ctx context.Context) error { return r.createPods(ctx, *p) },
		recovery.StepPodsRun: func(ctx context.Context) error {
			return r.until(ctx, func(now recovery.Facts, _ plan.Snapshot) string { return p.Missing(now) })
		},
		recovery.StepAddresses: func(ctx context.Context) error { return r.follow(ctx, p) },
	}
}

// createPods creates the pods of the plan: those of coordinators first, and the others once a quorum
// of coordinators' pods runs.
func (r Run) createPods(ctx context.Context, p recovery.Plan) error {
	others := slices.DeleteFunc(slices.Clone(p.Create), func(c recovery.Creation) bool { return c.Coordinator })
	coordinators := slices.DeleteFunc(slices.Clone(p.Create), func(c recovery.Creation) bool { return !c.Coordinator })
	if err := r.create(ctx, coordinators); err != nil {
		return err
	}
	if err := r.until(ctx, func(now recovery.Facts, _ plan.Snapshot) string {
		if p.CoordinatorsRun(now) {
			return ""
		}
		return "the pods of fewer than a quorum of coordinators run"
	}); err != nil {
		return err
	}
	return r.create(ctx, others)
}

// create creates pods, as the stages of a pass decide on them, and waits until they exist. One that is
// still terminating is waited for: there are never two pods of one volume.
func (r Run) create(ctx context.Context, all []recovery.Creation) error {
	return r.poll(ctx, func(ctx context.Context) (string, error) {
		var s plan.Snapshot
		if err := r.Cluster.Observe(ctx, &s, clusterstages.UpdateConfigMap.Reads|clusterstages.AddServices.Reads|clusterstages.AddPods.Reads); err != nil {
			return "", err
		}
		missing := missingPods(s, all)
		if len(missing) == 0 {
			return "", nil
		}
		waits := phrase.Count(len(missing), "pod") + " not created: " + phrase.List(missing)
		for _, stage := range []plan.Stage{clusterstages.UpdateConfigMap, clusterstages.AddServices, clusterstages.AddPods} {
			if err := r.Cluster.Observe(ctx, &s, stage.Reads); err != nil {
				return "", err
			}
			hold, err := r.decide(ctx, stage.Decide(s), all)
			if err != nil || hold != "" {
				return hold, err
			}
		}
		return waits, nil
	})
}

// missingPods are the names of pods that do not exist, or are terminating.
func missingPods(s plan.Snapshot, all []recovery.Creation) []string {
	var missing []string
	for _, c := range all {
		switch pod := s.Pods[c.Pod]; {
		case pod == nil:
			missing = append(missing, c.Pod)
		case pod.DeletionTimestamp != nil:
			missing = append(missing, c.Pod+" (terminating)")
		}
	}
	return missing
}

// decide carries out what a stage decided, but creates no pod that is not of the plan.
func (r Run) decide(ctx context.Context, d plan.Decision, all []recovery.Creation) (hold string, err error) {
	for _, a := range d.Actions {
		if pod, is := a.(plan.CreatePod); is && !slices.ContainsFunc(all, func(c recovery.Creation) bool { return c.Pod == pod.Name }) {
			continue
		}
		if err := r.Cluster.Act(ctx, a); err != nil {
			return "", err
		}
	}
	if d.Hold != nil {
		return d.Hold.Reason, nil
	}
	return "", nil
}

// follow carries out the plan for coordinators that have other addresses now, if some do.
func (r Run) follow(ctx context.Context, p *recovery.Plan) error {
	facts, s, err := r.Read(ctx)
	if err != nil {
		return err
	}
	next, obstacles := p.Follow(facts)
	if len(obstacles) > 0 {
		return errors.New("the coordinators have other addresses, and no connection string can be written: " + strings.Join(obstacles, "; "))
	}
	p.To = next.To
	steps, err := r.steps(next, facts, s)
	if err != nil {
		return err
	}
	return r.inOrder().CarryOut(ctx, steps)
}

// poll calls a function until it has nothing to wait for, returns an error, or the context ends.
func (r Run) poll(ctx context.Context, do func(context.Context) (waits string, err error)) error {
	for {
		waits, err := do(ctx)
		if err != nil || waits == "" {
			return err
		}
		timer := r.Clock.NewTimer(pollInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%s: %w", waits, context.Cause(ctx))
		case <-timer.C():
		}
	}
}

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
