package status

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// incorrectCommandLine: a process runs with other arguments, or in another version, than it
// would start with.
var incorrectCommandLine = condition{v1beta2.ConditionIncorrectCommandLine, func(f GroupFacts) (verdict, error) {
	if f.pod == nil || f.pod.DeletionTimestamp != nil {
		return cleared, nil
	}
	variables := f.S.PodFiles[f.pod.Name].Variables
	running := slices.Concat(f.processes, f.misnamed)
	if len(running) == 0 || variables == nil {
		return keep, nil
	}
	launch, err := objects.LaunchOf(f.pod, f.Group.ProcessClass)
	if err != nil {
		return keep, err
	}
	configuration, err := f.monitors.Of(f.S.Cluster, launch)
	if err != nil {
		return keep, err
	}
	for _, p := range running {
		want, err := objects.CommandLineFrom(configuration, launch, p.number, variables)
		if errors.Is(err, objects.ErrCommandLineTooLong) {
			return keep, fmt.Errorf("%s: %w: shorten the custom parameters", f.Group.ProcessGroupID, err)
		}
		if err != nil {
			return keep, nil // the pod has not reported all variables: the command line cannot be compared yet
		}
		if p.CommandLine != want || !f.rightVersion(*p.Process) {
			return holds, nil
		}
	}
	return cleared, nil
}}

// rightVersion always returns true during a patch upgrade: versions are mixed then.
func (f GroupFacts) rightVersion(p fdb.Process) bool {
	return f.versionsMixed || readings.Released(p) == f.S.Cluster.Spec.Version
}
