package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// stepAliases are the names that newer releases of the operator use.
var stepAliases = map[string]string{
	"ExcludeProcesses":                  "ExcludeInstances",
	"RemoveProcessGroups":               "RemovePods",
	"UpdateMetadata":                    "UpdateLabels",
	"ReplaceFailedProcessGroups":        "ReplaceFailedPods",
	"ReplaceMisconfiguredProcessGroups": "ReplaceMisconfiguredPods",
}

// stepFlags choose the steps of a pass, and how they judge.
type stepFlags struct {
	only, skip []string
	options    stages.Options
}

func (f *stepFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "run only these steps, separated by commas; each decides on the record as it is")
	cmd.Flags().StringSliceVar(&f.skip, "skip", nil, "leave these steps out, separated by commas")
	cmd.Flags().BoolVar(&f.options.ReplaceOnSecurityContextChange, "replace-on-security-context-change", false,
		"also replace process groups whose pods were made with another file group, user or group")
	cmd.Flags().BoolVar(&f.options.Adopt, "adopt", false,
		"take pods and volume claims over as they are: record that they were made from the spec that is wanted now, and say where they differ")
	for _, flag := range []string{"only", "skip"} {
		complete(cmd, flag, func() []string { return stepNames(stages.ClusterWith(stages.Options{Adopt: true})) })
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
func canonical(names []string, steps []plan.Stage) ([]string, error) {
	known := stepNames(steps)
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name
		if alias, ok := stepAliases[name]; ok {
			out[i] = alias
		}
		if !slices.Contains(known, out[i]) {
			return nil, usagef("there is no step %q; the steps are %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// stepNames are the steps' names, each once, in their order.
func stepNames(steps []plan.Stage) []string {
	var names []string
	for _, s := range steps {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
