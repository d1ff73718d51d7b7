package apply

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// stageAliases are the names in newer releases of the operator.
var stageAliases = map[string]plan.StageName{
	"ExcludeProcesses":                  plan.StageExcludeInstances,
	"RemoveProcessGroups":               plan.StageRemovePods,
	"UpdateMetadata":                    plan.StageUpdateLabels,
	"ReplaceFailedProcessGroups":        plan.StageReplaceFailedPods,
	"ReplaceMisconfiguredProcessGroups": plan.StageReplaceMisconfiguredPods,
}

// StageFlags select the stages of a pass, and configure them.
type StageFlags struct {
	Only, Skip []string
	Options    plan.Options
}

// Stages returns the stages to run, in their order.
func (f StageFlags) Stages() ([]plan.Stage, error) { return f.chosen(stages.ClusterWith(f.Options)) }

// chosen returns those of all stages that are to run, in their order.
func (f StageFlags) chosen(from []plan.Stage) ([]plan.Stage, error) {
	only, err := canonical(f.Only, from)
	if err != nil {
		return nil, err
	}
	skip, err := canonical(f.Skip, from)
	if err != nil {
		return nil, err
	}
	from = slices.DeleteFunc(from, func(s plan.Stage) bool {
		return (len(only) > 0 && !slices.Contains(only, s.Name)) || slices.Contains(skip, s.Name)
	})
	if len(from) == 0 {
		return nil, exit.Usagef("--only and --skip leave no stage to run")
	}
	return from, nil
}

// StageNames returns the names of all stages that can be selected, in their order.
func StageNames() []plan.StageName { return stageNames(stages.ClusterWith(plan.Options{Adopt: true})) }

// facetsOf returns the facets of the cluster state that stages read, or may read.
func facetsOf(from []plan.Stage) plan.Facet {
	var facets plan.Facet
	for _, s := range from {
		facets |= s.Reads | s.More
	}
	return facets
}

// canonical maps names and aliases to the names of existing stages.
func canonical(names []string, from []plan.Stage) ([]plan.StageName, error) {
	known := stageNames(from)
	out := make([]plan.StageName, len(names))
	for i, name := range names {
		out[i] = plan.StageName(name)
		if alias, ok := stageAliases[name]; ok {
			out[i] = alias
		}
		if !slices.Contains(known, out[i]) {
			return nil, session.Unknown("stage", name, phrase.Strings(known))
		}
	}
	return out, nil
}

// stageNames returns the names of stages, each once, in their order.
func stageNames(from []plan.Stage) []plan.StageName {
	var names []plan.StageName
	for _, s := range from {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
