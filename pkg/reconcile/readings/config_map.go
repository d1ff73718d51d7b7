package readings

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DifferingKeys returns the sorted data keys in which two ConfigMaps differ.
func DifferingKeys(have, want *corev1.ConfigMap) []string {
	if maps.Equal(have.Data, want.Data) && reflect.DeepEqual(have.BinaryData, want.BinaryData) {
		return nil
	}
	differs := map[string]bool{}
	for key, value := range want.Data {
		if old, ok := have.Data[key]; !ok || old != value {
			differs[key] = true
		}
	}
	for key := range have.Data {
		if _, ok := want.Data[key]; !ok {
			differs[key] = true
		}
	}
	return slices.Sorted(maps.Keys(differs))
}

// InvalidSpec returns the decision of a stage that cannot reconcile the spec: only a change of the
// spec can resolve it.
func InvalidSpec(err error) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldSpecContradiction, Reason: "invalid spec: " + err.Error(), Manual: true}}
}

// KeepsItsConfig reports whether a process group is neither synced nor waited for, because it is
// marked for removal: an unreachable pod then blocks nothing. During an upgrade to another
// protocol, and a conversion to or from TLS, it has to restart with all others: the data on it
// could not be reached otherwise.
func KeepsItsConfig(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) bool {
	return g.IsMarkedForRemoval() && !IncompatibleUpgrade(c) && !TLSConversion(c)
}

// SomeOf returns the first few of many reasons, which have commas, and how many more there are.
func SomeOf[T ~string](reasons []T) string { return phrase.SomeBy(reasons, 3, "; ") }
