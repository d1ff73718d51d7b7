package stagestest

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// WithRule adds a rule about taints to the spec. All nodes can be read.
func WithRule(key *string, seconds *int64) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		options := &s.Cluster.Spec.AutomationOptions.Replacements
		options.TaintReplacementOptions = append(options.TaintReplacementOptions, v1beta2.TaintReplacementOption{Key: key, DurationInSeconds: seconds})
		readNodes(s)
	}
}

// Rule returns a taint rule of the spec.
func Rule(key string, seconds int64) func(*plan.Snapshot) { return WithRule(&key, &seconds) }

// readNodes adds all nodes of pods to the snapshot, and keeps existing ones.
func readNodes(s *plan.Snapshot) {
	if s.Nodes == nil {
		s.Nodes = map[string]*corev1.Node{}
	}
	for _, pod := range s.Pods {
		if name := pod.Spec.NodeName; s.Nodes[name] == nil {
			s.Nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}
	}
}

// Tainted taints the node of the first storage group. The taint has the time of its addition unless
// ago is sometime.
func Tainted(key string, ago time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		pod := FirstPod(s)
		if pod == nil {
			return
		}
		readNodes(s)
		taint := corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}
		if ago != Sometime {
			taint.TimeAdded = &metav1.Time{Time: Noon.Add(-ago)}
		}
		node := s.Nodes[pod.Spec.NodeName]
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
}

// Sometime is for a taint without a time.
const Sometime time.Duration = math.MinInt64
