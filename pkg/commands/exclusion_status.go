package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// exclusionStatusOptions is what `kubectl fdb exclusion status` was asked.
type exclusionStatusOptions struct {
	lookOptions
	selection
	// others lists exclusions of no process group of the resource, too.
	others bool
}

const exclusionInterval = 15 * time.Second

const exclusionStatusLong = `Show how far exclusions are, process by process.

  wanted      marked for removal, and not excluded yet
  asked       excluded; how far that is cannot be told now
  moving      excluded, and it still has data or roles to give away
  unverified  nothing shows on it any more, which alone proves nothing; the reason follows
  safe        proven: nothing of the database depends on it

Only "safe" means that a process may go, by the same proof that a pass asks for before it
deletes anything. What is left is bytes of storage; a log leaves with its generation.
RATE and ETA need three looks, and so --watch or --wait; the range after the ETA is how
far it may be off. Looking changes nothing: no exclusion is ever repeated.

Exit code 0: all that is listed is safe. 1: some is not. 3: --timeout was over. 8: nobody
can tell.`

func newExclusionStatus(env *Env) *cobra.Command {
	var o exclusionStatusOptions
	cmd := &cobra.Command{
		Use:   "status [CLUSTER] [ID...]",
		Short: "Show how far exclusions are, and what is safe to remove",
		Long:  exclusionStatusLong,
		Example: `  # How far is it?
  kubectl fdb exclusion status sample-cluster

  # Again every 15 s, with rate and time left
  kubectl fdb exclusion status sample-cluster -w

  # One object per line, for scripts
  kubectl fdb exclusion status sample-cluster -w -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, env)
	o.addWatch(cmd)
	o.addWait(cmd, "all that is listed is safe")
	o.interval = exclusionInterval
	return cmd
}

// newExclusionWait is exclusion status --wait under a name of its own.
func newExclusionWait(env *Env) *cobra.Command {
	var o exclusionStatusOptions
	cmd := &cobra.Command{
		Use:   "wait [CLUSTER] [ID...]",
		Short: "Wait until what is excluded is safe to remove",
		Long:  "Wait until what is excluded is safe to remove; the same as exclusion status --wait.\n\n" + exclusionStatusLong,
		Example: `  # Until everything that is excluded may go
  kubectl fdb exclusion wait sample-cluster --timeout 2h

  # Until these process groups may go, whoever excludes them, and whenever
  kubectl fdb exclusion wait sample-cluster storage-4711 storage-4712`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.wait = true
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, env)
	o.addTimeout(cmd)
	o.interval = exclusionInterval
	return cmd
}

func (o *exclusionStatusOptions) add(cmd *cobra.Command, env *Env) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = env.clusterThenGroups
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	o.selection.add(cmd, env)
	cmd.Flags().BoolVar(&o.others, "all", false, "also exclusions of no process group of this resource: other instances', and what was left behind")
	cmd.Flags().DurationVar(&o.interval, "interval", exclusionInterval, "how long to rest between two looks")
}

func (o exclusionStatusOptions) run(ctx context.Context, env *Env, args []string) error {
	const shortest = time.Second
	if o.interval < shortest {
		return usagef("--interval is %s at least", shortest)
	}
	cluster, ids := splitIDs(args, o.name)
	words, err := wordsOf(append(ids, o.ids...), env.In)
	if err != nil {
		return err
	}
	o.ids = nil
	keep, err := o.filter()
	if err != nil {
		return err
	}
	history := &ui.DrainHistory{}
	return o.look(ctx, env, cluster, func(ctx context.Context, key types.NamespacedName) (looked, error) {
		return o.see(ctx, env, key, words, keep, history)
	})
}

func (o exclusionStatusOptions) see(ctx context.Context, env *Env, key types.NamespacedName, words []string, keep groupFilter, h *ui.DrainHistory) (looked, error) {
	facts, err := exclusionFacts(ctx, env, key)
	if err != nil {
		return looked{}, err
	}
	named, err := groupsNamed(facts.Snapshot, words)
	if err != nil {
		return looked{}, err
	}
	isNamed := func(g ui.GroupView) bool {
		return len(named) == 0 || slices.ContainsFunc(named, func(n *v1beta2.ProcessGroupStatus) bool { return string(n.ProcessGroupID) == g.ID })
	}
	v := ui.NewExclusionStatusView(env.metadata(key), facts, ui.ExclusionQuestion{
		Keep: func(g ui.GroupView) bool { return isNamed(g) && keep(g, facts.Now) }, Named: len(named) > 0, Others: o.others,
	}, h)
	r := looked{
		warnings: v.Warnings, code: drainCode(v), reason: v.Summary,
		printable: printable{
			document: v, names: drainNames(v),
			table: func(w io.Writer) error { return ui.WriteExclusionStatus(w, v, o.list(env)) },
		},
	}
	if v.Safe == nil {
		r.warnings = append(slices.Clone(v.Warnings), v.Summary)
	}
	if len(v.Items) == 0 && v.Safe != nil {
		r.none = noneExcluded(v)
	}
	return r, nil
}

func drainCode(v ui.ExclusionStatusView) int {
	switch {
	case v.Safe == nil:
		return ExitUnreachable
	case *v.Safe:
		return ExitDone
	default:
		return ExitNo
	}
}

// drainNames are the process groups, each once.
func drainNames(v ui.ExclusionStatusView) []string {
	var names []string
	for _, d := range v.Items {
		if name := "processgroup/" + d.ID; d.ID != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func noneExcluded(v ui.ExclusionStatusView) string {
	words := "no process group of " + v.Metadata.Cluster + " that matches is excluded or wanted to be"
	if v.Others != nil && *v.Others > 0 {
		words += fmt.Sprintf("; %d exclusions are of others, --all lists them", *v.Others)
	}
	return words
}
