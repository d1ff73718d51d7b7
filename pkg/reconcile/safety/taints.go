package safety

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// NodeTaintPatience is the shortest time that the spec's rules give the taints of a node;
// ok is false when no rule is about any of them, or only rules that never end are.
func NodeTaintPatience(c *v1beta2.FoundationDBCluster, node *corev1.Node) (patience time.Duration, ok bool) {
	var all []int64
	for _, taint := range node.Spec.Taints {
		all = append(all, c.TaintPatience(taint.Key)...)
	}
	if len(all) == 0 || slices.Min(all) > math.MaxInt64/int64(time.Second) {
		return 0, false
	}
	return time.Duration(slices.Min(all)) * time.Second, true
}
