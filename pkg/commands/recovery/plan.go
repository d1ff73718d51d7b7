package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// planOptions are the options of `kubectl fdb recover plan`.
type planOptions struct{ cmdutil.ViewOptions }

func newPlan(env *session.Env) *cobra.Command {
	var o planOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads,
		Needs:  func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.ReleasedVolumes()) },
	}, &cobra.Command{
		Use:   "plan [CLUSTER]",
		Short: "Plan a recovery, with a digest for review",
		Long: `Plan a recovery from what recover collect shows, with a digest of everything that the plan
relies on. Nothing is changed.

recover apply carries out plans of these kinds:

  coordinators-moved  most coordinators have other addresses, and their volumes are
                      intact. The new connection string has the same description and ID,
                      and each coordinator at its address now: none omitted, none added.
  coordinators-lost   a majority of coordinators has no pod, no PVC and no volume. The
                      coordination state that is left is copied to new coordinators;
                      later commits are lost.
  pods-lost           pods are missing whose PVCs exist: they are created, those of
                      coordinators first, and followed to their addresses.
  volumes-released    PVCs are missing whose volumes exist: each volume is bound to the
                      PVC that it had, then as pods-lost.

Of any other kind of loss the plan has no steps, and prints what to do manually.

Exit code 0: the plan has steps, or nothing has to be recovered. 4: it has none.`,
		Example: `  # Show the plan
  kubectl fdb recover plan sample-cluster

  # Write the plan to a file, for review and apply
  kubectl fdb recover plan sample-cluster -o json > recovery.json`,
	})
	o.AddView(cmd, env, o.view)
	return cmd
}

func (o *planOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	read, err := read(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	p, err := recovery.NewPlan(key.Name, key.Namespace, read.facts, env.Command)
	if err != nil {
		return cmdutil.Output{}, err
	}
	code := exit.ExitRefused
	if p.Handled || p.Kind == recovery.NothingLost {
		code = exit.ExitDone
	}
	v, err := recovery.NewPlanView(env.Metadata(key), read.seen.Now, p, read.warnings).Sealed()
	if err != nil {
		return cmdutil.Output{}, err
	}
	return cmdutil.Output{Warnings: v.Warnings, Code: code, Printable: format.Printable{
		Document: v, Names: []string{"recoveryplan/" + p.Digest},
		Table: func(w io.Writer) error { return ui.WriteRecoveryPlan(w, v) },
	}}, nil
}

// readPlan reads the file of --plan.
func readPlan(path string, key types.NamespacedName) (recovery.Plan, error) {
	if path == "" {
		return recovery.Plan{}, exit.Usage(errors.New("--plan is required: a file that recover plan -o json printed"))
	}
	var v recovery.PlanView
	if err := apply.ReadDocument(path, "RecoveryPlan", "a recovery plan", &v); err != nil {
		return recovery.Plan{}, err
	}
	if err := v.Plan.Check(key.Name, key.Namespace); err != nil {
		return recovery.Plan{}, exit.Usage(fmt.Errorf("%s cannot be applied: %w (nothing was changed)", path, err))
	}
	return v.Plan, nil
}
