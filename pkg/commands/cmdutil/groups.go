package cmdutil

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Chooses reports whether anything is selected: an empty selection must not mean all groups.
func (s Selection) Chooses() bool {
	return len(s.IDs)+len(s.Classes)+len(s.Conditions)+len(s.Zones)+len(s.Nodes) > 0 ||
		s.OlderThan > 0 || s.Removing || s.Excluded || s.Labels != ""
}

// ReadIDs takes the process groups from the arguments, and returns the cluster among them. An
// empty selection is a usage error.
func (s *Selection) ReadIDs(ctx context.Context, env *session.Env, args []string, flag string) (cluster []string, err error) {
	cluster, ids := session.GroupArgs(ctx, env, args, flag)
	s.IDs, err = ExpandArgs(slices.Concat(ids, s.IDs), env.In)
	if err == nil {
		err = s.MustChoose()
	}
	return cluster, err
}

// MustChoose refuses an empty selection.
func (s Selection) MustChoose() error {
	if !s.Chooses() {
		return exit.Usagef("process groups are required: as arguments, or selected with --class, --condition, --node, --zone or -l")
	}
	return nil
}

// Choose returns the process groups of a command: those named by ID, pod or address, or all,
// filtered by the flags.
func (s Selection) Choose(ctx context.Context, env *session.Env, key types.NamespacedName) ([]v1beta2.ProcessGroupID, error) {
	if _, err := s.Filter(); err != nil {
		return nil, err // fail before reading
	}
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return s.ChooseFrom(key, facts)
}

// ChooseFrom selects among the observed process groups.
func (s Selection) ChooseFrom(key types.NamespacedName, facts inspect.Facts) ([]v1beta2.ProcessGroupID, error) {
	among, err := s.Match(facts)
	if err != nil {
		return nil, err
	}
	if len(among) == 0 {
		return nil, exit.Usage(&NoneChosenError{key.Name})
	}
	chosen := make([]v1beta2.ProcessGroupID, len(among))
	for i, g := range among {
		chosen[i] = g.ProcessGroupID
	}
	return chosen, nil
}

// NoneChosenError is that a selection matches no process group of a cluster.
type NoneChosenError struct {
	// Cluster is the name of the cluster.
	Cluster string
}

func (e *NoneChosenError) Error() string {
	return "no process group of " + e.Cluster + " matches (nothing was changed)"
}

// Match returns the named process groups, or all, filtered by the flags.
func (s Selection) Match(facts inspect.Facts) ([]*v1beta2.ProcessGroupStatus, error) {
	keep, err := s.Filter()
	if err != nil {
		return nil, err
	}
	named, err := session.GroupsNamed(facts.Snapshot, s.IDs)
	if err != nil {
		return nil, err
	}
	var among []*v1beta2.ProcessGroupStatus
	for _, g := range facts.Groups() {
		if (len(s.IDs) == 0 || slices.Contains(named, g)) && keep(facts, g) {
			among = append(among, g)
		}
	}
	return among, nil
}

// AsParent makes a command without an action of its own fail with the list of its subcommands, if none or an
// unknown one is given. Cobra itself prints the help and succeeds.
func AsParent(cmd *cobra.Command, what string) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var children []string
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				children = append(children, child.Name())
			}
		}
		if len(args) == 0 {
			return exit.Usage(errors.New(what+" is required: must be one of "+strings.Join(children, ", ")), cmd.CommandPath()+" --help")
		}
		return session.Unknown(what, args[0], children, cmd.CommandPath()+" --help")
	}
}

// AlsoCalled has a command accept other names of its flags, as the operator's plugin calls them.
func AlsoCalled(cmd *cobra.Command, own map[string]string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if ours, is := own[name]; is {
			name = ours
		}
		return pflag.NormalizedName(name)
	})
}

// Selection selects process groups; zero fields match all.
type Selection struct {
	IDs, Classes, Conditions, Zones, Nodes []string
	OlderThan                              time.Duration
	Removing, Excluded                     bool
	Labels                                 string
}

// ConditionTypes returns all conditions that a process group can have.
func ConditionTypes() []v1beta2.ProcessGroupConditionType {
	return []v1beta2.ProcessGroupConditionType{
		v1beta2.ConditionIncorrectPodSpec, v1beta2.ConditionIncorrectPodMetadata, v1beta2.ConditionIncorrectConfigMap,
		v1beta2.ConditionIncorrectCommandLine, v1beta2.ConditionIncorrectSidecarImage, v1beta2.ConditionPodFailing,
		v1beta2.ConditionPodPending, v1beta2.ConditionMissingPod, v1beta2.ConditionMissingPVC, v1beta2.ConditionMissingService,
		v1beta2.ConditionMissingProcesses, v1beta2.ConditionResourcesTerminating, v1beta2.ConditionSidecarUnreachable,
		v1beta2.ConditionReady, v1beta2.ConditionNodeTaintDetected, v1beta2.ConditionNodeTaintReplacing,
		v1beta2.ConditionProcessIsMarkedAsExcluded, v1beta2.ConditionProcessHasIOError, v1beta2.ConditionProcessHasHighRunLoopBusy,
	}
}

// GroupFilter reports whether a group is selected.
type GroupFilter func(f inspect.Facts, g *v1beta2.ProcessGroupStatus) bool

// Filter returns the filter of the flags, without the names.
func (s Selection) Filter() (GroupFilter, error) {
	selector, err := labels.Parse(s.Labels)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("invalid -l: %w", err))
	}
	for _, c := range s.Conditions {
		if !slices.Contains(phrase.Strings(ConditionTypes()), c) {
			return nil, session.Unknown("condition", c, phrase.Strings(ConditionTypes()))
		}
	}
	for _, c := range s.Classes {
		if !v1beta2.ProcessClass(c).IsKnown() {
			return nil, session.Unknown("process class", c, phrase.Strings(v1beta2.ProcessClasses()))
		}
	}
	return func(f inspect.Facts, g *v1beta2.ProcessGroupStatus) bool {
		pod := f.Pod(g)
		if pod == nil {
			pod = &corev1.Pod{}
		}
		return AnyOf(s.Classes, string(g.ProcessClass)) && AnyOf(s.Zones, f.ZoneOf(g)) && AnyOf(s.Nodes, pod.Spec.NodeName) &&
			(!s.Removing || g.RemovalTimestamp != nil) && (!s.Excluded || f.Exclusion(g).IsExcluded()) &&
			(s.Labels == "" || selector.Matches(labels.Set(pod.Labels))) && s.hasCondition(f, g)
	}, nil
}

// AnyOf reports whether any of the values matches; if none are given, all do.
func AnyOf(desired []string, values ...string) bool {
	return len(desired) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(desired, v) })
}

func (s Selection) hasCondition(f inspect.Facts, g *v1beta2.ProcessGroupStatus) bool {
	if len(s.Conditions) == 0 && s.OlderThan == 0 {
		return true
	}
	if len(g.ProcessGroupConditions) == 0 {
		return slices.Contains(s.Conditions, string(v1beta2.ConditionReady)) && s.OlderThan == 0
	}
	return slices.ContainsFunc(f.ConditionsOf(g), func(c inspect.ConditionView) bool {
		return AnyOf(s.Conditions, c.Type) && (s.OlderThan == 0 || c.Since != nil && f.Now.Sub(*c.Since) > s.OlderThan)
	})
}

// ExpandArgs replaces each "-" by the words on stdin, one or more a line.
func ExpandArgs(ids []string, stdin io.Reader) ([]string, error) {
	var words []string
	for _, id := range ids {
		if id != session.FromStdin {
			words = append(words, id)
			continue
		}
		lines := bufio.NewScanner(stdin)
		for lines.Scan() {
			words = append(words, strings.Fields(lines.Text())...)
		}
		if err := lines.Err(); err != nil {
			return nil, exit.Usage(fmt.Errorf("read stdin: %w", err))
		}
	}
	if len(ids) > 0 && len(words) == 0 {
		return nil, exit.Usage(errors.New("stdin is empty: process groups expected"))
	}
	return words, nil
}
