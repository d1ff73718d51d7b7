// Package stages holds the steps of a reconcile pass, one file each. A stage
// decides what should be done and says why; it never acts, and it looks at
// nothing but the facets of the snapshot that it declares.
package stages

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Cluster lists the stages of a cluster pass in the order they run. The order
// matters: each stage may rely on what the earlier ones have recorded.
func Cluster() []plan.Stage {
	return []plan.Stage{
		updateStatus,
		updateConfigMap,
		replaceFailedPods,
		addProcessGroups,
		addServices,
		addPVCs,
		addPods,
		generateInitialClusterFile,
		updatePodConfig,
		updateLabels,
		updateDatabaseConfiguration,
		chooseRemovals,
		excludeInstances,
		changeCoordinators,
		bounceProcesses,
		maintenanceModeChecker,
		updatePods,
		removePods,
		reportStatus,
	}
}

// podDelay is the shortest useful wait for a pod to be scheduled, started, or to
// load a file. The operator waits 15 s; people wait in front of this tool.
const podDelay = 5 * time.Second
