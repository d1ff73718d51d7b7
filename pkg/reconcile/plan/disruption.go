package plan

import (
	"fmt"
	"maps"
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Annotations by which users opt in to what passes do beside the spec. The resource has no
// fields for it, and the operator ignores them.
const (
	// AnnotationDisruptionBudgets, set to true on a FoundationDBCluster, makes passes keep a
	// PodDisruptionBudget over its pods with data or coordination state.
	AnnotationDisruptionBudgets = "kubectl-fdb/pod-disruption-budgets"
	// AnnotationTolerations, set to true on a FoundationDBCluster or a FoundationDBBackup, makes
	// passes set on its pods how long they wait for a lost node.
	AnnotationTolerations = "kubectl-fdb/tolerations"
)

// OptedIn reports whether an annotation of a resource is true. Absent and false are the same; any
// other value is an error, since the intention is unknown.
func OptedIn(o metav1.Object, annotation string) (bool, error) {
	switch value, found := o.GetAnnotations()[annotation]; {
	case !found, value == strconv.FormatBool(false):
		return false, nil
	case value == strconv.FormatBool(true):
		return true, nil
	default:
		return false, fmt.Errorf("annotation %s is %q: must be true or false", annotation, value)
	}
}

// ApplyDisruptionBudget creates the PodDisruptionBudget of a cluster, or updates it.
type ApplyDisruptionBudget struct {
	Name string `json:"name"`
	// Pods is how many pods it covers, those included that do not exist yet.
	Pods int `json:"pods"`
	// MinAvailable is how many of them have to stay ready.
	MinAvailable int                           `json:"minAvailable"`
	Object       *policyv1.PodDisruptionBudget `json:"-"`
	// Create is true when it does not exist yet.
	Create bool `json:"create,omitempty"`
}

// Describe implements Action.
func (a ApplyDisruptionBudget) Describe() string {
	verb := "update"
	if a.Create {
		verb = "create"
	}
	return fmt.Sprintf("%s PodDisruptionBudget %s: %d of %s must stay", verb, a.Name, a.MinAvailable, phrase.Count(a.Pods, "pod"))
}

// Subject implements Action.
func (a ApplyDisruptionBudget) Subject() string { return "poddisruptionbudget/" + a.Name }

func (ApplyDisruptionBudget) effect() Effect {
	return Effect{Stale: DisruptionBudgets, Impact: NoImpact}
}

// Apply implements Edit.
func (a ApplyDisruptionBudget) Apply(s Snapshot) Snapshot {
	s.DisruptionBudgets = cloned(s.DisruptionBudgets)
	s.DisruptionBudgets[a.Name] = a.Object
	return s
}

// DeleteDisruptionBudget deletes the PodDisruptionBudget of a cluster.
type DeleteDisruptionBudget struct {
	Name string    `json:"name"`
	UID  types.UID `json:"-"`
}

// Describe implements Action.
func (a DeleteDisruptionBudget) Describe() string { return "delete PodDisruptionBudget " + a.Name }

// Subject implements Action.
func (a DeleteDisruptionBudget) Subject() string { return "poddisruptionbudget/" + a.Name }

func (DeleteDisruptionBudget) effect() Effect {
	return Effect{Stale: DisruptionBudgets, Impact: NoImpact}
}

// Apply implements Edit.
func (a DeleteDisruptionBudget) Apply(s Snapshot) Snapshot {
	s.DisruptionBudgets = cloned(s.DisruptionBudgets)
	delete(s.DisruptionBudgets, a.Name)
	return s
}

// cloned returns a copy of a map that can be written to, also of one that is nil.
func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}
