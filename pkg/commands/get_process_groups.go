package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// groupsOptions are the options of `kubectl fdb get process-groups`.
type groupsOptions struct {
	viewOptions
	selection
	all bool
}

func newGetProcessGroups(env *Env) *cobra.Command {
	var o groupsOptions
	cmd := &cobra.Command{
		Use:     "process-groups [CLUSTER] [ID...]",
		Aliases: []string{"pg", "process-group", "processgroups", "processgroup"},
		Short:   "List process groups",
		Long: `List process groups with their pods, roles, conditions and exclusions.

ID is a process group ID, a pod name, an address, or - for stdin.`,
		Example: `  # List all process groups
  kubectl fdb get pg sample-cluster

  # List those that have been failing for half an hour
  kubectl fdb get pg sample-cluster --condition PodFailing,MissingProcesses --older-than 30m

  # Find a process group by address
  kubectl fdb get pg sample-cluster 10.1.0.7:4501

  # List those without a pod, in all clusters
  kubectl fdb get pg -A --condition MissingPod

  # Print IDs, for scripts
  kubectl fdb get pg sample-cluster --class storage -o name`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.viewOptions.add(cmd, env)
	o.selection.add(cmd, env)
	cmd.ValidArgsFunction = env.clusterThenGroups
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the process groups of the clusters of all namespaces")
	return cmd
}

func (o groupsOptions) run(ctx context.Context, env *Env, args []string) error {
	cluster, ids := splitIDs(args, o.name)
	ids, err := expandArgs(slices.Concat(ids, o.ids), env.In)
	if err != nil {
		return err
	}
	o.ids = ids
	keep, err := o.filter()
	if err != nil {
		return err
	}
	if o.all {
		return o.runOnAll(ctx, env, len(args) > 0 || o.name != "" || len(ids) > 0, keep)
	}
	return o.display(ctx, env, cluster, func(ctx context.Context, key types.NamespacedName) (output, error) {
		return o.view(ctx, env, key)
	})
}

func (o groupsOptions) view(ctx context.Context, env *Env, key types.NamespacedName) (output, error) {
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	if err != nil {
		return output{}, err
	}
	among, err := o.match(env, key, facts)
	if err != nil {
		return output{}, err
	}
	v := inspect.NewGroupListView(env.metadata(key), facts)
	v.Items = slices.DeleteFunc(v.Items, func(g inspect.GroupView) bool { return !hasGroup(among, g.ID) })
	return o.listed(env, v, "no process group of "+key.Name+" matches"), nil
}

func (o groupsOptions) listed(env *Env, v inspect.GroupListView, none string) output {
	r := output{warnings: v.Warnings, printable: printable{
		document: v, names: namesOf("processgroup", v.Items, func(g inspect.GroupView) string { return g.ID }),
		table: func(w io.Writer) error { return ui.WriteGroups(w, v, o.list(env)) },
	}}
	if len(v.Items) == 0 {
		r.none = none
	}
	return r
}

func hasGroup(groups []*v1beta2.ProcessGroupStatus, id string) bool {
	return slices.ContainsFunc(groups, func(g *v1beta2.ProcessGroupStatus) bool { return string(g.ProcessGroupID) == id })
}

// selection selects process groups; zero fields match all.
type selection struct {
	ids, classes, conditions, zones, nodes []string
	olderThan                              time.Duration
	removing, excluded                     bool
	labels                                 string
}

func (s *selection) add(cmd *cobra.Command, env *Env) {
	flags := cmd.Flags()
	flags.StringSliceVar(&s.ids, "process-group", nil, "comma-separated process groups to select, by ID, pod name or address; - reads stdin")
	flags.StringSliceVar(&s.classes, "class", nil, "comma-separated process classes to select")
	flags.StringSliceVar(&s.conditions, "condition", nil, "comma-separated conditions; select process groups with any of them")
	flags.StringSliceVar(&s.zones, "zone", nil, "comma-separated zones to select")
	flags.StringSliceVar(&s.nodes, "node", nil, "comma-separated nodes to select")
	flags.DurationVar(&s.olderThan, "older-than", 0, "minimum age of a condition of selected process groups; with --condition, of one of these conditions")
	flags.BoolVar(&s.removing, "removing", false, "If true, select process groups marked for removal")
	flags.BoolVar(&s.excluded, "excluded", false, "If true, select process groups with an exclusion, in progress or complete")
	flags.StringVarP(&s.labels, "selector", "l", "", "label selector for the pods of process groups")
	complete(cmd, "class", func() []string { return phrase.Strings(v1beta2.ProcessClasses()) })
	complete(cmd, "condition", func() []string { return phrase.Strings(conditionTypes()) })
	completeWith(cmd, "process-group", env.groupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }))
	completeWith(cmd, "node", env.nodeNames)
	completeWith(cmd, "zone", env.groupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.FaultDomain) }))
}

// conditionTypes returns all conditions that a process group can have.
func conditionTypes() []v1beta2.ProcessGroupConditionType {
	return []v1beta2.ProcessGroupConditionType{
		v1beta2.ConditionIncorrectPodSpec, v1beta2.ConditionIncorrectPodMetadata, v1beta2.ConditionIncorrectConfigMap,
		v1beta2.ConditionIncorrectCommandLine, v1beta2.ConditionIncorrectSidecarImage, v1beta2.ConditionPodFailing,
		v1beta2.ConditionPodPending, v1beta2.ConditionMissingPod, v1beta2.ConditionMissingPVC, v1beta2.ConditionMissingService,
		v1beta2.ConditionMissingProcesses, v1beta2.ConditionResourcesTerminating, v1beta2.ConditionSidecarUnreachable,
		v1beta2.ConditionReady, v1beta2.ConditionNodeTaintDetected, v1beta2.ConditionNodeTaintReplacing,
		v1beta2.ConditionProcessIsMarkedAsExcluded, v1beta2.ConditionProcessHasIOError, v1beta2.ConditionProcessHasHighRunLoopBusy,
	}
}

// groupFilter reports whether a group is selected.
type groupFilter func(g inspect.GroupView, now time.Time) bool

// filter returns the filter of the flags, without the names.
func (s selection) filter() (groupFilter, error) {
	selector, err := labels.Parse(s.labels)
	if err != nil {
		return nil, usage(fmt.Errorf("invalid -l: %w", err))
	}
	if s.olderThan < 0 {
		return nil, usagef("--older-than must not be negative")
	}
	for _, c := range s.conditions {
		if !slices.Contains(phrase.Strings(conditionTypes()), c) {
			return nil, usagef("unknown condition %q: must be one of %s%s", c, phrase.List(conditionTypes()), orMeant(c, phrase.Strings(conditionTypes())))
		}
	}
	for _, c := range s.classes {
		if !v1beta2.ProcessClass(c).IsKnown() {
			return nil, usagef("unknown process class %q: must be one of %s%s", c, phrase.List(v1beta2.ProcessClasses()), orMeant(c, phrase.Strings(v1beta2.ProcessClasses())))
		}
	}
	return func(g inspect.GroupView, now time.Time) bool {
		return anyOf(s.classes, g.Class) && anyOf(s.zones, g.Zone) && anyOf(s.nodes, g.Node) &&
			(!s.removing || g.RemovalSince != nil) && (!s.excluded || g.Excluded()) &&
			(s.labels == "" || selector.Matches(labels.Set(g.Labels()))) && s.hasCondition(g, now)
	}, nil
}

// anyOf reports whether any of the values matches; if none are given, all do.
func anyOf(wanted []string, values ...string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) })
}

func (s selection) hasCondition(g inspect.GroupView, now time.Time) bool {
	if len(s.conditions) == 0 && s.olderThan == 0 {
		return true
	}
	if len(g.Conditions) == 0 {
		return slices.Contains(s.conditions, string(v1beta2.ConditionReady)) && s.olderThan == 0
	}
	return slices.ContainsFunc(g.Conditions, func(c inspect.ConditionView) bool {
		return anyOf(s.conditions, c.Type) && (s.olderThan == 0 || c.Since != nil && now.Sub(*c.Since) > s.olderThan)
	})
}
