package execute

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// Answer is what the API server answers to a dry run of a write, or that it is not asked about a step.
type Answer struct {
	Step  recovery.Step
	Asked bool
	Err   error
}

// asking submits an action as a server dry run, and reports whether that was possible.
type asking func(context.Context, plan.Action) (asked bool, err error)

// Try submits what the steps of a plan write now to the API server, by ask and a Client that makes dry runs. What exists
// only after earlier steps, and what is no object, is not asked about.
func (r Run) Try(ctx context.Context, p recovery.Plan, ask asking) ([]Answer, error) {
	var all []Answer
	for _, step := range p.Steps {
		answers, err := r.try(ctx, p, step, ask)
		if err != nil {
			return all, fmt.Errorf("%s: %w", step, err)
		}
		for _, err := range answers {
			all = append(all, Answer{Step: step, Asked: true, Err: err})
		}
		if len(answers) == 0 {
			all = append(all, Answer{Step: step})
		}
	}
	return all, nil
}

// try returns the answers to the writes of a step.
func (r Run) try(ctx context.Context, p recovery.Plan, step recovery.Step, ask asking) (answers []error, err error) {
	var actions []plan.Action
	switch step {
	case recovery.StepReserveVolumes:
		return r.tryVolumes(ctx, p)
	case recovery.StepConfigMap:
		actions, err = r.configMapWrites(ctx, p)
	case recovery.StepPVCs:
		actions, err = r.pvcWrites(ctx, p)
	case recovery.StepPods:
		actions, err = r.podWrites(ctx, p)
	default:
	}
	for _, a := range actions {
		if asked, err := ask(ctx, a); asked {
			answers = append(answers, err)
		}
	}
	return answers, err
}

func (r Run) configMapWrites(ctx context.Context, p recovery.Plan) ([]plan.Action, error) {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource|plan.ConfigMap); err != nil {
		return nil, err
	}
	if change := configMapOf(p, s); change != nil {
		return []plan.Action{*change}, nil
	}
	return nil, nil
}

func (r Run) pvcWrites(ctx context.Context, p recovery.Plan) (actions []plan.Action, err error) {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, clusterstages.AddPVCs.Reads); err != nil {
		return nil, err
	}
	missing, err := clusterstages.MissingPVCs(s)
	for _, create := range missing {
		bound, err := r.bound(ctx, p.Bind, create)
		if err != nil {
			return nil, err
		}
		if bound != nil {
			actions = append(actions, *bound)
		}
	}
	return actions, err
}

func (r Run) podWrites(ctx context.Context, p recovery.Plan) (actions []plan.Action, err error) {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, clusterstages.AddPods.Reads); err != nil {
		return nil, err
	}
	for _, a := range clusterstages.AddPods.Decide(s).Actions {
		if pod, is := a.(plan.CreatePod); is && slices.ContainsFunc(p.Create, func(c recovery.Creation) bool { return c.Pod == pod.Name }) {
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// tryVolumes returns the answers to the reservations of volumes.
func (r Run) tryVolumes(ctx context.Context, p recovery.Plan) (answers []error, err error) {
	for _, b := range p.Bind {
		v, err := r.volume(ctx, b)
		if err != nil {
			return nil, err
		}
		done, err := r.reserved(ctx, p.Namespace, b, v)
		switch {
		case err != nil:
			answers = append(answers, fmt.Errorf("volume %s: %w", b.Volume, err))
		case !done:
			answers = append(answers, r.unclaim(ctx, v))
		}
	}
	return answers, nil
}
