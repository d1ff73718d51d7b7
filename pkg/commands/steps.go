package commands

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// stepAliases are the names that newer releases of the operator use.
var stepAliases = map[string]plan.StageName{
	"ExcludeProcesses":                  plan.StageExcludeInstances,
	"RemoveProcessGroups":               plan.StageRemovePods,
	"UpdateMetadata":                    plan.StageUpdateLabels,
	"ReplaceFailedProcessGroups":        plan.StageReplaceFailedPods,
	"ReplaceMisconfiguredProcessGroups": plan.StageReplaceMisconfiguredPods,
}

// stepFlags choose the steps of a pass, and how they judge.
type stepFlags struct {
	only, skip []string
	options    stages.Options
}

func (f *stepFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "comma-separated stages to run; each decides on the current status")
	cmd.Flags().StringSliceVar(&f.skip, "skip", nil, "comma-separated stages to skip")
	cmd.Flags().BoolVar(&f.options.ReplaceOnSecurityContextChange, "replace-on-security-context-change", false,
		"If true, also replace process groups whose pods were created with another file group, user or group")
	cmd.Flags().BoolVar(&f.options.Adopt, "adopt", false,
		"If true, take over pods and PVCs unchanged: record that they were created from the current spec, and report where they differ from it")
	for _, flag := range []string{"only", "skip"} {
		complete(cmd, flag, func() []string { return phrase.Strings(stepNames(stages.ClusterWith(stages.Options{Adopt: true}))) })
	}
}

// steps are the steps to run, in their order.
func (f stepFlags) steps() ([]plan.Stage, error) { return f.chosen(stages.ClusterWith(f.options)) }

// chosen are those of all steps that are to run, in their order.
func (f stepFlags) chosen(steps []plan.Stage) ([]plan.Stage, error) {
	only, err := canonical(f.only, steps)
	if err != nil {
		return nil, err
	}
	skip, err := canonical(f.skip, steps)
	if err != nil {
		return nil, err
	}
	steps = slices.DeleteFunc(steps, func(s plan.Stage) bool {
		return (len(only) > 0 && !slices.Contains(only, s.Name)) || slices.Contains(skip, s.Name)
	})
	if len(steps) == 0 {
		return nil, usagef("--only and --skip leave no step to run")
	}
	return steps, nil
}

// facetsOf are the parts of the world that steps look at, or may.
func facetsOf(steps []plan.Stage) plan.Facet {
	var facets plan.Facet
	for _, s := range steps {
		facets |= s.Reads | s.More
	}
	return facets
}

// canonical maps names and aliases to the names of steps that exist.
func canonical(names []string, steps []plan.Stage) ([]plan.StageName, error) {
	known := stepNames(steps)
	out := make([]plan.StageName, len(names))
	for i, name := range names {
		out[i] = plan.StageName(name)
		if alias, ok := stepAliases[name]; ok {
			out[i] = alias
		}
		if !slices.Contains(known, out[i]) {
			return nil, usagef("there is no step %q; the steps are %s", name, phrase.List(known))
		}
	}
	return out, nil
}

// stepNames are the steps' names, each once, in their order.
func stepNames(steps []plan.Stage) []plan.StageName {
	var names []plan.StageName
	for _, s := range steps {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
