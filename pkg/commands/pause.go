package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// pauseOptions are the options of `kubectl fdb pause`.
type pauseOptions struct {
	clusterFlag
	changeFlags
	long time.Duration
}

func newPause(env *Env) *cobra.Command {
	var o pauseOptions
	cmd := &cobra.Command{
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
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.reversible = true
	o.addBrief(cmd)
	cmd.Flags().DurationVar(&o.long, "for", 0, "expected duration, for reminders; 0 means no limit")
	return cmd
}

func (o pauseOptions) run(ctx context.Context, env *Env, args []string) error {
	if o.long < 0 {
		return usagef("--for must not be negative")
	}
	key, err := o.of(ctx, env, args, o.changeFlags)
	if err != nil {
		return err
	}
	words := []string{"pause", key.Name}
	if o.long > 0 {
		words = append(words, "--for", o.long.String())
	}
	if o.reason != "" {
		words = append(words, "--reason", o.reason)
	}
	by := env.userAtHost()
	undo, err := o.undo(ctx, env, key)
	if err != nil {
		return err
	}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, permissions: pausePermissions(), goal: pausing(true), beside: true, lockless: true,
		words: words, undo: undo,
		stages: []plan.Stage{operations.PauseOperators(by, o.long, o.reason)},
	})
}

// undo returns the command that reverts the pause; none if the cluster was paused before, since
// that would also end the other pause.
func (o pauseOptions) undo(ctx context.Context, env *Env, key types.NamespacedName) ([]string, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	record, err := env.read(ctx, c, key)
	if err != nil {
		return nil, err
	}
	if record.Spec.Skip {
		env.logf("already paused; resume would end the earlier pause as well")
		return nil, nil
	}
	return []string{"resume", key.Name}, nil
}

// of finds the cluster of a command that changes it, once its flags are validated.
func (f clusterFlag) of(ctx context.Context, env *Env, args []string, c changeFlags) (types.NamespacedName, error) {
	if err := c.check(env); err != nil {
		return types.NamespacedName{}, err
	}
	record, err := env.cluster(ctx, args, f.name, c.intent())
	if err != nil {
		return types.NamespacedName{}, causeOf(ctx, err)
	}
	return types.NamespacedName{Namespace: record.Namespace, Name: record.Name}, nil
}

// resumeOptions are the options of `kubectl fdb resume`.
type resumeOptions struct {
	clusterFlag
	changeFlags
}

func newResume(env *Env) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume [CLUSTER]",
		Short: "Resume operators on a cluster",
		Long: `Resume operators on a cluster: set spec.skip to false, and remove what pause recorded.
Nothing else of the spec is changed.`,
		Example: `  # Resume operators
  kubectl fdb resume sample-cluster`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.reversible = true
	o.addBrief(cmd)
	return cmd
}

func (o resumeOptions) run(ctx context.Context, env *Env, args []string) error {
	key, err := o.of(ctx, env, args, o.changeFlags)
	if err != nil {
		return err
	}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, permissions: pausePermissions(), goal: pausing(false), beside: true, lockless: true,
		words: []string{"resume", key.Name}, undo: []string{"pause", key.Name},
		stages: []plan.Stage{operations.ResumeOperators},
	})
}

// pausePermissions are required to set spec.skip.
func pausePermissions() []permission {
	crd := v1beta2.GroupVersion.Group
	return []permission{
		{"get", crd, "foundationdbclusters", ""},
		{"patch", crd, "foundationdbclusters", ""},
		{"get", "coordination.k8s.io", "leases", ""},
		{"create", "coordination.k8s.io", "leases", ""},
		{"update", "coordination.k8s.io", "leases", ""},
	}
}

// pausing is the goal of `pause`, and if false of `resume`.
type pausing bool

func (p pausing) progress(ctx context.Context, s Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record); err != nil {
		return nil, false, err
	}
	target := inspect.Paused(facts, bool(p))
	return []inspect.Target{target}, target.Reached, nil
}

func (p pausing) summary(bool) string {
	if p {
		return "paused for operators; kubectl fdb still acts on it"
	}
	return "resumed: operators act on it again"
}

// printPause warns once that a pass works on a cluster that is paused for operators: the user
// who paused it may not expect that.
func (p *passes) printPause() func(reconcile.Event) {
	if p.beside {
		return func(reconcile.Event) {}
	}
	return func(e reconcile.Event) {
		o, ok := e.(reconcile.Observed)
		if !ok || o.Facets&plan.Record == 0 || o.Snapshot.Cluster == nil {
			return
		}
		state, words := "", ""
		if v := inspect.NewPauseView(inspect.Facts{Snapshot: o.Snapshot}); v != nil {
			words = "paused: " + v.Words(o.Snapshot.Now) + "; this run acts on it regardless"
			state = v.Reason + v.By + map[bool]string{true: "overdue", false: "paused"}[v.Overdue]
			if v.Overdue {
				words = "warning: " + words + "; to end the pause: " + p.env.command("resume", p.key.Name)
			}
		}
		if state != p.paused && words != "" {
			p.env.logf("%s", words)
		}
		p.paused = state
	}
}
