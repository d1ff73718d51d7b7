package commands

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// statusOptions are the options of `kubectl fdb status`.
type statusOptions struct {
	clusterFlag
	outputFlags
	pollOptions
	all      bool
	sections []string
}

func newStatus(env *Env) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show the health of a cluster",
		Long: `Show the health of a cluster: a summary sentence, followed by its evidence. Each section
names the source of its facts and their age. A database that does not answer is never
reported as available.

Exit code 0: healthy. 1: not healthy. 8: unknown.`,
		Example: `  # Show the health of a cluster
  kubectl fdb status sample-cluster

  # Show only data and coordinators
  kubectl fdb status sample-cluster --sections fault-tolerance,coordinators

  # List all clusters that you may read
  kubectl fdb status -A

  # Wait at most ten minutes until it is healthy
  kubectl fdb status sample-cluster --wait --timeout 10m`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	o.addWatch(cmd)
	o.addWait(cmd, "the cluster is healthy")
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	cmd.Flags().StringSliceVar(&o.sections, "sections", nil, "comma-separated sections to print: "+strings.Join(ui.StatusSections(), ", "))
	complete(cmd, "sections", ui.StatusSections)
	return cmd
}

// checkSections validates --sections.
func (o statusOptions) checkSections() error {
	if len(o.sections) == 0 {
		return nil
	}
	if o.all || !o.isTable() {
		return usagef("--sections conflicts with -A and -o %s", o.format)
	}
	for _, name := range o.sections {
		if !slices.Contains(ui.StatusSections(), name) {
			return usagef("unknown section %q: must be one of %s", name, strings.Join(ui.StatusSections(), ", "))
		}
	}
	return nil
}

func (o statusOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := errors.Join(o.outputFlags.check(), o.pollOptions.check(), o.checkSections()); err != nil {
		return err
	}
	ctx, stop := withTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	see, err := o.reader(ctx, env, args)
	if err != nil {
		return causeOf(ctx, err)
	}
	return o.pollOptions.run(ctx, env, o.outputFlags, see)
}

// reader returns the function that reads once: one cluster, or all.
func (o statusOptions) reader(ctx context.Context, env *Env, args []string) (viewFunc, error) {
	if o.all {
		if len(args) > 0 || o.name != "" {
			return nil, usagef("-A conflicts with a cluster name")
		}
		return func(ctx context.Context) (output, error) { return listClusters(ctx, env, o.outputFlags, "") }, nil
	}
	record, err := env.cluster(ctx, args, o.name, reads)
	if err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.about = key
	return func(ctx context.Context) (output, error) { return o.view(ctx, env, key) }, nil
}

func (o statusOptions) view(ctx context.Context, env *Env, key types.NamespacedName) (output, error) {
	metadata := env.metadata(key)
	seen := clusterReader{env: env, key: key}
	if o.isTable() && !o.wait && !env.global.quiet {
		seen.slow = func(f inspect.Facts) { _ = o.screen(env, env.ErrOut, inspect.NewStatusView(metadata, f)) }
	}
	facts, err := seen.facts(ctx)
	if err != nil {
		return output{}, err
	}
	if facts.Backups, err = (backupsReader{env: env, key: key}).records(ctx); err != nil {
		return output{}, err
	}
	v := inspect.NewStatusView(metadata, facts)
	return output{
		printable: printable{
			document: v, names: []string{"foundationdbcluster/" + key.Name},
			table: func(w io.Writer) error { return o.screen(env, w, v) },
		},
		code: stateCode(v.State), reason: v.Summary,
	}, nil
}

func (o statusOptions) screen(env *Env, w io.Writer, v inspect.StatusView) error {
	return ui.WriteStatus(w, v, ui.StatusOptions{Paint: env.paint(w), Wide: o.format == "wide", Absolute: o.absolute, Now: env.Clock.Now(), Sections: o.sections})
}

func stateCode(s inspect.State) int {
	switch s {
	case inspect.StateHealthy:
		return ExitDone
	case inspect.StateUnknown:
		return ExitUnreachable
	default:
		return ExitNo
	}
}
