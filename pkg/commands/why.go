package commands

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// whyOptions are the options of `kubectl fdb why`.
type whyOptions struct {
	clusterFlag
	outputFlags
}

func newWhy(env *Env) *cobra.Command {
	var o whyOptions
	cmd := &cobra.Command{
		Use:   "why [CLUSTER | fdbbackup/NAME | fdbrestore/NAME] [ID...]",
		Short: "Explain what blocks a cluster and how to fix it",
		Long: `Explain what blocks a cluster and how to fix it. The scope is the cluster with its backups
and the restores into it, some of its process groups, or one backup or restore. The output
is a chain from the desired state to its blocker; act on the first line. Nothing is
changed.

ID is a process group ID, a pod name, an address, or - for stdin.

Exit code 0: nothing is blocked. 1: something is blocked. 8: unknown.`,
		Example: `  # Explain why the cluster is not reconciled
  kubectl fdb why sample-cluster

  # Explain why a process group is not removed yet
  kubectl fdb why sample-cluster storage-12345

  # Explain why a restore does not start
  kubectl fdb why fdbrestore/nightly-again

  # Print one row per reason
  kubectl fdb why sample-cluster -o wide`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	return cmd
}

func (o whyOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if kind, name := recordKindOf(args); kind != nil {
		return o.runOn(ctx, env, kind, name)
	}
	cluster, ids := splitIDs(args, o.name)
	ids, err := expandArgs(ids, env.In)
	if err != nil {
		return err
	}
	record, err := env.cluster(ctx, cluster, o.name, reads)
	if err != nil {
		return causeOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.about = key
	report, err := env.why(ctx, key, ids)
	if err != nil {
		return causeOf(ctx, err)
	}
	return o.printReport(env, report)
}

func (o whyOptions) printReport(env *Env, report why.Report) error {
	for _, warning := range report.Warnings {
		env.logf("warning: %s", warning)
	}
	if err := o.print(env.Out, o.printable(env, report)); err != nil {
		return err
	}
	return whyEnd(report)
}

// why reads a cluster, decides what a pass would do, and joins both. Backups do not matter to
// process groups.
func (e *Env) why(ctx context.Context, key types.NamespacedName, words []string) (why.Report, error) {
	backups := func() (inspect.ClusterBackups, error) { return inspect.ClusterBackups{}, nil }
	if len(words) == 0 {
		backups = backupsReader{env: e, key: key}.beside(ctx)
	}
	l, err := clusterReader{env: e, key: key}.read(ctx)
	if err != nil {
		return why.Report{}, err
	}
	groups, err := groupsNamed(l.Snapshot, words)
	if err != nil {
		return why.Report{}, err
	}
	preview, err := l.preview(ctx, e, key, live.GateOptions{})
	if err != nil {
		return why.Report{}, err
	}
	e.withNodes(ctx, &l.Facts)
	found, err := backups()
	if err != nil {
		return why.Report{}, err
	}
	l.Backups = &found
	return why.NewReport(e.metadata(key), why.Input{Facts: l.Facts, Plan: preview, Only: idsOf(groups), Commands: e.commands()}), nil
}

func idsOf(groups []*v1beta2.ProcessGroupStatus) []v1beta2.ProcessGroupID {
	ids := make([]v1beta2.ProcessGroupID, len(groups))
	for i, g := range groups {
		ids[i] = g.ProcessGroupID
	}
	return ids
}

func (o whyOptions) printable(env *Env, v why.Report) printable {
	var names []string
	for _, c := range v.Items {
		for _, subject := range c.Subjects {
			name := groupPrefix + subject
			if c.IsOfRecord() {
				name = subject
			}
			if (c.IsOfGroups() || c.IsOfRecord()) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return printable{document: v, names: names, table: func(w io.Writer) error {
		if o.format == "wide" {
			return ui.WriteWhyTable(w, v, o.list(env))
		}
		return ui.WriteWhy(w, v, ui.WhyOptions{Paint: env.paint(w), ListOptions: o.list(env)})
	}}
}

func whyEnd(v why.Report) error {
	switch v.State {
	case why.Ready:
		return nil
	case why.Unknown:
		return answer{ExitUnreachable}
	case why.Waiting, why.Blocked:
		return answer{ExitNo}
	}
	return answer{ExitInternal}
}

// commands returns command lines as hints show them.
func (e *Env) commands() inspect.Commands {
	return inspect.Commands{FDB: e.command, Kubectl: e.kubectl}
}
