package cmdutil

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
