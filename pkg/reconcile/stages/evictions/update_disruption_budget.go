package evictions

import (
	"fmt"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// UpdateDisruptionBudget keeps the PodDisruptionBudget of a cluster that requests one, so that
// evictions by other clients follow the rules as well: at most one pod with data or coordination
// state at a time, and none while the database could not lose any one of them.
//
// Evictions are what a budget limits. Passes delete pods, after their own checks, so a closed
// budget delays none of them; a pod that a pass has deleted is not ready, and the budget is closed
// until it is ready again.
//
// The stage runs before pods are added and after pods are removed: the number has to be higher
// before a new pod is ready, or the new pod would make room for the eviction of two others.
var UpdateDisruptionBudget = plan.Stage{
	Name:  plan.StageUpdateDisruptionBudget,
	Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.DisruptionBudgets,
	Decide: func(s plan.Snapshot) plan.Decision {
		requested, err := plan.OptedIn(s.Cluster, plan.AnnotationDisruptionBudgets)
		switch {
		case err != nil:
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAnnotationInvalid, Manual: true, Reason: err.Error()}}
		case !requested:
			return withoutBudget(s)
		case s.DisruptionBudgetsHidden != "":
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBudgetsUnknown, Manual: true, Reason: "the PodDisruptionBudgets are unknown", Detail: s.DisruptionBudgetsHidden}}
		}
		conflicts, err := readings.ConflictingDisruptionBudgets(s)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		d, err := withBudget(s, conflicts)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		return d
	},
}

// budgetRetry is when to read again whether the budget may be opened.
const budgetRetry = 30 * time.Second

// withoutBudget deletes the budget that earlier passes kept. If budgets cannot be read, passes have created
// none.
func withoutBudget(s plan.Snapshot) plan.Decision {
	own := readings.OwnDisruptionBudget(s)
	if own == nil || own.DeletionTimestamp != nil {
		return plan.Decision{}
	}
	return plan.Decision{
		Why:     fmt.Sprintf("annotation %s does not request it any more", plan.AnnotationDisruptionBudgets),
		Actions: []plan.Action{plan.DeleteDisruptionBudget{Name: own.Name, UID: own.UID}},
	}
}

// withBudget updates the budget, or creates it unless another budget conflicts with it.
func withBudget(s plan.Snapshot, conflicts []string) (plan.Decision, error) {
	pods, err := readings.PodsInDisruptionBudget(s)
	if err != nil {
		return plan.Decision{}, err
	}
	d := plan.Decision{Checks: safety.MayLoseAnyPod(s)}
	stay := pods
	if refused, isRefused := d.Refused(); !isRefused {
		stay = max(0, pods-1)
	} else if !safety.NeverDisruptable(s) {
		d.Hold = &plan.Hold{Code: plan.HoldBudgetClosed, RetryAfter: budgetRetry, Reason: "the PodDisruptionBudget allows no eviction", Detail: refused.Evidence}
	}
	want := objects.DisruptionBudget(s.Cluster, stay)
	have := readings.OwnDisruptionBudget(s)
	switch {
	case have == nil && len(conflicts) == 0:
		d.Why = fmt.Sprintf("annotation %s requests it", plan.AnnotationDisruptionBudgets)
		d.Actions = []plan.Action{plan.ApplyDisruptionBudget{Name: want.Name, Pods: pods, MinAvailable: stay, Object: want, Create: true}}
	case have != nil:
		if merged, differs := mergedBudget(have, want); differs {
			d.Why = "it differs from the pods of the cluster and the state of the database"
			d.Actions = []plan.Action{plan.ApplyDisruptionBudget{Name: want.Name, Pods: pods, MinAvailable: stay, Object: merged}}
		}
	}
	if len(conflicts) > 0 {
		d.Hold = conflictHold(conflicts)
	}
	return d, nil
}

func mergedBudget(have, want *policyv1.PodDisruptionBudget) (merged *policyv1.PodDisruptionBudget, differs bool) {
	merged = have.DeepCopy()
	differs = readings.MergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
	if !equality.Semantic.DeepEqual(have.Spec, want.Spec) {
		want.Spec.DeepCopyInto(&merged.Spec)
		differs = true
	}
	return merged, differs
}

func conflictHold(names []string) *plan.Hold {
	return &plan.Hold{
		Code: plan.HoldBudgetConflict, Subjects: names, Manual: true,
		Reason: fmt.Sprintf("PodDisruptionBudget %s selects pods of this cluster as well, and Kubernetes refuses every eviction of a pod with two; delete it, or remove annotation %s",
			strings.Join(names, ", "), plan.AnnotationDisruptionBudgets),
	}
}
