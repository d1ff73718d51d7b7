package live

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// parallelPods bounds how many sidecars are queried at once.
const parallelPods = 8

// podFiles reads and writes the files that pods get from the cluster's ConfigMap.
type podFiles struct {
	*Options
	known *known
}

// readPodFiles reads which files each pod uses. A unified pod reports that in its annotations,
// which were read already. A split pod's sidecar must be queried, and only where its answer
// matters: see splitReport.
func (f *podFiles) readPodFiles(ctx context.Context, s *plan.Snapshot) (map[string]plan.PodReport, error) {
	reports := map[string]plan.PodReport{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelPods)
	for name, pod := range s.Pods {
		if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		if err := objects.ValidatePod(pod, v1beta2.ProcessClass(pod.Labels[s.Cluster.ProcessClassLabels()[0]])); err != nil {
			mu.Lock()
			reports[name] = plan.PodReport{Unreachable: err.Error()} // it is unknown what reports its files
			mu.Unlock()
			continue
		}
		if objects.ImageTypeOf(pod) == v1beta2.ImageTypeUnified {
			mu.Lock()
			reports[name] = unifiedReport(pod)
			mu.Unlock()
			continue
		}
		group.Go(guarded(func() error {
			report := f.splitReport(ctx, s.Cluster, pod)
			mu.Lock()
			defer mu.Unlock()
			reports[name] = report
			return Interrupted(ctx)
		}))
	}
	return reports, group.Wait()
}

// unifiedReport reads the annotations that the monitor writes once it has accepted a
// configuration.
func unifiedReport(pod *corev1.Pod) plan.PodReport {
	variables, err := objects.Variables(pod)
	if err != nil {
		return plan.PodReport{Unreachable: err.Error()}
	}
	return plan.PodReport{Variables: variables, Configuration: pod.Annotations[v1beta2.AnnotationCurrentConfiguration]}
}
