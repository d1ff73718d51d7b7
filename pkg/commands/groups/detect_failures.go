package groups

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// detectOptions are the options of `kubectl fdb detect-failures`.
type detectOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	exitZero bool
}

// NewDetectFailures returns the command `detect-failures`.
func NewDetectFailures(env *session.Env) *cobra.Command {
	var o detectOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"failure-detection.md"},
		Lacks: declare.Lacking("it records what it sees and completes at once, whatever else runs; where an operator runs, it leaves the status to it", declare.Overrides, declare.GatedByOperators, declare.OneOperation),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.DetectPermissions()...), cmdutil.Finding(), cmdutil.Beyond(), cmdutil.Auditing(), cmdutil.Everywhere(cmdutil.Optional("the status is not written",
				session.Permission{Verb: "list", Group: "apps", Resource: "deployments"}, session.Permission{Verb: "list", Group: "coordination.k8s.io", Resource: "leases"})))
		},
	}, &cobra.Command{
		Use:     "detect-failures [CLUSTER]",
		Aliases: []string{"notice-failures"},
		Short:   "Detect failed process groups once",
		Long: `Detect failed process groups once: update the status, so that the times of their conditions
begin, and set the annotation kubectl-fdb/failures-seen of the cluster to the current time
if a process group has a condition for which it is replaced once it lasts. The annotation
starts the next pass of reconcile --watch, and a reconciliation of an operator. Nothing is
replaced. The jobs of a failure detector run this command.

If an operator manages the cluster, only the annotation is set: the operator owns the
status.

Exit code 0: no process group has failed. 1: one or more have. 8: unknown, and nothing is
annotated.`,
		Example: `  # Detect failures, and print the process groups
  kubectl fdb detect-failures sample-cluster -o name

  # Preview, without changing anything
  kubectl fdb detect-failures sample-cluster --dry-run`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	o.Reversible = true
	flags.Brief(cmd, &o.ChangeFlags)
	cmd.Flags().Lookup("yes").Usage = "If true, approve; this command has no prompt, since it changes no process group"
	cmd.Flags().BoolVar(&o.exitZero, "exit-zero", false, "If true, exit with code 0 also if process groups have failed")
	return cmd
}

func (o detectOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	words, list := []string{"detect-failures", key.Name}, stages.Detecting()
	if o.exitZero {
		words = append(words, "--exit-zero")
	}
	operator, err := operatorOf(ctx, env, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if !operator.OK {
		env.Logf("the status is not written: %s", operator.Evidence)
		list = stages.DetectingBesideOperator()
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.DetectPermissions(), Goal: &detecting{exitZero: o.exitZero},
		Beside: true, Lockless: true, Args: words, Stages: list,
	})
}

// operatorOf checks that no live operator manages a cluster.
func operatorOf(ctx context.Context, env *session.Env, key types.NamespacedName) (plan.Check, error) {
	s, err := env.Connect(ctx, key)
	if err != nil {
		return plan.Check{}, err
	}
	if err := s.Observe(ctx, &plan.Snapshot{}, plan.ClusterResource); err != nil {
		return plan.Check{}, err
	}
	gates, err := s.Gates(ctx, live.GateOptions{})
	for _, gate := range gates {
		if !gate.OK && gate.Gate == plan.GateOperator {
			return gate, err
		}
	}
	return plan.Check{OK: true}, err
}

// detecting is the goal of `detect-failures`, with its answer.
type detecting struct {
	exitZero bool
	failed   []v1beta2.ProcessGroupID
	unknown  string // why failures are unknown; empty where they are known
}

// Note implements apply.Noting.
func (d *detecting) Note(e reconcile.Event) {
	decided, ok := e.(reconcile.StageDecided)
	if !ok || decided.Stage != plan.StageDetectFailures {
		return
	}
	d.failed, d.unknown = nil, ""
	for _, a := range decided.Actions {
		if record, is := a.(plan.RecordFailures); is {
			d.failed = record.Groups
		}
	}
	if hold := decided.Hold; hold != nil {
		d.unknown = hold.Text()
	}
}

func (d *detecting) Progress(context.Context, session.Session) (targets []inspect.Target, reached bool, err error) {
	for _, id := range d.failed {
		targets = append(targets, inspect.Target{ID: string(id), Phase: "failed", Reached: true})
	}
	return targets, d.unknown == "", nil
}

func (d *detecting) Summary(apply.Extent) string {
	switch {
	case d.unknown != "":
		return d.unknown
	case len(d.failed) == 0:
		return "no process group has failed"
	default:
		return phrase.Count(len(d.failed), "process group") + " " + phrase.Has(len(d.failed)) + " failed: " + phrase.Some(d.failed, inspect.MostNamed)
	}
}

// Answer implements apply.Answering.
func (d *detecting) Answer() error {
	switch {
	case d.unknown != "":
		return exit.AnswerError{Code: exit.ExitUnreachable}
	case len(d.failed) > 0 && !d.exitZero:
		return exit.AnswerError{Code: exit.ExitNo}
	default:
		return nil
	}
}
