package commands

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// processesOptions is what `kubectl fdb get processes` was asked to list.
type processesOptions struct{ lookOptions }

func newGetProcesses(env *Env) *cobra.Command {
	var o processesOptions
	cmd := &cobra.Command{
		Use:     "processes [CLUSTER]",
		Aliases: []string{"process", "proc"},
		Short:   "List what the database reports: its processes, with roles, versions and zones",
		Long: `List the processes that the database reports, those of other instances that share it
included. What should be there and is silent shows in "kubectl fdb get process-groups".`,
		Example: `  # All of them
  kubectl fdb get processes sample-cluster

  # With CPU, memory, disks, lag and complaints
  kubectl fdb get processes sample-cluster -o wide

  # Which versions run?
  kubectl fdb get processes sample-cluster -o custom-columns=VERSION:.version --no-headers`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.look(cmd.Context(), env, args, func(ctx context.Context, key types.NamespacedName) (looked, error) {
				return o.see(ctx, env, key)
			})
		},
	}
	o.add(cmd, env)
	return cmd
}

func (o processesOptions) see(ctx context.Context, env *Env, key types.NamespacedName) (looked, error) {
	facts, err := observation{env: env, key: key, asks: plan.Database}.facts(ctx)
	if err != nil {
		return looked{}, err
	}
	if !facts.Database.Status.ListsProcesses() {
		return looked{}, unanswered(facts, "which processes there are")
	}
	v := ui.NewProcessListView(env.metadata(key), facts)
	r := looked{warnings: v.Warnings, printable: printable{
		document: v, names: namesOf("process", v.Items, func(p ui.ProcessView) string { return p.Address }),
		table: func(w io.Writer) error { return ui.WriteProcesses(w, v, o.list(env)) },
	}}
	if len(v.Items) == 0 {
		r.none = "the database of " + key.Name + " reports no process"
	}
	return r, nil
}
