package stagestest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// FirstPod returns the pod of the first storage group.
func FirstPod(s *plan.Snapshot) *corev1.Pod { return s.Pod(FirstOf(*s, "storage")) }

// Report changes what the first storage pod reports.
func Report(edit func(*plan.PodReport)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		r := s.PodFiles[FirstPod(s).Name]
		edit(&r)
		s.PodFiles[FirstPod(s).Name] = r
	}
}
