package locks

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// pauseOptions are the options of `kubectl fdb pause`.
type pauseOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	long time.Duration
}

// NewPause returns the command `pause`.
func NewPause(env *session.Env) *cobra.Command {
	var o pauseOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"maintenance.md#pause-operators"},
		Lacks: declare.Lacking("it is about operators, changes one field and completes at once, whatever else runs", declare.Overrides, declare.GatedByOperators, declare.OneOperation),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.PausePermissions()...), cmdutil.Finding(), cmdutil.Auditing())
		},
	}, &cobra.Command{
		Use:   "pause [CLUSTER]",
		Short: "Pause operators on a cluster",
		Long: `Pause operators on a cluster: set spec.skip to true, and record the duration and the reason.
Nothing else of the spec is changed.

A pause affects operators only: kubectl fdb still acts, and reports that the cluster is
paused. A pause does not end automatically. When its duration is over, status and every
pass report it.`,
		Example: `  # Pause operators during an investigation
  kubectl fdb pause sample-cluster --for 2h --reason "looking at slow commits"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	o.Reversible = true
	flags.Brief(cmd, &o.ChangeFlags)
	cmd.Flags().DurationVar(&o.long, "for", 0, "expected duration, for reminders; 0 means no limit")
	return cmd
}

func (o pauseOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	words := []string{"pause", key.Name}
	if o.long > 0 {
		words = append(words, "--for", o.long.String())
	}
	if o.Reason != "" {
		words = append(words, "--reason", o.Reason)
	}
	by := reconcile.UserOf(env.Holder)
	undo, err := o.undo(ctx, env, key)
	if err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.PausePermissions(), Goal: pausing(true), Beside: true, Lockless: true,
		Args: words, Undo: undo,
		Stages: []plan.Stage{operations.PauseOperators(by, o.long, o.Reason)},
	})
}

// undo returns the command that reverts the pause; none if the cluster was paused before, since
// that would also end the other pause.
func (o pauseOptions) undo(ctx context.Context, env *session.Env, key types.NamespacedName) ([]string, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	cluster, err := env.Read(ctx, c, key)
	if err != nil {
		return nil, err
	}
	if cluster.Spec.Skip {
		env.Logf("already paused; resume would end the earlier pause as well")
		return nil, nil
	}
	return []string{"resume", key.Name}, nil
}

// resumeOptions are the options of `kubectl fdb resume`.
type resumeOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
}

// NewResume returns the command `resume`.
func NewResume(env *session.Env) *cobra.Command {
	var o resumeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"maintenance.md#pause-operators"},
		Lacks: declare.Lacking("it is about operators, changes one field and completes at once, whatever else runs", declare.Overrides, declare.GatedByOperators, declare.OneOperation),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.PausePermissions()...), cmdutil.Finding(), cmdutil.Auditing())
		},
	}, &cobra.Command{
		Use:   "resume [CLUSTER]",
		Short: "Resume operators on a cluster",
		Long: `Resume operators on a cluster: set spec.skip to false, and remove what pause recorded.
Nothing else of the spec is changed.`,
		Example: `  # Resume operators
  kubectl fdb resume sample-cluster`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	o.Reversible = true
	flags.Brief(cmd, &o.ChangeFlags)
	return cmd
}

func (o resumeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.PausePermissions(), Goal: pausing(false), Beside: true, Lockless: true,
		Args: []string{"resume", key.Name}, Undo: []string{"pause", key.Name},
		Stages: []plan.Stage{operations.ResumeOperators},
	})
}

// pausing is the goal of `pause`, and if false of `resume`.
type pausing bool

func (p pausing) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource); err != nil {
		return nil, false, err
	}
	target := inspect.Resumed(facts)
	if p {
		target = inspect.Paused(facts)
	}
	return []inspect.Target{target}, target.Reached, nil
}

func (p pausing) Summary(apply.Extent) string {
	if p {
		return "paused for operators; kubectl fdb still acts on it"
	}
	return "resumed: operators act on it again"
}
